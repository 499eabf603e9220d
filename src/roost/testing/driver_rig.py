"""The rig on which drivers are checked: how to make one, hurt its browser, and read its reports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from roost.drivers.base import Driver, DriverEvent, Group
from roost.testing.waits import started
from roost.vocabulary import Color, JarPolicy, TabHandle

CHECK_SECONDS = 60.0
BLANK = "about:blank"
HREF = "() => location.href"
COOKIES = "() => document.cookie"
NEVER = "() => new Promise(() => {})"
NO_TAB = TabHandle("no-such-tab")
GROUP = Group("rig", "Rig", Color.BLUE)
"""Where tabs have groups, those of checks are in this one."""
E = TypeVar("E", bound=DriverEvent)


class DriverHarness(Protocol):
    """What a driver's tests must be able to make, and to do to a browser behind its back."""

    @property
    def nowhere(self) -> str:
        """An address no server answers at."""

    def url(self, path: str) -> str:
        """The contract site's page at that path (``roost.testing.site.PAGES``)."""

    def make(self) -> Driver:
        """A driver, not started, whose browser nobody else uses: there are no tabs and no jars."""

    async def another(self, driver: Driver) -> Driver:
        """The driver of a broker that comes after the first one's was killed: same browser."""

    async def let_go(self, driver: Driver) -> None:
        """A check is over. Stop the driver, or leave its browser, empty again, to the next one."""

    async def open_page(self, driver: Driver, jar: str) -> None:
        """The person opens a tab in that jar."""

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        """Kill the page's process."""

    async def kill(self, driver: Driver) -> None:
        """Kill the browser."""


class Reports:
    """All a driver reports, in order."""

    def __init__(self) -> None:
        self.events: list[DriverEvent] = []
        self._news = asyncio.Event()

    def __call__(self, event: DriverEvent) -> None:
        self.events.append(event)
        self._news.set()

    async def first(self, kind: type[E], matches: Callable[[E], bool] = lambda _: True) -> E:
        """The first such event, now or when it comes."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and matches(event):
                    return event
            self._news.clear()
            await self._news.wait()

    def about(self, tab: TabHandle) -> list[DriverEvent]:
        return [event for event in self.events if getattr(event, "handle", None) == tab]


@dataclass(frozen=True, slots=True)
class DriverRig:
    """One started driver, and what a check needs to play with it."""

    harness: DriverHarness
    driver: Driver
    reports: Reports

    def url(self, path: str) -> str:
        return self.harness.url(path)

    @property
    def policy(self) -> JarPolicy:
        """Of the jars that checks use: fresh ones, where there are any."""
        jars = self.driver.capabilities.jars
        return JarPolicy.FRESH if JarPolicy.FRESH in jars else JarPolicy.SHARED

    async def fresh_jar(self) -> str:
        return await self.driver.make_jar(self.policy)

    @property
    def group(self) -> Group | None:
        return GROUP if self.driver.capabilities.groups else None

    async def open(self, jar: str) -> TabHandle:
        return await self.driver.open_tab(jar, self.group)

    async def tab(self, path: str | None = None, *, jar: str | None = None) -> TabHandle:
        """A tab, at that page if one is named, in a jar of its own unless one is given."""
        tab = await self.open(jar or await self.fresh_jar())
        if path is not None:
            await self.driver.navigate(tab, self.url(path))
        return tab

    async def works(self, tab: TabHandle) -> None:
        assert await self.driver.evaluate(tab, "() => 6") == 6

    async def running(self, tab: TabHandle) -> asyncio.Task[Any]:
        """A call that never ends by itself and has reached the browser."""
        call = await started(self.driver.evaluate(tab, NEVER))
        await self.works(await self.tab())  # asked later and answered: the other one runs
        assert not call.done()
        return call


DriverCheck = Callable[[DriverRig], Awaitable[None]]
DRIVER_CHECKS: list[DriverCheck] = []
JAR_CHECKS: list[DriverCheck] = []
"""Those of browsers whose jars are apart from one another."""


async def check_driver(harness: DriverHarness, check: DriverCheck | None = None) -> None:
    """Hold the driver to one check, or to all of them, each with a driver of its own."""
    for each in DRIVER_CHECKS if check is None else [check]:
        driver, reports = harness.make(), Reports()
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await driver.start(reports)
                await each(DriverRig(harness, driver, reports))
        finally:
            await harness.let_go(driver)


def check_name(check: DriverCheck) -> str:
    return getattr(check, "__name__", "check")


def driver_check(check: DriverCheck) -> DriverCheck:
    DRIVER_CHECKS.append(check)
    return check


def jar_check(check: DriverCheck) -> DriverCheck:
    JAR_CHECKS.append(check)
    return driver_check(check)
