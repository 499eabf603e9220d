"""``Resolver`` looks up the IP addresses of a name without blocking other sessions.

The system's resolver blocks its thread until the name servers answer. So each look-up has its own
daemon thread, with a limit per proxy. Names that never resolve use up that limit, and not the
thread pool that the broker shares.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

from roost.core.addresses import known_addresses

LOOK_UPS = 8
LOOK_UP_SECONDS = 10.0


class Resolver:
    """Look up names for one filtering proxy."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(LOOK_UPS)

    async def addresses(self, host: str) -> Sequence[str]:
        """Return the host's IP addresses, at least one. Raises ``OSError`` if there is none and
        ``TimeoutError`` if none is found in time."""
        known = known_addresses(host)
        if known:
            return known
        async with asyncio.timeout(LOOK_UP_SECONDS):
            await self._places.acquire()
            return await self._started(host)

    def _started(self, host: str) -> asyncio.Future[Sequence[str]]:
        """Start a look-up in a new thread and return the future of its result."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Sequence[str]] = loop.create_future()

        def ended(addresses: Sequence[str], error: Exception | None) -> None:
            # Release only now: after its caller timed out, a look-up still occupies its thread.
            self._places.release()
            if found.done():
                return
            if error is None:
                found.set_result(addresses)
            else:
                found.set_exception(error)

        def look_up() -> None:
            addresses: Sequence[str] = ()
            error: Exception | None = None
            try:
                rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                addresses = list(dict.fromkeys(str(row[4][0]) for row in rows))
            except (OSError, UnicodeError) as problem:
                error = OSError(str(problem))
            with suppress(RuntimeError):  # the broker has ended meanwhile
                loop.call_soon_threadsafe(ended, addresses, error)

        try:
            threading.Thread(target=look_up, name=f"look up {host}", daemon=True).start()
        except RuntimeError as problem:  # the system has no thread left
            ended((), OSError(str(problem)))
        return found
