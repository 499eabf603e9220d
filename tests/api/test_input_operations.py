from __future__ import annotations

import pytest
from pydantic import ValidationError

from roost.api.input_operations import HOLD_SECONDS, HoldKey, MouseClickXy, MouseDragXy, Point
from roost.api.operations import OPERATIONS, Audience


def test_the_deadline_of_a_held_key_moves_by_its_time() -> None:
    assert HoldKey(key="w", seconds=12).waits() == 12


@pytest.mark.parametrize("seconds", [0, -1, HOLD_SECONDS + 0.1])
def test_a_key_is_held_for_a_bounded_time(seconds: float) -> None:
    with pytest.raises(ValidationError):
        HoldKey(key="w", seconds=seconds)


@pytest.mark.parametrize("count", [0, 4])
def test_one_to_three_clicks_are_one_gesture(count: int) -> None:
    with pytest.raises(ValidationError):
        MouseClickXy(x=1, y=1, click_count=count)


def test_the_way_of_a_drag_has_a_bounded_number_of_points() -> None:
    way = [Point(x=1, y=1)] * 101
    with pytest.raises(ValidationError):
        MouseDragXy(start_x=0, start_y=0, end_x=1, end_y=1, via=way)


def test_no_operation_on_points_is_in_the_core_tool_list() -> None:
    by_points = [name for name in OPERATIONS if name.startswith("browser_mouse_")]
    more = ["browser_hold_key", "browser_press_sequentially", "browser_triple_click"]
    for name in [*by_points, *more, "browser_zoom_screenshot"]:
        assert OPERATIONS[name].audience is Audience.ALL
