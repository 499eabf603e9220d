"""Translate mouse, wheel and key input into CDP ``Input`` commands, with US keyboard codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roost.drivers.base import (
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    TouchDown,
    TouchMove,
    TouchUp,
    Wheel,
)
from roost.drivers.connection import Json
from roost.drivers.held_input import HeldInput

_MODIFIER_BITS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_BUTTON_BITS = {"left": 1, "right": 2, "middle": 4}

# key: (code, Windows virtual key code). Letters and digits are computed.
_NAMED = {
    "Alt": ("AltLeft", 18), "Control": ("ControlLeft", 17), "Meta": ("MetaLeft", 91),
    "Shift": ("ShiftLeft", 16), "CapsLock": ("CapsLock", 20),
    "ArrowDown": ("ArrowDown", 40), "ArrowLeft": ("ArrowLeft", 37),
    "ArrowRight": ("ArrowRight", 39), "ArrowUp": ("ArrowUp", 38),
    "Backspace": ("Backspace", 8), "Delete": ("Delete", 46), "End": ("End", 35),
    "Enter": ("Enter", 13), "Escape": ("Escape", 27), "Home": ("Home", 36),
    "Insert": ("Insert", 45), "PageDown": ("PageDown", 34), "PageUp": ("PageUp", 33),
    "Pause": ("Pause", 19), "PrintScreen": ("PrintScreen", 44), "ScrollLock": ("ScrollLock", 145),
    "ContextMenu": ("ContextMenu", 93), "Tab": ("Tab", 9), " ": ("Space", 32),
    **{f"F{n}": (f"F{n}", 111 + n) for n in range(1, 13)},
}  # fmt: skip
_PUNCTUATION = {
    ";": ("Semicolon", 186), ":": ("Semicolon", 186), "=": ("Equal", 187), "+": ("Equal", 187),
    ",": ("Comma", 188), "<": ("Comma", 188), "-": ("Minus", 189), "_": ("Minus", 189),
    ".": ("Period", 190), ">": ("Period", 190), "/": ("Slash", 191), "?": ("Slash", 191),
    "`": ("Backquote", 192), "~": ("Backquote", 192), "[": ("BracketLeft", 219),
    "{": ("BracketLeft", 219), "\\": ("Backslash", 220), "|": ("Backslash", 220),
    "]": ("BracketRight", 221), "}": ("BracketRight", 221), "'": ("Quote", 222),
    '"': ("Quote", 222),
}  # fmt: skip
_SHIFTED = dict(zip("`1234567890-=[]\\;',./", '~!@#$%^&*()_+{}|:"<>?', strict=True))
_SHIFTED_DIGITS = dict(zip(")!@#$%^&*(", "0123456789", strict=True))
# Editing commands that text fields need besides the key on macOS. Other systems ignore them.
_EDITING = {"a": "selectAll", "c": "copy", "v": "paste", "x": "cut", "z": "undo"}


def commands(inputs: Iterable[Input], held: HeldInput) -> Iterator[tuple[str, Json]]:
    """Yield a CDP command for each input, with the modifiers and buttons held at that moment.

    held: what earlier input holds. It follows the inputs.
    """
    for one in inputs:
        held.follow(one)
        modifiers = sum(_MODIFIER_BITS.get(key, 0) for key in held.keys)
        buttons = sum(_BUTTON_BITS[button] for button in held.buttons)
        x, y = held.point
        match one:
            case MouseMove():
                # A move must name the held button, or sliders and drags do not follow.
                yield _mouse("mouseMoved", x, y, modifiers, buttons, _name_of(buttons))
            case MouseDown():
                yield _mouse("mousePressed", x, y, modifiers, buttons, one.button, one.clicks)
            case MouseUp():
                yield _mouse("mouseReleased", x, y, modifiers, buttons, one.button, one.clicks)
            case Wheel():
                wheel = {"deltaX": one.dx, "deltaY": one.dy}
                method, params = _mouse("mouseWheel", x, y, modifiers, buttons)
                yield method, params | wheel
            case KeyDown():
                yield _key(_as_held(one.key, modifiers), modifiers, down=True)
            case KeyUp():
                yield _key(_as_held(one.key, modifiers), modifiers, down=False)
            case InsertText():
                yield "Input.insertText", {"text": one.text}
            case TouchDown():
                yield _touch("touchStart", modifiers, (one.x, one.y))
            case TouchMove():
                yield _touch("touchMove", modifiers, (one.x, one.y))
            case TouchUp():
                yield _touch("touchEnd", modifiers)


def _touch(kind: str, held: int, *points: tuple[float, float]) -> tuple[str, Json]:
    at = [{"x": x, "y": y} for x, y in points]
    return "Input.dispatchTouchEvent", {"type": kind, "touchPoints": at, "modifiers": held}


def _name_of(buttons: int) -> str:
    return next((name for name, bit in _BUTTON_BITS.items() if buttons & bit), "none")


def _mouse(
    kind: str, x: float, y: float, held: int, buttons: int, button: str = "none", clicks: int = 0
) -> tuple[str, Json]:
    return "Input.dispatchMouseEvent", {
        "type": kind,
        "x": x,
        "y": y,
        "modifiers": held,
        "buttons": buttons,
        "button": button,
        "clickCount": clicks,
    }


def _as_held(key: str, held: int) -> str:
    """Return the key that a US keyboard produces: with Shift, h gives H and 1 gives !."""
    if not held & _MODIFIER_BITS["Shift"]:
        return key
    return key.upper() if len(key) == 1 and key.isalpha() else _SHIFTED.get(key, key)


def _key(key: str, held: int, *, down: bool) -> tuple[str, Json]:
    code, number = _codes(key)
    params: Json = {
        "type": "keyUp",
        "key": key,
        "code": code,
        "windowsVirtualKeyCode": number,
        "modifiers": held,
    }
    if down:
        text = _text(key, held)
        params["type"] = "keyDown" if text else "rawKeyDown"
        if text:
            params["text"] = text
        if held & (_MODIFIER_BITS["Meta"] | _MODIFIER_BITS["Control"]) and key in _EDITING:
            params["commands"] = [_EDITING[key]]
    return "Input.dispatchKeyEvent", params


def _text(key: str, held: int) -> str:
    """Return the text that the key types. With Control, Alt or Meta it types none."""
    if held & ~_MODIFIER_BITS["Shift"]:
        return ""
    if key == "Enter":
        return "\r"
    return key if len(key) == 1 else ""


def _codes(key: str) -> tuple[str, int]:
    if key in _NAMED:
        return _NAMED[key]
    if key in _PUNCTUATION:
        return _PUNCTUATION[key]
    digit = _SHIFTED_DIGITS.get(key, key)
    if digit.isascii() and digit.isdigit():
        return f"Digit{digit}", ord(digit)
    if key.isascii() and key.isalpha():
        return f"Key{key.upper()}", ord(key.upper())
    return "", 0
