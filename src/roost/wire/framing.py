"""Encode and decode frames in a byte stream: JSON lines, and messages of native messaging.

The caller feeds a decoder chunks as they arrive. ``feed`` returns an iterator of the completed
values::

    for value in lines.feed(chunk):
        handle(value)

``feed`` consumes the whole chunk before it returns. If good frames precede a bad one, the iterator
yields the good ones and then raises. Use ``for``: ``list()`` would lose the good ones. A failed
decoder stays failed, because nothing after an unreadable frame can be trusted. Every later ``feed``
raises the same error.

* ``TooLarge``: a frame above the limit. Raised as soon as that is certain; nothing of it is kept.
  Also raised for a frame with more values than allowed (``wire.weight`` says why).
* ``BadRequest``: not UTF-8, not JSON, nested too deep, or a number outside JSON's range.

All decoders are linear in the bytes fed, however the chunks are cut.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final, TypeVar

from roost.errors import BadRequest, RoostError, TooLarge
from roost.wire.weight import is_light

T = TypeVar("T")

LEVELS: Final = 500
"""Maximum depth of lists and objects in a frame."""
_LENGTH: Final = struct.Struct("=I")  # native messaging uses native byte order


class Splitter:
    """Cuts a stream at a delimiter.

    Relays use it, because they need frames but not their content.
    """

    def __init__(self, delimiter: bytes, limit: int) -> None:
        self._delimiter = delimiter
        self._limit = limit
        # A list of chunks would need 80 MiB for ten million one-byte chunks.
        self._tail = bytearray()
        self._failure: TooLarge | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Return the frames that ``data`` completes, without their delimiter.

        A frame may be empty.
        """
        if self._failure is not None:
            raise self._failure
        pieces = data.split(self._delimiter)
        if self._tail and len(pieces) > 1:
            # Join only when the frame is complete, so that held bytes are never scanned again.
            self._tail += pieces[0]
            pieces[0] = bytes(self._tail)
            self._tail.clear()
        tail = pieces.pop()
        for index, piece in enumerate(pieces):
            if len(piece) > self._limit:
                return self._fail(pieces[:index])
        if len(self._tail) + len(tail) > self._limit:
            return self._fail(pieces)
        self._tail += tail
        return iter(pieces)

    def _fail(self, whole: list[bytes]) -> Iterator[bytes]:
        self._tail = bytearray()
        self._failure = _too_large(self._limit)
        return _yield_then_raise(whole, self._failure)


class NativeSplitter:
    """Cuts a stream of native messages: four bytes of length, then that many bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._failure: TooLarge | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Return the messages that ``data`` completes, without their length."""
        if self._failure is not None:
            raise self._failure
        held = self._held
        held += data
        frames: list[bytes] = []
        start = 0
        while len(held) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(held, start)
            if length > self._limit:
                self._held = bytearray()
                self._failure = _too_large(self._limit)
                return _yield_then_raise(frames, self._failure)
            end = start + _LENGTH.size + length
            if len(held) < end:
                break
            frames.append(bytes(held[start + _LENGTH.size : end]))
            start = end
        del held[:start]
        return iter(frames)


class JsonLines:
    """One JSON value per line, ended by LF or CRLF. Agents and links use it with the broker.

    Blank lines are skipped.

    ``values``: maximum number of values in a frame. None where a slow frame delays nobody else.
    """

    def __init__(self, limit: int, values: int | None = None) -> None:
        self._splitter = Splitter(b"\n", limit)
        self._values = values
        self._failure: RoostError | None = None

    def feed(self, data: bytes) -> Iterator[Any]:
        """Return the JSON values that ``data`` completes.

        The module docstring says how it fails.
        """
        if self._failure is not None:
            raise self._failure
        values: list[Any] = []
        try:
            for frame in self._splitter.feed(data):
                _check_light(frame, self._values)
                try:
                    values.append(_shallow(str(frame, "utf-8")))
                except (ValueError, RecursionError) as problem:
                    if frame.strip():
                        raise _not_json(problem) from None
        except RoostError as failure:
            self._failure = failure
            return _yield_then_raise(values, failure)
        return iter(values)


def decode(frame: bytes | str, values: int | None = None) -> Any:
    """Decode one frame that something else has cut already.

    Raises ``BadRequest``, or ``TooLarge`` for more than ``values`` values.
    """
    try:
        if isinstance(frame, str):
            _check_light(frame.encode(errors="replace"), values)
            return _shallow(frame)
        _check_light(frame, values)
        return _shallow(str(frame, "utf-8"))
    except (ValueError, RecursionError) as problem:
        raise _not_json(problem) from None


def encode(value: Any) -> bytes:
    """Encode ``value`` as JSON. Raises ``ValueError`` for NaN and infinities."""
    # JSON escapes every control character, so no encoded value holds a raw LF or NUL.
    try:
        return _compact(value).encode()
    except UnicodeEncodeError:  # pages send half surrogate pairs, which only an escape can express
        return _ascii(value).encode()


def encode_line(value: Any) -> bytes:
    """Encode ``value`` as one JSON line."""
    return encode(value) + b"\n"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):  # 1e999 reads as infinity, which JSON cannot express
        raise ValueError("a number is too large")
    return number


# json.loads and json.dumps build a new coder per call when given any option.
_decode = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite).decode
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def _shallow(text: str) -> Any:
    """Decode a frame. Raise ``RecursionError`` if it is nested deeper than ``LEVELS``.

    Each version of Python has another limit, the newest only that of the stack. Whatever reads the
    value later recurses in Python and would fail there.
    """
    value = _decode(text)
    if text.count("[") + text.count("{") > LEVELS:
        level = [value]
        for _ in range(LEVELS):
            level = [
                child
                for parent in level
                for child in (parent.values() if isinstance(parent, dict) else parent)
                if isinstance(child, dict | list)
            ]
            if not level:
                return value
        raise RecursionError
    return value


def _check_light(frame: bytes, values: int | None) -> None:
    if values is not None and not is_light(frame, values):
        raise TooLarge(f"A frame holds more than {values} values.", limitValues=values)


def _yield_then_raise(frames: list[T], failure: RoostError) -> Iterator[T]:
    yield from frames
    raise failure


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"A frame is larger than the {limit} bytes allowed here.", limitBytes=limit)


def _not_json(problem: Exception) -> BadRequest:
    match problem:
        case RecursionError():
            why = "it is nested too deep"
        case UnicodeDecodeError():
            why = f"it is not UTF-8 ({problem.reason} at byte {problem.start})"
        case json.JSONDecodeError():
            why = f"{problem.msg} at character {problem.pos}"
        case _:
            why = "a number in it is out of range"
    # Report only place and reason: the frame's content may be a secret.
    return BadRequest(f"A frame is not JSON: {why}.", hint="Send UTF-8 JSON, one value a frame.")
