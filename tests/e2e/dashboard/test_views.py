"""Every view of the dashboard, in both browsers, in both colour schemes and as wide as a phone."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, ViewportSize, expect

from roost import ops
from roost.testing.waits import started
from tests.e2e.dashboard.conftest import dashboard
from tests.e2e.dashboard.test_wall import tile
from tests.support.house import House
from tests.support.local_web import Web
from tests.support.persons_browser import Engine, Scheme

AXE = Path(sys.prefix) / "node-clients" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="axe-core is not here: tools/prepare_tests.py"
)
PHONE = ViewportSize(width=360, height=740)
DESK = ViewportSize(width=1280, height=800)
OUTSIDE = """() => [...document.querySelectorAll("button, input, select, textarea")]
    .filter(one => one.checkVisibility({opacityProperty: true}))
    .filter(one => !one.closest(".scrolls, #large-tabs"))  // they scroll by themselves
    .filter(one => !document.querySelector("dialog[open]") || one.closest("dialog"))
    .map(one => [one.outerHTML.slice(0, 120), one.getBoundingClientRect()])
    .filter(([, box]) => box.left < 0 || box.right > innerWidth + 1 || box.width < 1)
    .map(([markup]) => markup)"""
"""Finds controls that cannot be reached without scrolling sideways."""


async def violations(page: Page) -> list[Any]:
    found = await page.evaluate("() => axe.run()")
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]
    ]


async def views(page: Page) -> AsyncIterator[str]:
    """Go through all views of the dashboard, beside an agent that asks. Yields each one's name."""
    await expect(page.locator("#inbox li")).to_be_visible()
    yield "wall"
    bar = page.locator(".bar nav")
    await bar.get_by_role("button", name="Feed").click()
    await expect(page.locator("#activity li").first).to_be_visible()
    yield "feed"
    await bar.get_by_role("button", name="House").click()
    await expect(page.locator(".findings li").first).to_be_visible()
    await expect(page.locator("#house table").first).to_be_visible()
    yield "house"
    await bar.get_by_role("button", name="Wall").click()
    await tile(page, "Asker").locator(".look").click()
    large = page.locator("#large")
    await expect(large.locator("canvas.drawn")).to_be_visible()
    yield "large view"
    for panel, shown in (("Console", ".said"), ("Network", ".said"), ("Policy", ".choices")):
        await large.get_by_role("button", name=panel).click()
        await expect(large.locator(shown).first).to_be_visible()
        yield panel
    await large.get_by_role("button", name="Show the agent").click()
    await expect(page.locator("#draw-tools")).to_be_visible()
    yield "drawing"
    await large.get_by_role("button", name="Stop drawing").click()
    await large.get_by_role("button", name="Take over").click()
    await expect(page.locator("#large-controls")).to_be_visible()
    yield "taken over"
    await large.get_by_role("button", name="Give back to the agent").click()
    await expect(page.locator("#large-controls")).to_be_hidden()


@needs_axe
@pytest.mark.timeout(120)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("engine", ["chromium", "firefox"])
async def test_everybody_can_use_every_view_at_a_desk_and_on_a_phone(
    hurt_house: House, web: Web, engine: Engine, scheme: Scheme
) -> None:
    async with hurt_house.agent(web, name="Asker") as agent, hurt_house.agent(web) as other:
        await agent.show("<script>console.log('said')</script>", title="A long title " * 10)
        await other.show("<p>Hello", title="Another page")
        asking = await started(agent.call(ops.Handoff(reason="Look at this")))
        async with dashboard(hurt_house, engine, scheme=scheme, script=AXE, viewport=PHONE) as page:
            media = f"(prefers-color-scheme: {scheme})"
            assert await page.evaluate("media => matchMedia(media).matches", media)
            async for view in views(page):
                assert await violations(page) == [], view
                assert await page.evaluate(OUTSIDE) == [], view
                width = await page.evaluate("() => document.documentElement.scrollWidth")
                assert width <= PHONE["width"], view
            await page.get_by_role("button", name="Close the large view").click()
            await page.set_viewport_size(DESK)
            if scheme == "light":  # colours change no layout
                async for view in views(page):
                    assert await page.evaluate(OUTSIDE) == [], view
                    width = await page.evaluate("() => document.documentElement.scrollWidth")
                    assert width <= DESK["width"], view
        asking.cancel()
