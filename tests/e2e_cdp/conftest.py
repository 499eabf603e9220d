"""One Roost and one bare Chromium for each of these files; each test has a session of its own.

Not for all of them: pages that tests leave behind would draw until the last test of the run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cdp_house import CdpHouse, cdp_house
from local_web import Web, local_web
from parity import SESSION
from playwright.sync_api import Browser, Playwright, sync_playwright

from roost.testing.bare_chromium import bare_chromium

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
def browsers(playwright: Playwright, bare: str, house: CdpHouse) -> Iterator[list[Browser]]:
    """A Chromium of one's own, and a session of a shared one."""
    found = [playwright.chromium.connect_over_cdp(url) for url in (bare, house.url(SESSION))]
    yield found
    for browser in found:
        browser.close()


@pytest.fixture
def folder(house: CdpHouse) -> Path:
    """Where the session may read and write files."""
    found = house.files(SESSION) / "work"
    found.mkdir(parents=True, exist_ok=True)
    return found
