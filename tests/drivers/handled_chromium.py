"""A Chromium that tests may do things to."""

from __future__ import annotations

import asyncio
from typing import Any

from link_door import LinkDoor

from roost.drivers.base import Report, Started
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.keeping import Keeping
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.vocabulary import TabHandle

OPTIONS = ChromiumOptions(headless=True)


class HandledChromium(ChromiumDriver):
    """With a door for its keeper, and what a test may do to its browser."""

    def __init__(self, home: Home, away_seconds: float = 5.0) -> None:
        super().__init__(Keeping(home, "chromium", OPTIONS, away_seconds=away_seconds), bundle())
        self.door = LinkDoor(home)
        self.has_died = False
        self._taken_over = asyncio.Event()

    async def start(self, report: Report) -> Started:
        await self.door.open(self.linked)
        started = await super().start(report)
        self._taken_over.set()
        return started

    async def stop(self) -> None:
        if not self.has_died:
            await super().stop()
        await self.door.close()

    async def leave(self) -> None:
        """For whoever comes next: neither tabs nor jars are left, and the keeper holds the browser
        as between two brokers. If there is none any more, its keeper goes, too."""
        if not self.has_died and self._cdp is not None and not self._over.is_set():
            for tab in list(self._tabs):
                await self.close_tab(tab)
            for jar in list(self._jars):
                await self.remove_jar(jar)
            self.dies_like_its_broker()
        await self.stop()

    async def ended(self) -> None:
        await self._keeping.ended()

    def dies_like_its_broker(self) -> None:
        """No last words to the keeper: the connection just ends."""
        self.has_died = self._is_stopping = True
        self.door.cut()

    def _word(self, word: str, what: Any) -> None:
        super()._word(word, what)
        self.browser_pid = what["pid"] if word == "handover" else self.browser_pid
        self._taken_over.set()

    async def open_page(self, jar: str) -> None:
        await self._taken_over.wait()
        params = {"url": "about:blank", "browserContextId": jar}
        await self._browser().call("Target.createTarget", params)

    async def crash(self, tab: TabHandle) -> None:
        self._browser().tell("Page.crash", None, self._tabs[tab].session)

    browser_pid = 0
