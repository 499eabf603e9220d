"""The browser's end of a relay: a pipe, a WebSocket or native messaging.

A wire cuts incoming bytes into frames and buffers what it cannot send yet. It never blocks.
"""

from __future__ import annotations

from typing import Protocol

CHUNK = 256 * 1024


class HungUp(Exception):
    """The browser has closed its end of the wire."""


class Wire(Protocol):
    """Frames to and from one browser. ``read`` and ``flush`` raise ``HungUp``."""

    inlet: int
    """The descriptor to read from."""
    outlet: int
    """The descriptor to write to; may be the same as ``inlet``."""

    @property
    def has_unsent(self) -> bool: ...

    def send(self, frame: bytes) -> None: ...

    def flush(self) -> None: ...

    def read(self) -> list[bytes]: ...

    def close(self) -> None:
        """Close the connection. Chromium ends by itself then."""


class SendBuffer:
    """A buffer of bytes that the other side has not accepted yet."""

    def __init__(self) -> None:
        self._held = bytearray()

    def __bool__(self) -> bool:
        return bool(self._held)

    def __iadd__(self, data: bytes) -> SendBuffer:
        self._held += data
        return self

    def next(self) -> bytes:
        return bytes(self._held[:CHUNK])

    def sent(self, count: int) -> None:
        del self._held[:count]
