"""The browser's end of a relay, whatever it is made of.

A wire cuts what arrives into frames and keeps what cannot be sent yet. It never waits.
"""

from __future__ import annotations

from typing import Protocol

CHUNK = 256 * 1024


class HungUp(Exception):
    """The browser is not at the other end any more."""


class Wire(Protocol):
    """Frames to and from one browser. ``read`` and ``flush`` raise ``HungUp``."""

    inlet: int
    """The descriptor frames come from; ``outlet``, where they go, may be the same."""
    outlet: int

    @property
    def has_unsent(self) -> bool: ...

    def send(self, frame: bytes) -> None: ...

    def flush(self) -> None: ...

    def read(self) -> list[bytes]: ...

    def close(self) -> None:
        """Hang up, which for a browser is a reason to end."""


class Unsent:
    """Bytes that wait until the other side takes them."""

    def __init__(self) -> None:
        self._held = bytearray()

    def __bool__(self) -> bool:
        return bool(self._held)

    def __iadd__(self, data: bytes) -> Unsent:
        self._held += data
        return self

    def next(self) -> bytes:
        return bytes(self._held[:CHUNK])

    def sent(self, count: int) -> None:
        del self._held[:count]
