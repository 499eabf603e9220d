from __future__ import annotations

import base64
from pathlib import Path

from roost.api import operations as ops
from roost.broker.work.pictures import REGION_PIXELS
from roost.drivers.pictures import picture_size
from roost.errors import TooLarge
from roost.testing.house import fake_house
from roost.testing.waits import error_of


async def test_a_region_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        await agent.call(ops.Navigate(url="http://site.test/"))
        view = await agent.call(ops.ZoomScreenshot(x=10, y=20, width=30, height=40, scale=3))
        assert view.data is not None
        assert picture_size(base64.b64decode(view.data)) == (90, 120)
        assert (view.left, view.top) == (10, 20)


async def test_a_region_that_is_too_large_is_refused_before_the_browser_is_asked(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        await agent.call(ops.Navigate(url="http://site.test/"))
        house.driver.asked = 0
        side = int((REGION_PIXELS / 4) ** 0.5) + 1
        await error_of(TooLarge, agent.call(ops.ZoomScreenshot(x=0, y=0, width=side, height=side)))
        assert house.driver.asked == 0
