"""``ManagedHarness``: one managed browser for many tests of its driver.

Each test has a driver of its own, which takes over the browser from the driver of the test before,
as the driver of a next broker does. If a test ended the browser, the next test starts another.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from abc import abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from roost.drivers.base import Driver, Report, RunningBrowser
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.connection import Connection
from roost.drivers.firefox import FirefoxDriver
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.launch import FirefoxOptions
from roost.drivers.keeper_process import KeeperProcess, Launch
from roost.drivers.managed_driver import ManagedDriver
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.testing.site import served, unreachable
from roost.vocabulary import TabHandle
from tests.support.link_door import LinkDoor

AWAY_SECONDS = 60.0
"""The keeper waits this long for the next test's driver."""
X = TypeVar("X", bound=Connection)
# Tests may look into the browser's own process, to find out which process a page is in.
OPTIONS = FirefoxOptions(headless=True, args=("--remote-allow-system-access",))
PROCESS_OF = """(context) => {
  const where = "chrome://remote/content/shared/NavigableManager.sys.mjs";
  const { NavigableManager } = ChromeUtils.importESModule(where);
  return NavigableManager.getBrowsingContextById(context).currentWindowGlobal.osPid;
}"""


class DriverUnderTest(ManagedDriver[X], Driver):
    """A driver with a door for its keeper, and what a test may do to its browser."""

    kind: str
    options: Launch
    browser_pid = 0

    def __init__(self, home: Home, away_seconds: float = 5.0) -> None:
        keeper = KeeperProcess(home, self.kind, self.options, away_seconds=away_seconds)
        super().__init__(keeper, bundle())
        self.door = LinkDoor(home)
        self.has_died = False
        self._taken_over = asyncio.Event()

    @property
    @abstractmethod
    def tab_handles(self) -> Collection[TabHandle]:
        """The handles of all tabs that the driver has reported or made."""

    @property
    @abstractmethod
    def jar_handles(self) -> Collection[str]:
        """The handles of all jars of the driver."""

    @abstractmethod
    async def make_page(self, jar: str) -> None:
        """Open a page that no call of this driver asked for."""

    @abstractmethod
    async def crash(self, tab: TabHandle) -> None:
        """End the page's process."""

    async def open_page(self, jar: str) -> None:
        await self._taken_over.wait()
        await self.make_page(jar)

    async def stop(self) -> None:
        if not self.has_died:
            await super().stop()
        await self.door.close()

    async def leave(self) -> None:
        """Prepare the browser for the next test: close all tabs and jars, and let the keeper hold
        the browser as between two brokers. If the browser has died, end its keeper."""
        if not self.has_died and self._connection is not None and not self._over.is_set():
            for tab in list(self.tab_handles):
                await self.close_tab(tab)
            for jar in list(self.jar_handles):
                await self.remove_jar(jar)
            self.dies_like_its_broker()
        await self.stop()

    async def ended(self) -> None:
        await self._keeper.ended()

    def dies_like_its_broker(self) -> None:
        """No last words to the keeper: the connection just ends."""
        self.has_died = self._is_stopping = True
        self.door.cut()

    async def start(self, report: Report) -> RunningBrowser:
        await self.door.open(self.linked)
        return await super().start(report)

    def _word(self, word: str, what: Any) -> None:
        super()._word(word, what)
        if word == "handover":
            self.browser_pid = what["pid"]
            self._taken_over.set()


class ChromiumUnderTest(DriverUnderTest[CdpConnection], ChromiumDriver):
    kind = "chromium"
    options = ChromiumOptions(headless=True)

    @property
    def tab_handles(self) -> Collection[TabHandle]:
        return self._tabs

    @property
    def jar_handles(self) -> Collection[str]:
        return self._jars

    async def make_page(self, jar: str) -> None:
        params = {"url": "about:blank", "browserContextId": jar}
        await self._browser().call("Target.createTarget", params)

    async def crash(self, tab: TabHandle) -> None:
        self._browser().tell("Page.crash", None, self._tabs[tab].session)


class FirefoxUnderTest(DriverUnderTest[BidiConnection], FirefoxDriver):
    kind = "firefox"
    options = OPTIONS

    @property
    def tab_handles(self) -> Collection[TabHandle]:
        return self._all_contexts().tabs

    @property
    def jar_handles(self) -> Collection[str]:
        return self._all_jars().known

    async def make_page(self, jar: str) -> None:
        params = {"type": "tab", "background": True, "userContext": jar}
        await self._browser().call("browsingContext.create", params)

    @property
    def keeper_pid(self) -> int:
        record = self.door.home.path / "keepers" / "firefox.json"
        return int(json.loads(record.read_bytes())["pid"])

    @property
    def port(self) -> int:
        """Where it listens, as it says itself: on loopback."""
        log = self.door.home.path / "browsers" / "firefox" / "browser.log"
        said = log.read_text(encoding="utf-8")
        return int(said.split("listening on ws://127.0.0.1:")[1].split()[0])

    async def crash(self, tab: TabHandle) -> None:
        os.kill(await self.page_pid(tab), signal.SIGKILL)

    async def page_pid(self, tab: TabHandle) -> int:
        windows = await self._browser().call("browsingContext.getTree", {"moz:scope": "chrome"})
        answer = await self._browser().call(
            "script.callFunction",
            {
                "functionDeclaration": PROCESS_OF,
                "arguments": [{"type": "string", "value": tab}],
                "target": {"context": windows["contexts"][0]["context"]},
                "awaitPromise": False,
            },
        )
        return int(answer["result"]["value"])


D = TypeVar("D", bound=DriverUnderTest[Any])


class ManagedHarness(Generic[D]):
    """Makes drivers of that kind for one browser, and acts on the browser from outside."""

    def __init__(self, kind: type[D], folder: Path, base: str, nowhere: str) -> None:
        self.nowhere = nowhere
        self._kind = kind
        self._home = Home(folder)
        self._base = base
        self._guest: D | None = None

    def url(self, path: str) -> str:
        return self._base + path

    def make(self) -> D:
        return self._kind(self._home, away_seconds=AWAY_SECONDS)

    async def another(self, driver: Driver) -> D:
        first = self._under_test(driver)
        first.dies_like_its_broker()
        await first.door.close()
        return self.make()

    async def let_go(self, driver: Driver) -> None:
        await self._under_test(driver).leave()

    async def open_page(self, driver: Driver, jar: str) -> None:
        await self._under_test(driver).open_page(jar)

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        await self._under_test(driver).crash(tab)

    async def kill(self, driver: Driver) -> None:
        os.kill(self._under_test(driver).browser_pid, signal.SIGKILL)

    @asynccontextmanager
    async def guest(self, report: Report) -> AsyncIterator[D]:
        try:
            yield await self._come(self.make(), report)
        finally:
            if self._guest is not None:
                await self._guest.leave()

    async def heir(self, report: Report) -> D:
        """The driver of the next broker, after the guest's was killed."""
        assert self._guest is not None
        return await self._come(await self.another(self._guest), report)

    def close(self) -> None:
        asyncio.run(self.make().ended())

    async def _come(self, driver: D, report: Report) -> D:
        self._guest = driver
        await driver.start(report)
        return driver

    def _under_test(self, driver: Driver) -> D:
        assert isinstance(driver, self._kind)
        return driver


@contextmanager
def managed_harness(folder: Path, kind: type[D]) -> Iterator[ManagedHarness[D]]:
    with served() as base, unreachable() as nowhere:
        harness = ManagedHarness(kind, folder, base, nowhere)
        yield harness
        harness.close()
