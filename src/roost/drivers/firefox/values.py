"""Convert the result of a page's script from BiDi's description to plain JSON.

https://w3c.github.io/webdriver-bidi/#type-script-RemoteValue — Firefox describes a value instead of
serializing it in the page, so a page that replaced ``JSON`` cannot falsify results. Values that
JSON does not have become what ``JSON.stringify`` makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from roost.drivers.connection import too_much
from roost.errors import BadRequest
from roost.wire.weight import ANSWER_BYTES, ANSWER_VALUES

MAX_DEPTH = 100
"""Deeper values are refused. Firefox stops describing them there (``SERIALIZATION``), so that no
page can send a frame that is nested too deep to be read. Chromium stops by itself. Firefox counts
the levels of descriptions and not those behind references, so the reader counts again."""
SERIALIZATION = {"maxObjectDepth": MAX_DEPTH + 1, "maxDomDepth": 0}
_NOTHING = frozenset({"undefined", "null", "symbol"})
_NUMBERS = {"NaN": None, "Infinity": None, "-Infinity": None, "-0": 0}


def plain(value: dict[str, Any]) -> Any:
    """Return the value that Firefox describes.

    Raises ``BadRequest`` for a value that contains itself or is nested too deep, and ``TooLarge``
    for a value with too many values or bytes.
    """
    return _Reader().read(value)


@dataclass(frozen=True, slots=True)
class _ReadValue:
    """A list or object that was read, and what each reference to it adds to the written answer.

    ``height``: how many levels it has, itself included.
    """

    value: Any
    values: int
    size: int
    height: int


class _Reader:
    """Reads one value and counts what its JSON will hold.

    Firefox describes an object once and then refers to the description, so a frame of 2 KB can
    stand for 2^24 values. The references become one Python object, but JSON has no references:
    whoever encodes the answer writes the object out each time. The reader therefore counts a
    reference as much as what it refers to, and refuses before anybody writes.
    """

    def __init__(self) -> None:
        self._known: dict[str, _ReadValue | None] = {}
        """By their ids, what references may refer to; None while it is still being read."""
        self._depth = 0
        self._deepest = 0
        self._values = 0
        self._size = 0

    def read(self, value: dict[str, Any]) -> Any:
        kind = value["type"]
        if kind in ("array", "nodelist", "htmlcollection", "object"):
            return self._collection(kind, value)
        self._add(values=1)
        if kind in _NOTHING:
            return None
        if kind == "number":
            number = value["value"]
            return _NUMBERS[number] if isinstance(number, str) else number
        if kind == "boolean":
            return value["value"]
        if kind in ("string", "date", "bigint"):
            self._add(size=_bytes(value["value"]))
            return value["value"]
        return {}  # a node, a function, a Map: JSON.stringify sees nothing in it

    def _collection(self, kind: str, value: dict[str, Any]) -> Any:
        again = value.get("internalId")
        if "value" not in value:
            return self._known_value(again)
        if again is not None:
            self._known[again] = None
        values, size, deepest = self._values, self._size, self._deepest
        self._add(values=1)
        self._depth += 1
        self._deepest = self._depth
        read: Any
        if kind == "object":
            read = {self._key(key): self.read(item) for key, item in value["value"]}
        else:
            read = [self.read(item) for item in value["value"]]
        self._depth -= 1
        if again is not None:
            self._known[again] = _ReadValue(
                read, self._values - values, self._size - size, self._deepest - self._depth
            )
        self._deepest = max(self._deepest, deepest)
        return read

    def _key(self, key: Any) -> str:
        text = str(key)
        self._add(size=_bytes(text))
        return text

    def _known_value(self, again: str | None) -> Any:
        """Return what a description without a value stands for: an object that was described
        before. Firefox also leaves the value out of an object that is too deep."""
        known = self._known.get(again or "")
        if known is None:
            if again in self._known:
                raise BadRequest("The value contains itself.", field="function")
            if self._depth > MAX_DEPTH:
                raise _too_deep()
            self._add(values=1)
            return None
        if self._depth + known.height > MAX_DEPTH + 1:
            raise _too_deep()
        self._deepest = max(self._deepest, self._depth + known.height)
        self._add(values=known.values, size=known.size)
        return known.value

    def _add(self, *, values: int = 0, size: int = 0) -> None:
        self._values += values
        self._size += size
        if self._values > ANSWER_VALUES:
            raise too_much(f"it has more than {ANSWER_VALUES} values")
        if self._size > ANSWER_BYTES:
            raise too_much(f"it has more than {ANSWER_BYTES} bytes")


def _bytes(text: str) -> int:
    # Pages send half surrogate pairs, which UTF-8 has no room for.
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _too_deep() -> BadRequest:
    return BadRequest(
        f"The value is nested more than {MAX_DEPTH} levels deep.",
        hint="Return flatter data, or a text made of it.",
        field="function",
    )
