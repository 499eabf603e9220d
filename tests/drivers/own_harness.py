"""The drivers of a person's own browsers, with a door for their hosts, and the person's hands."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roost.drivers.base import Driver, Report, RunningBrowser
from roost.drivers.extension import OwnChromiumDriver, OwnFirefoxDriver
from roost.drivers.extension.base import OwnBrowser
from roost.drivers.extension.host_link import HostLink
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.testing.driver_groups import ONE, TWO
from roost.testing.driver_rig import GROUP, HREF
from roost.testing.site import served, unreachable
from roost.vocabulary import TabHandle
from tests.support.link_door import LinkDoor
from tests.support.own_browser import OwnChromium, screen
from tests.support.own_firefox import OwnFirefox

START_SECONDS = 40.0
JOIN = """async (title, jar) => {
    const api = globalThis.browser ?? chrome;
    const [{ id }] = await api.tabGroups.query({title});
    const store = jar === "default" ? {} : { cookieStoreId: jar };
    const tab = await api.tabs.create({active: false, url: "about:blank", ...store});
    await api.tabs.group({groupId: id, tabIds: [tab.id]});
}"""
OPEN = """async (title, url) => {
    const api = globalThis.browser ?? chrome;
    const [group] = title === null ? [] : await api.tabGroups.query({title});
    const tab = await api.tabs.create({active: false, url});
    if (group) await api.tabs.group({groupId: group.id, tabIds: [tab.id]});
}"""
MOVE = """async (id, title) => {
    const api = globalThis.browser ?? chrome;
    if (title === null) return void (await api.tabs.ungroup(id));
    const [group] = await api.tabGroups.query({title});
    await api.tabs.group({tabIds: [id], ...(group ? {groupId: group.id} : {})});
}"""
CLOSE = """async (title) => {
    const api = globalThis.browser ?? chrome;
    const [{ id }] = await api.tabGroups.query({title});
    await api.tabs.remove((await api.tabs.query({groupId: id})).map((tab) => tab.id));
}"""
TITLES = {group.key: group.title for group in (GROUP, ONE, TWO)}
Own = OwnChromium | OwnFirefox


class OwnDriverUnderTest(OwnBrowser[Any]):
    """What tests need besides. Where a driver is stopped, its browser ends."""

    home: Home
    browser: Own

    def handle(self, home: Home, browser: Own) -> None:
        self.home, self.browser = home, browser
        self.has_died = False
        self.door = LinkDoor(home)
        self._came = asyncio.Event()

    async def start(self, report: Report) -> RunningBrowser:
        self._came.clear()
        await self.door.open(self._link_came)
        if not self.browser.is_running:
            self.browser.start()
        elif self._host._link is None:
            self._host._wake()
        async with asyncio.timeout(START_SECONDS):
            await self._came.wait()
        return await super().start(report)

    async def stop(self) -> None:
        await self._say_goodbye()
        await asyncio.to_thread(self.browser.kill)

    async def leave(self) -> None:
        """Prepare the browser for the next test: remove everything that this driver made."""
        if self._connection is not None and not self.has_died:
            for tab in list(self._known):
                await self.close_tab(tab)
            await self.empty_jars()
        await self._say_goodbye()

    async def _say_goodbye(self) -> None:
        await super().stop()
        await self.door.close()

    def dies_like_its_broker(self) -> None:
        self.has_died = True
        self._report = lambda event: None
        self.door.cut()

    async def empty_jars(self) -> None:
        """What a check made stays in a browser that others use, too."""

    def _link_came(self, link: object) -> None:
        self.linked(link)  # type: ignore[arg-type]
        self._came.set()


class OwnChromiumUnderTest(OwnDriverUnderTest, OwnChromiumDriver):
    def __init__(self, home: Home, browser: OwnChromium) -> None:
        super().__init__(HostLink(home, "mine-chromium"), bundle())
        self.handle(home, browser)


class OwnFirefoxUnderTest(OwnDriverUnderTest, OwnFirefoxDriver):
    def __init__(self, home: Home, browser: OwnFirefox) -> None:
        super().__init__(HostLink(home, "mine-firefox"))
        self.handle(home, browser)

    async def empty_jars(self) -> None:
        for jar in list(self._jars):
            await self.remove_jar(jar)


class OwnHarness:
    """One browser for all checks; what a check ended is started again for the next."""

    def __init__(self, kind: str, base: str, nowhere: str, display: str, folder: Path) -> None:
        self.nowhere = nowhere
        self._base = base
        self._home = Home(folder / "home")
        self._browser: Own = (
            OwnFirefox(self._home, folder, display, restores=False)
            if kind == "firefox"
            else OwnChromium(self._home, folder, display, restores=False)
        )

    def url(self, path: str) -> str:
        return self._base + path

    def make(self) -> Driver:
        if isinstance(self._browser, OwnChromium):
            return OwnChromiumUnderTest(self._home, self._browser)
        return OwnFirefoxUnderTest(self._home, self._browser)

    async def another(self, driver: Driver) -> Driver:
        first = under_test(driver)
        first.dies_like_its_broker()
        await first.door.close()
        return self.make()

    async def let_go(self, driver: Driver) -> None:
        await under_test(driver).leave()

    async def open_page(self, driver: Driver, jar: str) -> None:
        """A person opens a tab in a group that is there."""
        own = under_test(driver)
        if own._connection is not None and not own._known:
            await own.open_tab(jar, GROUP)
        await own.browser.person(JOIN, GROUP.title, jar)

    async def person_opens(self, driver: Driver, group: str | None, url: str) -> None:
        await under_test(driver).browser.person(OPEN, TITLES.get(group or ""), url)

    async def person_moves(self, driver: Driver, tab: TabHandle, group: str | None) -> None:
        number = int(tab.split(".")[1])
        await under_test(driver).browser.person(MOVE, number, TITLES.get(group or ""))

    async def person_closes_group(self, driver: Driver, group: str) -> None:
        await under_test(driver).browser.person(CLOSE, TITLES[group])

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        own = under_test(driver)
        if isinstance(own.browser, OwnChromium):
            own._link().tell("Page.crash", None, tab)
        else:
            await own.browser.kill_page_at(await driver.page(tab).evaluate(HREF))

    async def kill(self, driver: Driver) -> None:
        await asyncio.to_thread(under_test(driver).browser.kill)

    def clean_up(self) -> None:
        self._browser.kill()


def under_test(driver: Driver) -> OwnDriverUnderTest:
    assert isinstance(driver, OwnDriverUnderTest)
    return driver


@contextmanager
def own_harness(kind: str) -> Iterator[OwnHarness]:
    folder = Path(tempfile.mkdtemp(prefix="roost-own-"))
    with served() as base, unreachable() as nowhere, screen() as display:
        made = OwnHarness(kind, base, nowhere, display, folder)
        try:
            yield made
        finally:
            made.clean_up()
            shutil.rmtree(folder, ignore_errors=True)
