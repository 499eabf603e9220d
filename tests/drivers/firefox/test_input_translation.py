"""TabInput as the ticks of BiDi's actions."""

from __future__ import annotations

from roost.drivers.base import (
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Wheel,
)
from roost.drivers.firefox.default_actions import is_press
from roost.drivers.firefox.input_translation import (
    Gesture,
    drag_end,
    first_point,
    parts,
    releases,
    sources,
    strokes,
)

PAUSE = {"type": "pause"}


def test_input_sources_take_turns() -> None:
    held: list[Gesture] = [
        KeyDown("Shift"),
        MouseMove(10, 20),
        MouseDown(),
        MouseUp(),
        KeyUp("Shift"),
    ]
    key, pointer = sources(held)
    assert (key["type"], pointer["type"]) == ("key", "pointer")
    assert key["actions"] == [
        {"type": "keyDown", "value": "\ue008"}, PAUSE, PAUSE, PAUSE,
        {"type": "keyUp", "value": "\ue008"},
    ]  # fmt: skip
    assert pointer["actions"][1:4] == [
        {"type": "pointerMove", "x": 10, "y": 20},
        {"type": "pointerDown", "button": 0},
        {"type": "pointerUp", "button": 0},
    ]
    assert pointer["actions"][0] == pointer["actions"][4] == PAUSE


def test_points_are_given_in_their_frame() -> None:
    (pointer,) = sources([MouseMove(110, 220)], offset=(100, 200))
    assert pointer["actions"] == [{"type": "pointerMove", "x": 10, "y": 20}]
    (wheel,) = sources([Wheel(110, 220, 0, 99.6)], offset=(100, 200))
    assert wheel["actions"] == [{"type": "scroll", "x": 10, "y": 20, "deltaX": 0, "deltaY": 100}]


def test_gestures_between_texts_stay_together() -> None:
    found = parts([KeyDown("a"), KeyUp("a"), InsertText("x"), KeyDown("Enter"), KeyUp("Enter")])
    assert found == [
        [KeyDown("a"), KeyUp("a")],
        InsertText("x"),
        [KeyDown("Enter"), KeyUp("Enter")],
    ]


def test_a_new_line_in_an_editor_sends_no_message() -> None:
    assert strokes("a\r\n") == [
        KeyDown("a"), KeyUp("a"),
        KeyDown("Shift"), KeyDown("Enter"), KeyUp("Enter"), KeyUp("Shift"),
    ]  # fmt: skip


def test_the_first_point_is_where_the_pointer_moves_first() -> None:
    assert first_point([KeyDown("Shift"), MouseMove(1, 2), MouseMove(3, 4)]) == (1, 2)
    assert first_point([KeyDown("a")]) is None


def test_a_mouse_press_is_neither_typing_nor_a_command() -> None:
    assert is_press([KeyDown("Enter"), KeyUp("Enter")])
    assert is_press([KeyDown("Shift"), KeyDown(" "), KeyUp(" "), KeyUp("Shift")])
    assert not is_press([KeyDown("Control"), KeyDown("Enter"), KeyUp("Enter"), KeyUp("Control")])
    assert not is_press([KeyDown("a"), KeyUp("a")])
    assert not is_press(strokes("two words"))


def test_a_drag_ends_where_the_button_is_let_go() -> None:
    drag: list[Gesture] = [
        MouseMove(0, 0),
        MouseDown(),
        MouseMove(5, 5),
        MouseMove(9, 9),
        MouseUp(),
    ]
    assert drag_end(drag) == (9, 9)
    assert drag_end([MouseMove(0, 0), MouseDown(), MouseUp(), MouseMove(5, 5)]) is None


def test_a_page_can_count_the_releases_of_clicks_and_of_nothing_else() -> None:
    at, press, let_go = MouseMove(0, 0), MouseDown(), MouseUp()
    assert releases([at, press, let_go]) == 1
    assert releases([at, press, let_go, press, let_go]) == 2
    assert releases([at]) == 0, "nothing is let go"
    assert releases([at, press, MouseMove(9, 9), let_go]) == 0, "a drag has more to it"
    assert releases([KeyDown("Shift"), at, press, let_go, KeyUp("Shift")]) == 0, "a key comes last"
    assert releases([at, press, let_go, InsertText("a")]) == 0
