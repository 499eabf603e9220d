"""Key names as agents write them: ``Enter``, ``a``, ``Control+Shift+ArrowLeft``.

Names are the DOM's ``KeyboardEvent.key`` values, in any case, and a few common other spellings.
https://www.w3.org/TR/uievents-key/
"""

from __future__ import annotations

from roost.errors import BadRequest

MODIFIERS = ("Alt", "Control", "Meta", "Shift")
NAMED = frozenset(
    {
        *MODIFIERS,
        "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp",
        "Backspace", "CapsLock", "ContextMenu", "Delete", "End", "Enter", "Escape", "Home",
        "Insert", "PageDown", "PageUp", "Pause", "PrintScreen", "ScrollLock", "Tab",
        *(f"F{number}" for number in range(1, 13)),
    }
)  # fmt: skip
HELD_KEYS = 8
_SPELLINGS = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "option": "Alt",
    "esc": "Escape",
    "return": "Enter",
    "del": "Delete",
    "space": " ",
    "spacebar": " ",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "up": "ArrowUp",
    "pgdn": "PageDown",
    "pgup": "PageUp",
    "plus": "+",
    **{name.lower(): name for name in NAMED},
}


def parse_keys(text: str) -> tuple[list[str], str]:
    """Return the modifiers to hold and the key to press.

    Raises ``BadRequest`` for an unknown key.
    """
    *held, key = _split(text)
    modifiers = [_name(name) for name in held]
    wrong = next((name for name in modifiers if name not in MODIFIERS), None)
    if wrong is not None:
        raise BadRequest(
            f"key: {wrong} cannot be held.",
            hint=f"Hold {', '.join(MODIFIERS)}: for example Control+a.",
            field="key",
        )
    return modifiers, _name(key)


def parse_held_keys(text: str) -> list[str]:
    """Return the keys to hold together, such as ``Shift+ArrowRight`` or ``w+d``.

    Raises ``BadRequest`` for an unknown key, and for more than ``HELD_KEYS``.
    """
    names = list(dict.fromkeys(_name(name) for name in _split(text)))
    if len(names) > HELD_KEYS:
        raise BadRequest(f"key: {HELD_KEYS} keys are the most to hold at once.", field="key")
    return names


def _split(text: str) -> list[str]:
    if text.endswith("+"):  # the plus key itself, alone or after modifiers
        return [*filter(None, text[:-1].split("+")), "+"]
    return text.split("+")


def _name(text: str) -> str:
    if len(text) == 1:
        return text
    name = _SPELLINGS.get(text.lower())
    if name is None:
        raise BadRequest(
            f"key: there is no key {text[:40]!r}.",
            hint="Use one character, or a name like Enter, Tab, ArrowDown, F5, Control+a.",
            field="key",
        )
    return name
