"""Frames in a byte stream: JSON lines, NUL-separated JSON, native messaging.

Every decoder is fed chunks as they arrive and gives back an iterator of what they completed::

    for value in lines.feed(chunk):
        handle(value)

The chunk is taken in whole before ``feed`` returns. If it held good frames and then a bad one, the
iterator yields the good ones and raises at the bad one; so go through it with ``for`` (``list()``
would lose the good ones). A decoder that has failed stays failed: what follows a frame we could not
read cannot be trusted, and every later ``feed`` raises the same error.

* ``TooLarge``: a frame above the limit. Raised as soon as that is certain; nothing is kept of it.
  Also a frame with more values than the decoder was told to read (``wire.weight`` says why).
* ``BadRequest``: not UTF-8, not JSON, nested too deep, or a number JSON has no room for.

All of it is linear in the bytes fed, however they are cut.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final, Protocol, TypeVar

from roost.errors import BadRequest, RoostError, TooLarge
from roost.wire.weight import is_light

T = TypeVar("T")

_LENGTH: Final = struct.Struct("=I")  # native byte order, as native messaging has it


class Splitter:
    """Cuts a stream at a delimiter. For relays, which need frames but not what they say."""

    def __init__(self, delimiter: bytes, limit: int) -> None:
        self._delimiter = delimiter
        self._limit = limit
        # A bytearray, not a list of chunks: ten million one-byte chunks must not cost 80 MiB.
        self._tail = bytearray()
        self._failure: TooLarge | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The frames ``data`` completes, without their delimiter. Empty frames are frames."""
        if self._failure is not None:
            raise self._failure
        pieces = data.split(self._delimiter)
        if self._tail and len(pieces) > 1:
            # Joined only once the frame is whole, so what is held is never scanned again.
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
        """The messages ``data`` completes, without their length."""
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


class _Cuts(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]: ...


class _JsonFrames:
    """Decodes what a splitter cut. Blank frames are skipped.

    ``values``: how many values a frame may hold; None where nobody else waits for the reader.
    """

    def __init__(self, splitter: _Cuts, values: int | None = None) -> None:
        self._splitter = splitter
        self._values = values
        self._failure: RoostError | None = None

    def feed(self, data: bytes) -> Iterator[Any]:
        """The JSON values ``data`` completes; see the module for how failures are told."""
        if self._failure is not None:
            raise self._failure
        values: list[Any] = []
        try:
            for frame in self._splitter.feed(data):
                _check_light(frame, self._values)
                try:
                    values.append(_decode(str(frame, "utf-8")))
                except (ValueError, RecursionError) as problem:
                    if frame.strip():
                        raise _not_json(problem) from None
        except RoostError as failure:
            self._failure = failure
            return _yield_then_raise(values, failure)
        return iter(values)


class JsonLines(_JsonFrames):
    """One JSON value a line, ended by LF or CRLF. Agents and links talk to the broker in it."""

    def __init__(self, limit: int, values: int | None = None) -> None:
        super().__init__(Splitter(b"\n", limit), values)


class NulFrames(_JsonFrames):
    """JSON values ended by NUL: Chromium's ``--remote-debugging-pipe``."""

    def __init__(self, limit: int) -> None:
        super().__init__(Splitter(b"\0", limit))


class NativeMessages(_JsonFrames):
    """JSON values behind their length: what browsers say to native-messaging hosts."""

    def __init__(self, limit: int) -> None:
        super().__init__(NativeSplitter(limit))


def decode(frame: bytes | str, values: int | None = None) -> Any:
    """One JSON value, where something else has cut the frame already. Raises ``BadRequest``, or
    ``TooLarge`` for more than that many values."""
    try:
        if isinstance(frame, str):
            _check_light(frame.encode(errors="replace"), values)
            return _decode(frame)
        _check_light(frame, values)
        return _decode(str(frame, "utf-8"))
    except (ValueError, RecursionError) as problem:
        raise _not_json(problem) from None


def encode(value: Any) -> bytes:
    """``value`` as JSON. NaN and infinities are the caller's mistake: ``ValueError``."""
    # JSON escapes every control character, so no encoded value holds a raw LF or NUL.
    try:
        return _compact(value).encode()
    except UnicodeEncodeError:  # half a surrogate pair: pages send them; only an escape can say it
        return _ascii(value).encode()


def encode_line(value: Any) -> bytes:
    """``value`` as one JSON line."""
    return encode(value) + b"\n"


def encode_nul(value: Any) -> bytes:
    """``value`` as one NUL-ended frame; a NUL inside a string is escaped and cannot split it."""
    return encode(value) + b"\0"


def encode_native(value: Any, limit: int) -> bytes:
    """``value`` as one native message. A body above ``limit`` is ``TooLarge``: browsers drop us."""
    body = encode(value)
    if len(body) > limit:
        raise _too_large(limit)
    return _LENGTH.pack(len(body)) + body


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):  # 1e999 reads as infinity, which could never be sent on
        raise ValueError("a number is too large")
    return number


# Made once: json.loads and json.dumps build a new one per call when given any option.
_decode = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite).decode
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


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
    # Only where and why: what the frame says may be a secret.
    return BadRequest(f"A frame is not JSON: {why}.", hint="Send UTF-8 JSON, one value a frame.")
