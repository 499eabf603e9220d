"""The driver of a person's own Chromium, with a door for its host, and the person's hands."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from link_door import LinkDoor

from roost.drivers.base import Driver, Report, Started
from roost.drivers.extension import OwnChromiumDriver
from roost.drivers.extension.hosting import Hosting
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.testing.bench import GROUP
from roost.testing.own_browser import OwnChromium, screen
from roost.testing.site import served, unreachable
from roost.vocabulary import JarPolicy, TabHandle

START_SECONDS = 20.0
JOIN = """async (title) => {
    const one = async () => (await chrome.tabGroups.query({title}))[0];
    const tab = await chrome.tabs.create({active: false, url: "about:blank"});
    await chrome.tabs.group({groupId: (await one()).id, tabIds: [tab.id]});
}"""


class HandledOwn(OwnChromiumDriver):
    """``is_lone``: the browser was started for this driver, and ends with it."""

    def __init__(self, home: Home, browser: OwnChromium, *, is_lone: bool) -> None:
        super().__init__(Hosting(home, "mine-chromium"), bundle())
        self.home, self.browser, self.is_lone = home, browser, is_lone
        self.door = LinkDoor(home)
        self._came = asyncio.Event()

    async def start(self, report: Report) -> Started:
        self._came.clear()
        await self.door.open(self._link_came)
        if not self.browser.is_running:
            self.browser.start()
        elif self._hosting._link is None:
            self._hosting._wake()
        async with asyncio.timeout(START_SECONDS):
            await self._came.wait()
        return await super().start(report)

    async def stop(self) -> None:
        if self._cdp is not None and not self.is_lone:
            for tab in list(self._known):
                await self.close_tab(tab)
        await super().stop()
        await self.door.close()
        if self.is_lone:
            await asyncio.to_thread(self.browser.kill)

    def dies_like_its_broker(self) -> None:
        self.is_lone = False
        self._report = lambda event: None
        self.door.cut()

    def _link_came(self, link: object) -> None:
        self.linked(link)  # type: ignore[arg-type]
        self._came.set()


class OwnHarness:
    """``shared``: one browser for all checks; else each has one of its own."""

    def __init__(
        self, base: str, nowhere: str, display: str, folder: Path, *, shared: bool
    ) -> None:
        self.nowhere = nowhere
        self._base = base
        self._display = display
        self._folder = folder
        self._made: list[OwnChromium] = []
        self._shared = self._start() if shared else None

    def url(self, path: str) -> str:
        return self._base + path

    def _start(self) -> tuple[Home, OwnChromium]:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        home = Home(folder / "home")
        browser = OwnChromium(home, folder, self._display)
        self._made.append(browser)
        return home, browser

    def make(self) -> Driver:
        home, browser = self._shared or self._start()
        return HandledOwn(home, browser, is_lone=self._shared is None)

    async def another(self, driver: Driver) -> Driver:
        first = handled(driver)
        first.dies_like_its_broker()
        await first.door.close()
        return HandledOwn(first.home, first.browser, is_lone=True)

    async def open_page(self, driver: Driver, jar: str) -> None:
        """A person opens a tab in a group that is there."""
        own = handled(driver)
        if own._cdp is not None and not own._known:
            await own.open_tab(await own.make_jar(JarPolicy.SHARED), GROUP)
        await own.browser.person(JOIN, GROUP.title)

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        handled(driver)._link().tell("Page.crash", None, tab)

    async def kill(self, driver: Driver) -> None:
        await asyncio.to_thread(handled(driver).browser.kill)

    def clean_up(self) -> None:
        for browser in self._made:
            browser.kill()


def handled(driver: Driver) -> HandledOwn:
    assert isinstance(driver, HandledOwn)
    return driver


@contextmanager
def harness(*, shared: bool) -> Iterator[OwnHarness]:
    folder = Path(tempfile.mkdtemp(prefix="roost-own-"))
    with served() as base, unreachable() as nowhere, screen() as display:
        made = OwnHarness(base, nowhere, display, folder, shared=shared)
        try:
            yield made
        finally:
            made.clean_up()
            shutil.rmtree(folder, ignore_errors=True)
