"""Convert the result of a page's script from BiDi's description to plain JSON.

https://w3c.github.io/webdriver-bidi/#type-script-RemoteValue — Firefox describes a value instead of
serializing it in the page, so a page that replaced ``JSON`` cannot falsify results. Values that
JSON does not have become what ``JSON.stringify`` makes of them.
"""

from __future__ import annotations

from typing import Any

from roost.errors import BadRequest

MAX_DEPTH = 100
"""Values nested deeper than this are refused. ``SERIALIZATION`` makes Firefox stop there, so that
no page can send a frame that is nested too deep to parse. Chromium stops by itself."""
SERIALIZATION = {"maxObjectDepth": MAX_DEPTH + 1, "maxDomDepth": 0}
_NOTHING = frozenset({"undefined", "null", "symbol"})
_NUMBERS = {"NaN": None, "Infinity": None, "-Infinity": None, "-0": 0}


def plain(value: dict[str, Any]) -> Any:
    """Return the plain value. Raises ``BadRequest`` if it contains itself or is too deep."""
    return _Reading().read(value)


class _Reading:
    """Reads one value. Firefox describes a repeated object once and then refers to its id."""

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
        return {}  # a node, a function, a Map: JSON.stringify makes an empty object of it

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
        """Return the earlier value that a description without a value refers to. Such a description
        can also mean that Firefox stopped at the depth limit."""
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
