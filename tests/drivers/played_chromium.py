"""A Chromium's driver whose browser and keeper are played by the test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from roost.drivers.base import NO_BUNDLE, RunningBrowser
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.events import (
    DriverEvent,
)
from roost.drivers.keeper_process import KeeperProcess
from roost.local.home import Home
from roost.testing.waits import started, until
from tests.drivers.scripted_link import ScriptedLink

NEXT_ID = 7
HANDOVER = {
    "nextId": NEXT_ID, "product": "Chrome/1", "pid": 2,
    "sessions": [], "crashed": [], "dialogs": [], "choosers": [], "requests": [],
}  # fmt: skip


class Played:
    """A driver and its keeper's end of the link."""

    def __init__(self, folder: Path) -> None:
        home = Home(folder)
        home.create()
        (home.path / "keepers").mkdir(mode=0o700)
        self.reports: list[DriverEvent] = []
        self.link = ScriptedLink()
        self.driver = ChromiumDriver(KeeperProcess(home, "chromium", ChromiumOptions()), NO_BUNDLE)

    async def begin(self) -> asyncio.Task[RunningBrowser]:
        self.driver.linked(self.link)
        return await started(self.driver.start(self.reports.append))

    async def start(self) -> None:
        starting = await self.begin()
        self.link.keeper_says("handover", HANDOVER)
        await until(lambda: self.link.sent)
        self.link.says(id=NEXT_ID, result={"browserContextIds": []})
        await starting

    def asked(self, method: str) -> list[dict[str, Any]]:
        """The commands of that name, as they were sent."""
        return [one for one in self.link.sent if one["method"] == method]
