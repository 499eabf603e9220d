"""Firefox keeps the driver's contract, on real pages in a real browser."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from link_door import LinkDoor

from roost.drivers.base import Driver, Report, Started
from roost.drivers.firefox import FirefoxDriver
from roost.drivers.firefox.launch import FirefoxOptions
from roost.drivers.keeping import Keeping
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from roost.testing.site import served, unreachable
from roost.vocabulary import TabHandle

pytestmark = pytest.mark.browser

# Tests may look into the browser's own process, to find out which process a page is in.
OPTIONS = FirefoxOptions(headless=True, args=("--remote-allow-system-access",))
PROCESS_OF = """(context) => {
  const where = "chrome://remote/content/shared/NavigableManager.sys.mjs";
  const { NavigableManager } = ChromeUtils.importESModule(where);
  return NavigableManager.getBrowsingContextById(context).currentWindowGlobal.osPid;
}"""


class HandledFirefox(FirefoxDriver):
    """With a door for its keeper, and what a test may do to its browser."""

    def __init__(self, home: Home) -> None:
        super().__init__(Keeping(home, "firefox", OPTIONS, away_seconds=5), bundle())
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
        params = {"type": "tab", "background": True, "userContext": jar}
        await self._browser().call("browsingContext.create", params)

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

    browser_pid = 0


class FirefoxHarness:
    def __init__(self, base: str, nowhere: str) -> None:
        self._base = base
        self.nowhere = nowhere
        self._homes: list[Path] = []

    def url(self, path: str) -> str:
        return self._base + path

    def make(self) -> HandledFirefox:
        self._homes.append(Path(tempfile.mkdtemp(prefix="roost-test-")))
        return HandledFirefox(Home(self._homes[-1]))

    async def another(self, driver: Driver) -> Driver:
        first = _handled(driver)
        first.dies_like_its_broker()
        await first.door.close()
        return HandledFirefox(first.door.home)

    async def open_page(self, driver: Driver, jar: str) -> None:
        await _handled(driver).open_page(jar)

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        os.kill(await _handled(driver).page_pid(tab), signal.SIGKILL)

    async def kill(self, driver: Driver) -> None:
        os.kill(_handled(driver).browser_pid, signal.SIGKILL)

    def clean_up(self) -> None:
        for home in self._homes:
            shutil.rmtree(home, ignore_errors=True)


def _handled(driver: Driver) -> HandledFirefox:
    assert isinstance(driver, HandledFirefox)
    return driver


@pytest.fixture
def harness() -> Iterator[FirefoxHarness]:
    with served() as base, unreachable() as nowhere:
        made = FirefoxHarness(base, nowhere)
        yield made
        made.clean_up()


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_firefox_keeps_the_contract(harness: FirefoxHarness, check: DriverCheck) -> None:
    await check_driver(harness, check)
