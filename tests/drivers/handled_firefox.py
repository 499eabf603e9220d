"""A Firefox that tests may do things to, and how the contract makes and hurts one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from link_door import LinkDoor

from roost.drivers.base import Driver, Report, Started
from roost.drivers.firefox import FirefoxDriver
from roost.drivers.firefox.launch import FirefoxOptions
from roost.drivers.keeping import Keeping
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.testing.site import served, unreachable
from roost.vocabulary import TabHandle

# Tests may look into the browser's own process, to find out which process a page is in.
OPTIONS = FirefoxOptions(headless=True, args=("--remote-allow-system-access",))
PROCESS_OF = """(context) => {
  const where = "chrome://remote/content/shared/NavigableManager.sys.mjs";
  const { NavigableManager } = ChromeUtils.importESModule(where);
  return NavigableManager.getBrowsingContextById(context).currentWindowGlobal.osPid;
}"""


class HandledFirefox(FirefoxDriver):
    """With a door for its keeper, and what a test may do to its browser."""

    def __init__(self, home: Home, away_seconds: float = 5.0) -> None:
        super().__init__(Keeping(home, "firefox", OPTIONS, away_seconds=away_seconds), bundle())
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

    @property
    def tab_handles(self) -> set[TabHandle]:
        """Of all tabs that it has reported or made."""
        return set(self._all_contexts().tabs)

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

    async def another(self, driver: Driver) -> HandledFirefox:
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


class GuestFirefox(HandledFirefox):
    """In a browser that others had before and will have next: its keeper holds it in between, as
    between two brokers. A guest leaves neither tabs nor jars behind."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, away_seconds=60)

    async def stop(self) -> None:
        if not self.has_died and self._bidi is not None and not self._over.is_set():
            for tab in list(self._all_contexts().tabs):
                await self.close_tab(tab)
            for jar in list(self._all_jars().known):
                await self.remove_jar(jar)
            self.dies_like_its_broker()
        await self.door.close()


class Lodging(FirefoxHarness):
    """One Firefox for many tests."""

    def __init__(self, base: str, nowhere: str, folder: Path) -> None:
        super().__init__(base, nowhere)
        self._home = Home(folder)
        self._guest: GuestFirefox | None = None

    def make(self) -> GuestFirefox:
        return GuestFirefox(self._home)

    @asynccontextmanager
    async def guest(self, report: Report) -> AsyncIterator[HandledFirefox]:
        try:
            yield await self._come(report)
        finally:
            if self._guest is not None:
                await self._guest.stop()

    async def heir(self, report: Report) -> HandledFirefox:
        """The driver of the next broker, after the guest's was killed."""
        if self._guest is not None:
            self._guest.dies_like_its_broker()
            await self._guest.door.close()
        return await self._come(report)

    def close(self) -> None:
        asyncio.run(Keeping(self._home, "firefox", OPTIONS).ended())

    async def _come(self, report: Report) -> GuestFirefox:
        self._guest = self.make()
        await self._guest.start(report)
        return self._guest


@contextmanager
def lodging_in(folder: Path) -> Iterator[Lodging]:
    with served() as base, unreachable() as nowhere:
        lodging = Lodging(base, nowhere, folder)
        yield lodging
        lodging.close()


def _handled(driver: Driver) -> HandledFirefox:
    assert isinstance(driver, HandledFirefox)
    return driver
