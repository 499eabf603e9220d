"""``roost cdp-url`` (roost.frontends.cli.cdp): the address of one session's endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.frontends.cli.cli_house import Cli
from tests.frontends.cli.cli_house import cli as cli_house

pytestmark = pytest.mark.slow


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    with cli_house(tmp_path / "home") as cli:
        cli.says("up")
        yield cli


def test_the_address_is_the_sessions_and_stays_the_same(cli: Cli) -> None:
    cli.says("session", "open", "--session", "shop")
    url = cli.says("cdp-url", "--session", "shop").strip()
    told = cli.answers("cdp-url", "--session", "shop", "--json")
    assert told == {"session": "shop", "url": url, "webSocket": url.replace("http", "ws", 1)}
    assert cli.says("cdp-url", "--session", "shop", "--ws").strip() == told["webSocket"]
    http = cli.answers("status", "--json")["broker"]["http"]
    assert url.startswith(f"{http}/cdp/")
    # The fake browser has no such protocol, and says so to whoever has the right token.
    assert httpx.get(f"{url}/json/version").json()["code"] == "UNSUPPORTED"
    wrong = httpx.get(f"{url[:-4]}beef/json/version")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "UNAUTHORIZED")
    assert url.rpartition("/")[2] not in cli.says("log")


def test_a_session_that_is_not_there_has_none(cli: Cli) -> None:
    done = cli.run("cdp-url", "--session", "nobody")
    assert done.returncode == 1
    assert done.stderr.startswith("SESSION_GONE")
