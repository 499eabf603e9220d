"""The dashboard shows sessions in a person's own browser live, and none of the person's tabs."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.dashboard.conftest import dashboard
from tests.e2e.dashboard.test_wall import GREEN, RED, tile, until_corner
from tests.e2e.extension.own_house import OwnHouse

pytestmark = pytest.mark.timeout(120)


async def test_a_session_in_the_persons_own_browser_is_shown_live(mine: OwnHouse) -> None:
    async with mine.agent("Painter") as agent:
        await agent.show(RED, title="Paint")
        async with dashboard(mine.house, "chromium") as page:
            shown = tile(page, "Painter")
            await until_corner(shown.locator("canvas"), 255, 0)
            await agent.run(GREEN)
            await until_corner(shown.locator("canvas"), 0, 128)
            assert await page.get_by_text("Mine 0").count() == 0
            await shown.locator(".look").click()
            await until_corner(page.locator("#large-picture canvas"), 0, 128)
            await expect(page.locator("#large-tabs")).not_to_contain_text("Mine")
    assert await mine.active() == mine.pages[0]
