"""The same questions to Playwright on a bare Chromium and to Roost have the same outcomes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import async_playwright

from tests.e2e.pages import parity_device, parity_elements, parity_input, parity_network
from tests.e2e.pages.parity_stage import Stage
from tests.support.bare_chromium import bare_chromium
from tests.support.house import House
from tests.support.local_web import Web

pytestmark = pytest.mark.timeout(150)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chromium that Roost does not know."""
    with bare_chromium(tmp_path_factory.mktemp("bare")) as address:
        yield address


@asynccontextmanager
async def staged(
    houses: Callable[..., House], bare: str, web: Web, *, checks: int
) -> AsyncIterator[Stage]:
    """Yield the stage. At the end, compare the outcomes of at least so many checks by name."""
    house = houses("chromium")
    async with async_playwright() as playwright, house.agent(web) as agent:
        browser = await playwright.chromium.connect_over_cdp(bare)
        try:
            page = await browser.new_page()
            page.set_default_timeout(10_000)
            stage = Stage(browser, page, agent, web, house.work)
            yield stage
        finally:
            await browser.close()
    differing = [
        f"{name}: Playwright {theirs}, Roost {stage.ours[name]}"
        for name, theirs in stage.theirs.items()
        if stage.ours[name] != theirs
    ]
    assert not differing, "\n".join(differing)
    assert len(stage.theirs) >= checks


async def test_locators_readings_and_waits_are_playwrights(
    houses: Callable[..., House], bare: str, web: Web
) -> None:
    async with staged(houses, bare, web, checks=70) as stage:
        await parity_elements.compare(stage)


async def test_input_is_playwrights(houses: Callable[..., House], bare: str, web: Web) -> None:
    async with staged(houses, bare, web, checks=30) as stage:
        await parity_input.compare(stage)


async def test_the_network_is_playwrights(
    houses: Callable[..., House], bare: str, web: Web
) -> None:
    async with staged(houses, bare, web, checks=60) as stage:
        await parity_network.compare(stage)


async def test_devices_permissions_and_storage_are_playwrights(
    houses: Callable[..., House], bare: str, web: Web
) -> None:
    async with staged(houses, bare, web, checks=30) as stage:
        await parity_device.compare(stage)
