"""The link of a native host, which the person's browser starts and ends.

The broker cannot start a host. It can only wake a running one (SIGUSR1), which then connects at
once and not at its next retry. While one profile of a browser is linked, the broker refuses the
hosts of other profiles, so that no link is ever taken away.
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


class HostLink:
    """The link to the person's browser of one kind.

    browser: the browser's id in the broker and in its hosts' hello, such as ``mine-firefox``.
    """

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
        """Return the link; without one, wake the running hosts and wait for one to connect.

        Raises ``BrowserLost`` if no host runs or none connects within ``LINK_SECONDS``.
        """
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
        """Drop a link that has ended. Return whether it was the current one."""
        if self._link is not link:
            return False
        self._link = None
        return True

    def _wake(self) -> bool:
        """Signal all running hosts of this browser. Return whether there are any."""
        running = running_hosts(self._home, self._browser)
        for host in running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(host.pid, signal.SIGUSR1)
        return bool(running)
