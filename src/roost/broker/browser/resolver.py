"""``Resolver``: the IP addresses of a name, without holding up anybody else.

The system's resolver blocks its thread for as long as the name's servers like. So each look-up has
a daemon thread of its own, a few of them at a time: names that never resolve take the places of
their own session, not the threads the broker works with.
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
    """Looks up names for one filtering proxy."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(LOOK_UPS)

    async def addresses(self, host: str) -> Sequence[str]:
        """The host's IP addresses, at least one. ``OSError`` or ``TimeoutError`` if there is none
        or none can be found in time."""
        known = known_addresses(host)
        if known:
            return known
        async with asyncio.timeout(LOOK_UP_SECONDS):
            await self._places.acquire()
            return await self._started(host)

    def _started(self, host: str) -> asyncio.Future[Sequence[str]]:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Sequence[str]] = loop.create_future()

        def ended(addresses: Sequence[str], error: Exception | None) -> None:
            # Only now: a look-up whose caller has given up still has its thread.
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
