"""One browser for many tests: each has a driver of its own, which takes it over and leaves it to
the next. What was ended is started again for whoever comes then."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from handled_chromium import HandledChromium
from handled_firefox import HandledFirefox

from roost.drivers.base import Driver, Report
from roost.local.home import Home
from roost.testing.site import served, unreachable
from roost.vocabulary import TabHandle

AWAY_SECONDS = 60.0
"""As long may pass between two tests."""
D = TypeVar("D", bound=HandledChromium | HandledFirefox)


class Lodging(Generic[D]):
    """How the contract makes drivers in it and hurts its browser, and how tests come as guests."""

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
        first = self._handled(driver)
        first.dies_like_its_broker()
        await first.door.close()
        return self.make()

    async def let_go(self, driver: Driver) -> None:
        await self._handled(driver).leave()

    async def open_page(self, driver: Driver, jar: str) -> None:
        await self._handled(driver).open_page(jar)

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        await self._handled(driver).crash(tab)

    async def kill(self, driver: Driver) -> None:
        os.kill(self._handled(driver).browser_pid, signal.SIGKILL)

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

    def _handled(self, driver: Driver) -> D:
        assert isinstance(driver, self._kind)
        return driver


@contextmanager
def lodging_in(folder: Path, kind: type[D]) -> Iterator[Lodging[D]]:
    with served() as base, unreachable() as nowhere:
        lodging = Lodging(kind, folder, base, nowhere)
        yield lodging
        lodging.close()
