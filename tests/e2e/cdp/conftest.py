"""Fixtures for DevTools clients: the house that page tests use, and a bare Chromium per file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright, sync_playwright

from roost import ops
from tests.e2e.cdp.parity import SESSION, Stage
from tests.support.bare_chromium import bare_chromium
from tests.support.house import House
from tests.support.local_web import Web


@pytest.fixture(scope="module")
def house(houses: Callable[..., House]) -> Iterator[House]:
    """Return a house with a Chromium, in which each test has its own session.

    At the end of a file, its sessions are disposed: their pages would be drawn until the last test.
    """
    house = houses("chromium")
    before = {session.id for session in house.status().sessions}
    yield house
    for session in house.status().sessions:
        if session.id not in before:
            house.call(ops.SessionDispose(session=session.id))


@pytest.fixture(scope="module")
def bare() -> Iterator[str]:
    """Return the CDP address of a Chromium without Roost."""
    with tempfile.TemporaryDirectory(prefix="roost-bare-", ignore_cleanup_errors=True) as folder:
        with bare_chromium(Path(folder)) as url:
            yield url


# Per module, because no other test in this process can run an event loop while Playwright runs.
@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def stages(playwright: Playwright, bare: str, house: House, web: Web) -> Iterator[list[Stage]]:
    """Return two browsers to compare: a bare Chromium, and a session of a shared Chromium."""
    folder = house.home.files / SESSION / "work"  # where the session may read and write files
    urls = (bare, house.cdp_url(SESSION))
    folder.mkdir(parents=True, exist_ok=True)
    found = [Stage(playwright.chromium.connect_over_cdp(url), web, folder) for url in urls]
    yield found
    for stage in found:
        stage.browser.close()
