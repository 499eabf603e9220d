"""The link of a native host, which the person's browser starts and ends as it likes.

There is nothing to start from here. A host that waits for its next try is told that a broker is
there; and while one profile of a browser is linked, another is refused: links are never stolen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from roost.drivers.link import Link
from roost.errors import BrowserLost, Unsupported
from roost.local.home import Home
from roost.local.hosts import running_hosts

LINK_SECONDS = 5.0


class Hosting:
    """Of one kind of browser: ``browser`` is its id in the broker, as its hosts say it."""

    def __init__(self, home: Home, browser: str) -> None:
        self._browser = browser
        self._kind = browser.removeprefix("mine-")
        self._home = home
        self._link: Link | None = None
        self._news = asyncio.Event()

    def linked(self, link: Link) -> None:
        if self._link is not None:
            raise Unsupported(
                f"Another {self._kind.title()} of yours, or another profile of it, is linked.",
                hint="Quit that one, or switch the extension off in it; this one takes over then.",
            )
        self._link = link
        self._news.set()

    async def link(self) -> Link:
        """The link there is, or the one of a host that only has to be told that we are here."""
        if self._link is None and self._wake():
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LINK_SECONDS):
                    await self._news.wait()
        if self._link is None:
            raise BrowserLost(
                f"Your own {self._kind.title()} is not linked to Roost.",
                hint="Start it; its extension comes with "
                f"`roost install extension --browser {self._kind}`.",
            )
        return self._link

    def lost(self, link: Link) -> bool:
        """It is over; whether it was the one that counts."""
        if self._link is not link:
            return False
        self._link = None
        return True

    def _wake(self) -> bool:
        """Whether any host of this kind runs."""
        running = running_hosts(self._home, self._browser)
        for host in running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(host.pid, signal.SIGUSR1)
        return bool(running)
