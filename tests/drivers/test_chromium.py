"""Chromium keeps the driver's contract, on real pages in a real browser."""

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
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.keeping import Keeping
from roost.local.home import Home
from roost.page.bundle import bundle
from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from roost.testing.site import served, unreachable
from roost.vocabulary import JarPolicy, TabHandle

pytestmark = pytest.mark.browser


class HandledChromium(ChromiumDriver):
    """With a door for its keeper, and what a test may do to its browser."""

    def __init__(self, home: Home) -> None:
        options = ChromiumOptions(headless=True)
        super().__init__(Keeping(home, "chromium", options, away_seconds=5), bundle())
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
        params = {"url": "about:blank", "browserContextId": jar}
        await self._browser().call("Target.createTarget", params)

    def crash(self, tab: TabHandle) -> None:
        self._browser().tell("Page.crash", None, self._tabs[tab].session)

    browser_pid = 0


class ChromiumHarness:
    def __init__(self, base: str, nowhere: str) -> None:
        self._base = base
        self.nowhere = nowhere
        self._homes: list[Path] = []

    def url(self, path: str) -> str:
        return self._base + path

    def make(self) -> Driver:
        self._homes.append(Path(tempfile.mkdtemp(prefix="roost-test-")))
        return HandledChromium(Home(self._homes[-1]))

    async def another(self, driver: Driver) -> Driver:
        first = _handled(driver)
        first.dies_like_its_broker()
        await first.door.close()
        return HandledChromium(first.door.home)

    async def open_page(self, driver: Driver, jar: str) -> None:
        await _handled(driver).open_page(jar)

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        _handled(driver).crash(tab)

    async def kill(self, driver: Driver) -> None:
        os.kill(_handled(driver).browser_pid, signal.SIGKILL)

    def clean_up(self) -> None:
        for home in self._homes:
            shutil.rmtree(home, ignore_errors=True)


def _handled(driver: Driver) -> HandledChromium:
    assert isinstance(driver, HandledChromium)
    return driver


@pytest.fixture
def harness() -> Iterator[ChromiumHarness]:
    with served() as base, unreachable() as nowhere:
        made = ChromiumHarness(base, nowhere)
        yield made
        made.clean_up()


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_chromium_keeps_the_contract(harness: ChromiumHarness, check: DriverCheck) -> None:
    await check_driver(harness, check)


async def test_a_jars_window_has_no_processes_for_its_frame(harness: ChromiumHarness) -> None:
    driver = _handled(harness.make())
    try:
        await driver.start(lambda event: None)
        for _ in range(2):
            await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))
        answer = await driver._browser().call("Target.getTargets", {"filter": [{}]})
        kinds = [target["type"] for target in answer["targetInfos"]]
        assert kinds.count("page") == 2
        assert "browser_ui" not in kinds
    finally:
        await driver.stop()
