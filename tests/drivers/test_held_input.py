from __future__ import annotations

from roost.drivers.base import Input, KeyDown, KeyUp, MouseDown, MouseMove, MouseUp, Wheel
from roost.drivers.held_input import HeldInput


def after(*inputs: Input) -> HeldInput:
    held = HeldInput()
    for one in inputs:
        held.follow(one)
    return held


def test_the_mouse_is_where_the_last_move_or_wheel_put_it() -> None:
    assert HeldInput().point == (0, 0)
    assert after(MouseMove(3, 4)).point == (3, 4)
    assert after(MouseMove(3, 4), Wheel(5, 6, 0, 10)).point == (5, 6)


def test_everything_that_is_down_is_lifted_the_newest_first() -> None:
    held = after(
        KeyDown("Shift"), MouseDown("left"), MouseDown("right"), KeyDown("a"), MouseDown("left")
    )
    assert held.lifts() == [MouseUp("right"), MouseUp("left"), KeyUp("a"), KeyUp("Shift")]
    for one in held.lifts():
        held.follow(one)
    assert held.lifts() == []


def test_a_release_of_what_is_not_held_is_left_out() -> None:
    held = after(MouseDown("left"))
    given: list[Input] = [MouseUp("right"), KeyUp("a"), KeyDown("a"), KeyUp("a"), MouseUp("left")]
    assert held.effective(given) == given[2:]
    assert held.effective([MouseUp("left"), MouseUp("left")]) == [MouseUp("left")]
    assert held.buttons == ["left"], "asking changes nothing"


def test_a_drag_is_a_move_with_a_held_button() -> None:
    assert after(MouseDown(), MouseUp(), MouseMove(1, 1)).dragged_to is None
    assert after(MouseMove(1, 1), MouseDown()).dragged_to is None
    assert after(MouseDown(), MouseMove(1, 1), MouseMove(2, 2)).dragged_to == (2, 2)
    assert after(MouseDown(), MouseMove(1, 1), MouseUp()).dragged_to is None
