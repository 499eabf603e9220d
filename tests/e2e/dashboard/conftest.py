"""Fixtures: a Roost with a real browser, and a person's browser that looks at its dashboard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from roost import ops
from tests.support.house import House
from tests.support.persons_browser import BROWSERS, Engine, Scheme


@pytest.fixture(params=["chromium", "firefox"])
def house(request: pytest.FixtureRequest, houses: Callable[..., House]) -> House:
    return houses(request.param)


@pytest.fixture
def hurt_house(houses: Callable[..., House]) -> House:
    """Return the house in which tests may kill processes."""
    return houses("chromium", is_hurt=True)


async def login(house: House) -> tuple[str, str]:
    """Return the dashboard's address and a code that opens it once."""
    async with house.operator() as operator:
        view = await operator.call(ops.DashboardOpen())
    return view.address, view.code


REFUSED = ("Firefox can’t establish a connection", "The page’s settings blocked")


@asynccontextmanager
async def dashboard(
    house: House,
    engine: Engine | None = None,
    *,
    scheme: Scheme = "light",
    script: Path | None = None,
    **context: Any,
) -> AsyncIterator[Page]:
    """Open the dashboard in a browser of the person's.

    engine: by default the other browser than the agents' one, so that the tests, which run with
        agents in both browsers, look at the dashboard in both.
    script: runs in the page before its own.
    context: Playwright's options.
    """
    address, code = await login(house)
    engine = engine or ("firefox" if house.browser == "chromium" else "chromium")
    async with BROWSERS.connect(engine, scheme) as browser:
        page = await browser.new_page(color_scheme=scheme, **context)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        if script is not None:
            await page.add_init_script(path=script)
        await page.goto(f"{address}#code={code}")
        yield page
        # Firefox also reports connections and frames that were refused, which are no script errors.
        assert [one for one in errors if not one.startswith(REFUSED)] == []
