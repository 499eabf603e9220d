"""The tab or the download that an action in a page leads to."""

from __future__ import annotations

import asyncio
import contextlib

SOON_SECONDS = 1.0
"""After input, wait this long for a tab or download that the page asked for."""


class SideEffects:
    """Waits for the tab and the download that one tab's page asked for."""

    def __init__(self) -> None:
        self._tab: asyncio.Future[None] | None = None
        self._download: asyncio.Future[None] | None = None
        self.may_download = False
        """The last navigation committed no document and no download began yet; one may follow."""

    @property
    def asks_for_tab(self) -> bool:
        """A click asked for a new tab, which has not opened yet."""
        return self._tab is not None and not self._tab.done()

    def tab_wanted(self) -> None:
        self._tab = asyncio.get_running_loop().create_future()

    def tab_came(self) -> None:
        if self._tab is not None and not self._tab.done():
            self._tab.set_result(None)

    async def tab(self) -> None:
        """Wait up to ``SOON_SECONDS`` for the tab that a click asked for, if there is one."""
        if self._tab is not None:
            await _soon(self._tab)
            self._tab = None

    def download_began(self) -> None:
        self.may_download = False
        waiting, self._download = self._download, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def download(self) -> None:
        """Wait up to ``SOON_SECONDS`` for the next download."""
        if self._download is None:
            self._download = asyncio.get_running_loop().create_future()
        await _soon(self._download)


async def _soon(future: asyncio.Future[None]) -> None:
    """Wait up to ``SOON_SECONDS``. Something that comes later is reported as usual."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SOON_SECONDS):
            await asyncio.shield(future)
