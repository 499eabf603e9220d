"""Puppeteer's own behaviour, on a Chromium of its own and on a session of a shared one: alike.

The checks are in ``puppeteer_checks.mjs``. Each side plays them all in one process, so that a
check costs what it does and not a start of Node.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cdp.node_clients import NODE, PUPPETEER, needs_node_clients
from tests.support.house import House

SCRIPT = Path(__file__).parent / "puppeteer_checks.mjs"
LOOP_CHECKS = [
    *(f"a dialog: {one}" for one in ("alert accepted", "confirm accepted", "confirm dismissed")),
    *(f"a dialog: {one}" for one in ("prompt accepted", "beforeunload accepted")),
    *(f"an intercepted request is {one}" for one in ("answered", "aborted", "changed")),
]
CHECKS = [
    *(
        name.replace("\\'", "'")
        for name in re.findall(r"(?m)^(?:plain|check|apart)\('(.+?)', async", SCRIPT.read_text())
    ),
    *LOOP_CHECKS,
]
SESSION = "puppeteer-parity"
SECONDS = 600.0
DECIDED: dict[str, str] = {}
"""Checks whose answers differ, and why that is right."""

pytestmark = [pytest.mark.slow, needs_node_clients, pytest.mark.timeout(SECONDS)]


@pytest.fixture(scope="module")
def answers(bare: str, house: House, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What each side saw: directly, and through Roost, to which Puppeteer is not even told the
    session's address. Its process was started for the session (``ROOST_SESSION``)."""
    house.cdp_url(SESSION)
    http = house.status().broker.http
    folder = house.home.files / SESSION / "work"
    folder.mkdir(parents=True, exist_ok=True)
    sides = [
        (bare, tmp_path_factory.mktemp("direct"), {}),
        (http, folder, {"ROOST_SESSION": SESSION}),
    ]

    def played(side: tuple[str, Path, dict[str, str]]) -> Any:
        url, files, more = side
        how = json.dumps({"browserURL": url, "defaultViewport": None})
        done = subprocess.run(
            [NODE, str(SCRIPT), str(PUPPETEER), how, str(files)],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, **more},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with ThreadPoolExecutor(len(sides)) as threads:
        return list(threads.map(played, sides))


@pytest.mark.parametrize("name", CHECKS)
def test_a_session_is_a_browser_to_puppeteer(answers: list[Any], name: str) -> None:
    direct, through_roost = (side[name] for side in answers)

    assert "failed" not in direct, direct
    assert (through_roost == direct) != (name in DECIDED), (direct, through_roost)


def test_every_check_was_played_and_is_named_here(answers: list[Any]) -> None:
    assert [sorted(side) for side in answers] == [sorted(CHECKS)] * 2
