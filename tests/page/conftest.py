"""Fixtures that run the bundle in a real Chromium, in an isolated world, as the driver does.

Playwright only controls the browser here. The pages come from this folder, from python3-doc and
from the miniwob package.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from roost.local.browsers import find_browser
from tests.page.page_world import HERE, SOURCE, PageWorld, Stage
from tests.support.node_tools import with_node_tools

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Only a failing test waits this long.
DEADLINE_MS = 30_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


# Per module, because no other test in this process can run an event loop while Playwright runs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = find_browser("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.server.shutdown()
    stage.server.server_close()


@pytest.fixture
def page(tab: Any, stage: Stage) -> Iterator[PageWorld]:
    """Return the one tab that all tests share. Every test shows its own document in it."""
    world = PageWorld(tab, stage)
    yield world
    world.cdp.detach()


@pytest.fixture(scope="session")
def sources() -> Path:
    """Return the folder of the bundle's sources, with the build tools installed."""
    return with_node_tools(SOURCE)
