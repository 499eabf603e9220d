"""A Chromium that tests may do things to."""

from __future__ import annotations

from collections.abc import Collection

from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.launch import ChromiumOptions
from roost.vocabulary import TabHandle
from tests.drivers.lodging import Lodger


class HandledChromium(Lodger[CdpConnection], ChromiumDriver):
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
