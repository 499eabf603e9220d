"""Which commands of a client use the clipboard, or would let a page read it.

A browser has one clipboard for all sessions. So the broker carries out copy, cut and paste on the
session's own clipboard, and no page gets the permission to read the browser's.
"""

from __future__ import annotations

from typing import Any

from roost.frontends.cdp.messages import FAILED, Json, Refusal

_CONTROL, _META, _SHIFT = 2, 4, 8
_LETTERS = {"c": "copy", "x": "cut", "v": "paste"}
_CODES = {67: "c", 88: "x", 86: "v", 45: "insert", 46: "delete"}
"""Windows virtual key codes, by which Chromium recognizes keys."""
_COMMANDS = {"paste": "paste", "yank": "paste", "cut": "cut", "copy": "copy"}
"""Words in names of editing commands. The names differ by case and by further words."""
NO_READING = (
    "Pages cannot read the clipboard through Roost, because all sessions share the browser's: paste"
    " by keys instead, which uses the session's own."
)


def use_of(params: Json) -> str | None:
    """Return what a key event does: copy, cut, paste or None."""
    if params.get("type") not in ("keyDown", "rawKeyDown"):
        return None
    found = {_by_key(name, params.get("modifiers")) for name in _names(params)}
    commands = params.get("commands")
    for command in commands if isinstance(commands, list) else ():
        found |= {use for word, use in _COMMANDS.items() if word in str(command).lower()}
    return next((use for use in ("paste", "cut", "copy") if use in found), None)


def _names(params: Json) -> set[str]:
    """Return all names by which Chromium may recognize the key."""
    names = {str(params.get("key", "")).lower()}
    names.add(str(params.get("code", "")).lower().removeprefix("key"))
    for field in ("windowsVirtualKeyCode", "nativeVirtualKeyCode"):
        names.add(_CODES.get(_number(params.get(field)), ""))
    return names


def _by_key(name: str, modifiers: Any) -> str | None:
    held = _number(modifiers)
    if held & (_CONTROL | _META):
        return "copy" if name == "insert" else _LETTERS.get(name)
    if held & _SHIFT:
        return {"insert": "paste", "delete": "cut"}.get(name)
    return None


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) < 2**31 else 0


def check_grant(params: Json) -> None:
    """Raise ``Refusal`` if the command lets pages read the clipboard."""
    granted = params.get("permissions")
    if isinstance(granted, list) and "clipboardReadWrite" in granted:
        raise Refusal(FAILED, NO_READING)
    named = params.get("permission")
    if isinstance(named, dict) and params.get("setting") != "denied":
        name = str(named.get("name", ""))
        if name == "clipboard-read" or (
            "clipboard" in name and named.get("allowWithoutSanitization")
        ):
            raise Refusal(FAILED, NO_READING)
