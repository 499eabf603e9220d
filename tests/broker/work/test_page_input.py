from __future__ import annotations

from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.drivers.base import Capabilities
from roost.errors import BadRequest, Unsupported
from roost.testing.house import fake_house
from roost.testing.waits import error_of


@pytest.mark.parametrize("operation", [ops.MouseDown(x=1), ops.MouseUp(y=1)])
async def test_a_point_has_two_numbers(
    operation: ops.MouseDown | ops.MouseUp, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        await agent.call(ops.Navigate(url="http://site.test/"))
        error = await error_of(BadRequest, agent.call(operation))
        assert error.details["field"] == "x"


async def test_keys_to_hold_are_checked_before_the_browser_is_asked(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        await agent.call(ops.Navigate(url="http://site.test/"))
        for keys in ("Nonsense", "a+b+c+d+e+f+g+h+i"):
            error = await error_of(BadRequest, agent.call(ops.HoldKey(key=keys, seconds=1)))
            assert error.details["field"] == "key"


async def test_a_browser_that_holds_no_buttons_says_so_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        monkeypatch.setattr(house.driver, "capabilities", Capabilities(holds_buttons=False))
        agent = house.admit().api
        await agent.call(ops.Navigate(url="http://site.test/"))
        error = await error_of(Unsupported, agent.call(ops.MouseDown(x=1, y=1)))
        assert "person's own browser" in error.message
        assert "Drag" in error.hint
