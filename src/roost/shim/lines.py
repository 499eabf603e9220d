"""Splits a client's input into lines, and skips lines that are too long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_END_BYTES = 256
# The SDKs put a request's id at the very start (Python, Go) or at the end (TypeScript).
_ID = rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,128}")\s*'
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb",")
_LAST = re.compile(rb",\s*" + _ID + rb'(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line above the limit: its length, and its first and last bytes."""

    size: int
    start: bytes
    end: bytes

    @property
    def id(self) -> bytes | None:
        """The request's id as JSON, if it is where the SDKs put it; else None."""
        found = _FIRST.match(self.start) or _LAST.search(self.end)
        return None if found is None else found[1]


class ClientLines:
    """Cuts a stream into lines of at most ``limit`` bytes.

    A longer line becomes a ``TooLong`` and is never held in memory as a whole. The lines after it
    are read normally.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._is_skipping = False
        self._skipped = 0
        self._start = b""

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield self._line()
        self._add(rest)

    def last(self) -> Iterator[bytes | TooLong]:
        """Yield the last line of the stream if it has no newline."""
        if self._held:
            yield self._line()

    def _add(self, piece: bytes) -> None:
        self._held += piece
        if not self._is_skipping and len(self._held) > self._limit:
            self._is_skipping, self._start = True, bytes(self._held[:_END_BYTES])
        if self._is_skipping:
            self._skipped += max(0, len(self._held) - _END_BYTES)
            del self._held[:-_END_BYTES]

    def _line(self) -> bytes | TooLong:
        held = bytes(self._held)
        self._held.clear()
        if not self._is_skipping:
            return held
        line = TooLong(self._skipped + len(held), self._start, held)
        self._is_skipping, self._skipped = False, 0
        return line
