"""A Firefox that tests may do things to."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Collection

from roost.drivers.firefox import FirefoxDriver
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.launch import FirefoxOptions
from roost.vocabulary import TabHandle
from tests.drivers.lodging import Lodger

# Tests may look into the browser's own process, to find out which process a page is in.
OPTIONS = FirefoxOptions(headless=True, args=("--remote-allow-system-access",))
PROCESS_OF = """(context) => {
  const where = "chrome://remote/content/shared/NavigableManager.sys.mjs";
  const { NavigableManager } = ChromeUtils.importESModule(where);
  return NavigableManager.getBrowsingContextById(context).currentWindowGlobal.osPid;
}"""


class HandledFirefox(Lodger[BidiConnection], FirefoxDriver):
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
