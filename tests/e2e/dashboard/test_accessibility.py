"""axe finds nothing wrong with the dashboard, in both colour schemes and at a phone's width."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from roost import ops
from roost.testing.waits import started
from tests.e2e.dashboard.conftest import dashboard
from tests.e2e.dashboard.test_wall import tile
from tests.support.house import House
from tests.support.local_web import Web

AXE = Path(sys.prefix) / "node-clients" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="axe-core is not here: tools/prepare_tests.py"
)


async def violations(page: Page) -> list[Any]:
    await page.add_script_tag(path=AXE)
    found = await page.evaluate("() => axe.run()")
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]
    ]


@needs_axe
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_dashboard_is_accessible(
    hurt_house: House, web: Web, scheme: str, width: int
) -> None:
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    async with hurt_house.agent(web, name="Asker") as agent, hurt_house.agent(web) as other:
        await agent.show("<p>Hello", title="A page")
        await other.show("<p>Hello", title="Another page")
        asking = await started(agent.call(ops.Handoff(reason="Look at this")))
        async with dashboard(hurt_house, bypass_csp=True, **look) as page:
            await expect(page.locator("#inbox li")).to_be_visible()
            assert await violations(page) == []
            await tile(page, "Asker").locator(".look").click()
            await page.get_by_role("button", name="Take over").click()
            await expect(page.locator("#large-controls")).to_be_visible()
            assert await violations(page) == []
        asking.cancel()
