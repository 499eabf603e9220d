"""Fixtures: a Roost with a real browser, and a person's browser that looks at its dashboard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright

from roost import ops
from roost.local.browsers import find_browser
from tests.support.house import House


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


@asynccontextmanager
async def dashboard(house: House, **context: Any) -> AsyncIterator[Page]:
    """Open the dashboard in a browser of the person's. ``context``: Playwright's options."""
    address, code = await login(house)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_browser("chromium")), args=["--no-sandbox"]
        )
        page = await browser.new_page(**context)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.goto(f"{address}#code={code}")
        yield page
        assert errors == []
        await browser.close()
