"""A Firefox that tests may do things to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

from link_door import LinkDoor

from roost.drivers.base import Report, Started
from roost.drivers.firefox import FirefoxDriver
from roost.drivers.firefox.launch import FirefoxOptions
from roost.drivers.keeping import Keeping
from roost.local.home import Home
from roost.page.bundle import bundle
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

    async def leave(self) -> None:
        """For whoever comes next: neither tabs nor jars are left, and the keeper holds the browser
        as between two brokers. If there is none any more, its keeper goes, too."""
        if not self.has_died and self._bidi is not None and not self._over.is_set():
            for tab in list(self._all_contexts().tabs):
                await self.close_tab(tab)
            for jar in list(self._all_jars().known):
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

    browser_pid = 0
