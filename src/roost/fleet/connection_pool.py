"""Connections to one server, kept for the next request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from roost.errors import Timeout
from roost.fleet.http_heads import Response
from roost.fleet.streams import Stream

IDLE_SECONDS = 10.0
"""An unused connection is closed after this long. Servers close theirs after 30 s."""
PLACES = 512
"""Requests to one server at a time. More than that answer TIMEOUT at once."""


class Lent:
    """A connection for one request. Call ``finished`` when it may serve another one."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.is_reusable = False

    def finished(self, response: Response) -> None:
        self.is_reusable = not response.is_last and response.status != 101


class ConnectionPool:
    """Lends connections and makes new ones when all are in use.

    connect: makes a connection, or raises ``OSError``.
    """

    def __init__(self, connect: Callable[[], Awaitable[Stream]]) -> None:
        self._connect = connect
        self._idle: list[tuple[float, Stream]] = []
        self._used: set[Stream] = set()

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Lent]:
        """Lend a connection. Raises ``OSError`` without one, ``Timeout`` if too many are used."""
        if len(self._used) >= PLACES:
            raise Timeout(
                f"{PLACES} calls to that machine are under way.",
                hint="Try again when some of them have been answered.",
                retry_after_ms=1000,
            )
        lent = Lent(self._kept() or await self._connect())
        self._used.add(lent.stream)
        try:
            yield lent
        finally:
            self._used.discard(lent.stream)
            if lent.is_reusable and not lent.stream.is_gone:
                self._idle.append((asyncio.get_running_loop().time(), lent.stream))
            else:
                lent.stream.abort()

    def cut(self) -> None:
        """End all connections at once, also those in use."""
        for stream in (*self._used, *(stream for _, stream in self._idle)):
            stream.abort()
        self._idle.clear()

    def _kept(self) -> Stream | None:
        """Return the connection that was used last and is still good. Close those too old."""
        oldest = asyncio.get_running_loop().time() - IDLE_SECONDS
        while self._idle and self._idle[0][0] < oldest:
            self._idle.pop(0)[1].close()
        while self._idle:
            _, stream = self._idle.pop()
            if not stream.is_gone:
                return stream
        return None
