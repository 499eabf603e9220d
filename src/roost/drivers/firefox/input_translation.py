"""Translate mouse, wheel and key input into the ticks of BiDi's ``input.performActions``.

https://w3c.github.io/webdriver-bidi/#command-input-performActions — every source has one action per
tick. To keep inputs in order, each input takes a tick of its own, in which other sources pause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roost.drivers.base import (
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Touch,
    TouchDown,
    TouchMove,
    TouchUp,
    Wheel,
)
from roost.drivers.connection import Json
from roost.drivers.held_input import HeldInput

Gesture = MouseMove | MouseDown | MouseUp | Wheel | KeyDown | KeyUp | Touch
_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_PAUSE: Json = {"type": "pause"}
_KINDS: dict[str, Json] = {"touch": {"type": "pointer", "parameters": {"pointerType": "touch"}}}
"""Sources whose BiDi type is not their name."""

# https://w3c.github.io/webdriver/#keyboard-actions: private characters stand for named keys.
_NAMED = {
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue006", "Shift": "\ue008",
    "Control": "\ue009", "Alt": "\ue00a", "Pause": "\ue00b", "Escape": "\ue00c",
    "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011",
    "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
    "Insert": "\ue016", "Delete": "\ue017", "Meta": "\ue03d",
    **{f"F{number}": chr(0xE030 + number) for number in range(1, 13)},
}  # fmt: skip
NO_SUCH_KEYS = frozenset({"CapsLock", "ContextMenu", "PrintScreen", "ScrollLock"})
"""Keys that BiDi cannot press."""


def parts(inputs: Iterable[Input]) -> list[InsertText | list[Gesture]]:
    """Split the inputs, in order, into inserted texts and lists of consecutive gestures."""
    found: list[InsertText | list[Gesture]] = []
    for one in inputs:
        if isinstance(one, InsertText):
            found.append(one)
        elif found and isinstance(found[-1], list):
            found[-1].append(one)
        else:
            found.append([one])
    return found


def strokes(text: str) -> list[Gesture]:
    """Return the keys that type the text. A new line is Shift+Enter, because Enter alone sends the
    message in chat editors."""
    keys: list[Gesture] = []
    for character in text.replace("\r\n", "\n"):
        if character == "\n":
            keys += [KeyDown("Shift"), KeyDown("Enter"), KeyUp("Enter"), KeyUp("Shift")]
        else:
            keys += [KeyDown(character), KeyUp(character)]
    return keys


def first_point(gestures: Iterable[Gesture]) -> tuple[float, float] | None:
    """Return the first point that the pointer or wheel uses, or None."""
    return next(
        ((one.x, one.y) for one in gestures if isinstance(one, MouseMove | Wheel | TouchDown)), None
    )


def releases(inputs: Sequence[Input]) -> int:
    """Return how often the input releases a mouse button if it is only clicks, else 0."""
    is_click = all(isinstance(one, MouseMove | MouseDown | MouseUp) for one in inputs)
    if not is_click or not isinstance(inputs[-1], MouseUp) or drag_end(inputs) is not None:
        return 0
    return sum(isinstance(one, MouseUp) for one in inputs)


def drag_end(inputs: Iterable[Input], held: HeldInput | None = None) -> tuple[float, float] | None:
    """Return the point where a drag ends, or None if no drag ends in this input.

    held: what earlier input holds, because a drag may begin in an earlier call.
    """
    is_down, point = (False, None) if held is None else (bool(held.buttons), held.dragged_to)
    for one in inputs:
        if isinstance(one, MouseDown):
            is_down, point = True, None
        elif isinstance(one, MouseMove) and is_down:
            point = one.x, one.y
        elif isinstance(one, MouseUp) and point is not None:
            return point
    return None


def stays_down(gestures: Iterable[Gesture]) -> bool:
    """Return True if a mouse button that these gestures press is still held after them."""
    held = HeldInput()
    for one in gestures:
        held.follow(one)
    return bool(held.buttons)


def sources(gestures: Iterable[Gesture], offset: tuple[float, float] = (0, 0)) -> list[Json]:
    """Return the gestures as BiDi input sources. ``offset``: position of the frame's viewport in
    the tab, subtracted from all points."""
    ticks: dict[str, list[Json]] = {"key": [], "pointer": [], "touch": [], "wheel": []}
    for gesture in gestures:
        source, steps = _actions(gesture, offset)
        for action in steps:
            for name, actions in ticks.items():
                actions.append(action if name == source else _PAUSE)
    return [
        {"type": name, "id": name, "actions": actions, **_KINDS.get(name, {})}
        for name, actions in ticks.items()
        if any(action is not _PAUSE for action in actions)
    ]


def _actions(gesture: Gesture, offset: tuple[float, float]) -> tuple[str, list[Json]]:
    """Return the source of the gesture, and its actions. A finger has to be placed and put down."""
    left, top = offset
    match gesture:
        case TouchDown():
            place: Json = {"type": "pointerMove", "x": gesture.x - left, "y": gesture.y - top}
            return "touch", [place, {"type": "pointerDown", "button": 0}]
        case TouchMove():
            move: Json = {"type": "pointerMove", "x": gesture.x - left, "y": gesture.y - top}
            return "touch", [move]
        case TouchUp():
            return "touch", [{"type": "pointerUp", "button": 0}]
        case _:
            source, action = _action(gesture, offset)
            return source, [action]


def _action(
    gesture: MouseMove | MouseDown | MouseUp | Wheel | KeyDown | KeyUp, offset: tuple[float, float]
) -> tuple[str, Json]:
    left, top = offset
    match gesture:
        case MouseMove():
            return "pointer", {"type": "pointerMove", "x": gesture.x - left, "y": gesture.y - top}
        case MouseDown():
            return "pointer", {"type": "pointerDown", "button": _BUTTONS[gesture.button]}
        case MouseUp():
            return "pointer", {"type": "pointerUp", "button": _BUTTONS[gesture.button]}
        case Wheel():
            at = {"x": round(gesture.x - left), "y": round(gesture.y - top)}
            by = {"deltaX": round(gesture.dx), "deltaY": round(gesture.dy)}
            return "wheel", {"type": "scroll", **at, **by}
        case KeyDown():
            return "key", {"type": "keyDown", "value": _NAMED.get(gesture.key, gesture.key)}
        case KeyUp():
            return "key", {"type": "keyUp", "value": _NAMED.get(gesture.key, gesture.key)}
