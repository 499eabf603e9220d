"""Key names as models write them for vendors' toolsets: ``ctrl+a``, ``Page_Down``, ``Return``.

Roost itself takes the DOM's names in any case, and most other spellings.
"""

from __future__ import annotations

from typing import Literal

from roost.errors import BadRequest

Modifier = Literal["Alt", "Control", "Meta", "Shift"]
_NAMES = {
    "page_down": "PageDown", "page_up": "PageUp", "next": "PageDown", "prior": "PageUp",
    "super": "Meta", "super_l": "Meta", "win": "Meta", "windows": "Meta",
    "control_l": "Control", "shift_l": "Shift", "alt_l": "Alt", "opt": "Alt",
    "arrow_down": "ArrowDown", "arrow_left": "ArrowLeft", "arrow_right": "ArrowRight",
    "arrow_up": "ArrowUp", "kp_enter": "Enter", "caps_lock": "CapsLock", "back_space": "Backspace",
}  # fmt: skip
_MODIFIERS: dict[str, Modifier] = {
    "alt": "Alt", "option": "Alt", "ctrl": "Control", "control": "Control", "cmd": "Meta",
    "command": "Meta", "meta": "Meta", "shift": "Shift",
}  # fmt: skip


def chord(text: str) -> str:
    """Return a key or a chord as Roost spells it."""
    if text.endswith("+"):  # the plus key itself, alone or after modifiers
        return "+".join([*(_name(part) for part in text[:-1].split("+") if part), "+"])
    return "+".join(_name(part) for part in text.split("+"))


def sequence(text: str) -> list[str]:
    """Return the chords of a sequence that is separated by spaces."""
    return [chord(part) for part in text.split()] or [" "]


def modifiers(text: str | None) -> list[Modifier]:
    """Return the modifiers that a chord such as ``ctrl+shift`` names.

    Raises ``BadRequest`` if one is not a modifier.
    """
    found: list[Modifier] = []
    for part in (text or "").replace(" ", "").split("+"):
        if not part:
            continue
        modifier = _MODIFIERS.get(_name(part).lower())
        if modifier is None:
            raise BadRequest(
                f"modifiers: {part[:40]!r} is not a modifier.", hint="Use ctrl, alt, shift or cmd."
            )
        found.append(modifier)
    return list(dict.fromkeys(found))


def _name(part: str) -> str:
    return _NAMES.get(part.lower(), part)
