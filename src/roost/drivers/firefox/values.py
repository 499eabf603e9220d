"""What a page's script gave back, as plain JSON.

https://w3c.github.io/webdriver-bidi/#type-script-RemoteValue — the browser describes a value rather
than sending it, so that pages which have spoilt ``JSON`` cannot spoil answers. What JSON has no
room for becomes what ``JSON.stringify`` makes of it.
"""

from __future__ import annotations

from typing import Any

from roost.errors import BadRequest

MAX_DEPTH = 100
"""Deeper values are refused. Firefox stops describing them there (``SERIALIZATION``), so that no
page can send a frame that is nested too deep to be read. Chromium stops by itself."""
SERIALIZATION = {"maxObjectDepth": MAX_DEPTH + 1, "maxDomDepth": 0}
_NOTHING = frozenset({"undefined", "null", "symbol"})
_NUMBERS = {"NaN": None, "Infinity": None, "-Infinity": None, "-0": 0}


def plain(value: dict[str, Any]) -> Any:
    """The value itself. ``BadRequest`` for one that contains itself."""
    return _Reading().read(value)


class _Reading:
    """One value; what occurs in it several times is described once and referred to after that."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._depth = 0

    def read(self, value: dict[str, Any]) -> Any:
        kind = value["type"]
        if kind in _NOTHING:
            return None
        if kind == "number":
            number = value["value"]
            return _NUMBERS[number] if isinstance(number, str) else number
        if kind in ("string", "boolean", "date", "bigint"):
            return value["value"]
        if kind in ("array", "nodelist", "htmlcollection", "object"):
            return self._collection(kind, value)
        return {}  # a node, a function, a Map: JSON.stringify sees nothing in it

    def _collection(self, kind: str, value: dict[str, Any]) -> Any:
        again = value.get("internalId")
        if "value" not in value:
            return self._known_value(again)
        if again is not None:
            self._known[again] = _UNFINISHED
        read: Any
        self._depth += 1
        if kind == "object":
            read = {str(key): self.read(item) for key, item in value["value"]}
        else:
            read = [self.read(item) for item in value["value"]]
        self._depth -= 1
        if again is not None:
            self._known[again] = read
        return read

    def _known_value(self, again: str | None) -> Any:
        """What a description without a value stands for: one that came before, or one too deep."""
        if again is None and self._depth > MAX_DEPTH:
            raise BadRequest(
                f"The value is nested more than {MAX_DEPTH} levels deep.",
                hint="Return flatter data, or a text made of it.",
                field="function",
            )
        known = self._known.get(again or "")
        if known is _UNFINISHED:
            raise BadRequest("The value contains itself.", field="function")
        return known


_UNFINISHED = object()
