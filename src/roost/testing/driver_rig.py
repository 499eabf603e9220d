"""The rig on which a driver is checked: the harness, the driver, and its reports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from roost.drivers.base import (
    Arrival,
    Driver,
    Group,
    Picture,
    RunningBrowser,
    Shot,
)
from roost.drivers.events import (
    DriverEvent,
)
from roost.testing.waits import started
from roost.vocabulary import Color, JarPolicy, TabHandle

CHECK_SECONDS = 60.0
HREF = "() => location.href"
COOKIES = "() => document.cookie"
NEVER = "() => new Promise(() => {})"
NO_TAB = TabHandle("no-such-tab")
GROUP = Group("rig", "Rig", Color.BLUE)
"""Group of the checks' tabs, in browsers that have groups."""
E = TypeVar("E", bound=DriverEvent)


class DriverHarness(Protocol):
    """Makes drivers, and acts on their browsers from outside. A driver's tests implement it."""

    @property
    def nowhere(self) -> str:
        """An address at which no server answers."""

    def url(self, path: str) -> str:
        """Return the address of a page of the contract site (``roost.testing.site.PAGES``)."""

    def make(self) -> Driver:
        """Return a driver that is not started, with a browser of its own without tabs or jars."""

    async def another(self, driver: Driver) -> Driver:
        """Return the driver of the next broker for the same browser, after a kill of the first."""

    async def let_go(self, driver: Driver) -> None:
        """End a check: stop the driver, or leave its browser empty for the next check."""

    async def open_page(self, driver: Driver, jar: str) -> None:
        """Open a tab in that jar as the person would."""

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        """Kill the page's process."""

    async def kill(self, driver: Driver) -> None:
        """Kill the browser."""


class Reports:
    """All events that a driver reports, in order."""

    def __init__(self) -> None:
        self.events: list[DriverEvent] = []
        self._news = asyncio.Event()

    def __call__(self, event: DriverEvent) -> None:
        self.events.append(event)
        self._news.set()

    async def first(self, kind: type[E], matches: Callable[[E], bool] = lambda _: True) -> E:
        """Return the first event that matches, now or when it comes."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and matches(event):
                    return event
            self._news.clear()
            await self._news.wait()

    def about(self, tab: TabHandle) -> list[DriverEvent]:
        """Return the events about that tab."""
        return [event for event in self.events if getattr(event, "handle", None) == tab]


@dataclass(frozen=True, slots=True)
class DriverRig:
    """One started driver, and helpers for checks."""

    harness: DriverHarness
    driver: Driver
    reports: Reports
    browser: RunningBrowser
    """What the driver answered when it started."""

    def url(self, path: str) -> str:
        return self.harness.url(path)

    @property
    def policy(self) -> JarPolicy:
        """The policy of the checks' jars: fresh if the driver has fresh jars, else shared."""
        jars = self.driver.capabilities.jars
        return JarPolicy.FRESH if JarPolicy.FRESH in jars else JarPolicy.SHARED

    async def fresh_jar(self) -> str:
        """Make a jar of ``policy`` and return its handle."""
        return await self.driver.make_jar(self.policy)

    @property
    def group(self) -> Group | None:
        return GROUP if self.driver.capabilities.groups else None

    async def open(self, jar: str) -> TabHandle:
        """Open a blank tab in that jar, and in ``group`` where there are groups."""
        return await self.driver.open_tab(jar, self.group)

    async def tab(self, path: str | None = None, *, jar: str | None = None) -> TabHandle:
        """Open a tab at that page, or blank, in the given jar, or in a new one."""
        tab = await self.open(jar or await self.fresh_jar())
        if path is not None:
            await self.navigate(tab, self.url(path))
        return tab

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        """Navigate the tab. Raises the error of ``driver.page`` if there is no such tab."""
        return await self.driver.page(tab).navigate(url)

    async def evaluate(self, tab: TabHandle, function: str) -> Any:
        return await self.driver.page(tab).evaluate(function)

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        return await self.driver.page(tab).capture(shot)

    async def works(self, tab: TabHandle) -> None:
        """Assert that the tab evaluates scripts."""
        assert await self.evaluate(tab, "() => 6") == 6

    async def running(self, tab: TabHandle) -> asyncio.Task[Any]:
        """Return a call that has reached the browser and never ends by itself."""
        call = await started(self.evaluate(tab, NEVER))
        await self.works(await self.tab())  # asked later, so the call has begun
        assert not call.done()
        return call


DriverCheck = Callable[[DriverRig], Awaitable[None]]
DRIVER_CHECKS: list[DriverCheck] = []
JAR_CHECKS: list[DriverCheck] = []
"""The checks for browsers whose jars are separate."""


async def check_driver(harness: DriverHarness, check: DriverCheck | None = None) -> None:
    """Run one check or all on the driver, each with a driver of its own.

    ``harness``: makes drivers, and acts on their browsers.
    ``check``: the check to run; all of ``DRIVER_CHECKS`` by default.
    """
    for each in DRIVER_CHECKS if check is None else [check]:
        driver, reports = harness.make(), Reports()
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                browser = await driver.start(reports)
                await each(DriverRig(harness, driver, reports, browser))
        finally:
            await harness.let_go(driver)


def check_name(check: DriverCheck) -> str:
    """Return the check's name, for use as the id of a test."""
    return getattr(check, "__name__", "check")


def driver_check(check: DriverCheck) -> DriverCheck:
    """Add a check to ``DRIVER_CHECKS``."""
    DRIVER_CHECKS.append(check)
    return check


def jar_check(check: DriverCheck) -> DriverCheck:
    """Add a check to ``DRIVER_CHECKS`` that needs separate jars."""
    JAR_CHECKS.append(check)
    return driver_check(check)
