"""One Roost and one bare Chromium for each of these files; each test has a session of its own.

Not for all of them: pages that tests leave behind would draw until the last test of the run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright, sync_playwright

from tests.e2e.cdp.cdp_house import CdpHouse, cdp_house
from tests.e2e.cdp.parity import SESSION, Stage
from tests.support.bare_chromium import bare_chromium
from tests.support.local_web import Web, local_web

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    with local_web() as web:
        yield web


@pytest.fixture(scope="module")
def house() -> Iterator[CdpHouse]:
    with cdp_house() as house:
        yield house


@pytest.fixture(scope="module")
def bare() -> Iterator[str]:
    """The address of a Chromium with nothing in between."""
    with tempfile.TemporaryDirectory(prefix="roost-bare-", ignore_cleanup_errors=True) as folder:
        with bare_chromium(Path(folder)) as url:
            yield url


# Per module: while Playwright runs, no other test in this process can have a loop of its own.
@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def stages(playwright: Playwright, bare: str, house: CdpHouse, web: Web) -> Iterator[list[Stage]]:
    """A Chromium of one's own, and a session of a shared one."""
    folder = house.files(SESSION) / "work"
    """Where the session may read and write files."""
    urls = (bare, house.url(SESSION))
    folder.mkdir(parents=True, exist_ok=True)
    found = [Stage(playwright.chromium.connect_over_cdp(url), web, folder) for url in urls]
    yield found
    for stage in found:
        stage.browser.close()
