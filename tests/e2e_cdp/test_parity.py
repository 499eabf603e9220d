"""Playwright's own behaviour, on a Chromium of its own and on a session of a shared one: alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import parity_browser
import parity_pages
import pytest
from cdp_house import CdpHouse
from local_web import Web
from parity import CHECKS, Place, comparable
from playwright.sync_api import Browser, Playwright

SESSION = "parity"
DECIDED = {
    "http_credentials_when_the_server_asks": "Roost's browser asks nobody for passwords, because"
    " its window could not be closed; a 401 is a page like any other. As a header they work.",
}
"""Checks whose answers differ, and why that is right."""


@pytest.fixture(scope="module")
def browsers(playwright: Playwright, bare: str, house: CdpHouse) -> Iterator[list[Browser]]:
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


def played(name: str, browser: Browser, web: Web, folder: Path) -> Any:
    context = browser.new_context()
    try:
        context.set_default_timeout(10_000)
        place = Place(browser, context, context.new_page(), web, folder)
        return comparable(CHECKS[name](place))
    finally:
        context.close()


@pytest.mark.parametrize("name", CHECKS)
def test_a_session_behaves_like_a_browser_of_its_own(
    browsers: list[Browser], web: Web, folder: Path, name: str
) -> None:
    direct, through_roost = (played(name, browser, web, folder) for browser in browsers)

    assert (through_roost == direct) != (name in DECIDED), (direct, through_roost)


def test_there_are_enough_checks_to_mean_something() -> None:
    assert len(CHECKS) >= 150
    assert {parity_pages.__name__, parity_browser.__name__} == {
        check.__module__ for check in CHECKS.values()
    }
