"""One browser as the broker holds it: started at the first page call, restarted when it dies.

The only room that talks to a driver's lifetime. Driver events become core events here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, assert_never

from roost.broker import downloads
from roost.broker.clock import Clock
from roost.broker.proxy import LOOPBACK, FilteringProxy
from roost.broker.tasks import Tasks
from roost.core import events as ev
from roost.core.model import Session, TabState
from roost.core.state import State
from roost.drivers.base import (
    BrowserEnded,
    ChooserClosed,
    ChooserOpened,
    ConsoleSaid,
    Cookie,
    DialogClosed,
    DialogOpened,
    DownloadBegan,
    DownloadEnded,
    Driver,
    DriverEvent,
    Linked,
    PageEvent,
    RequestEnded,
    RequestSent,
    Started,
    TabAppeared,
    TabArrived,
    TabDied,
    TabDisappeared,
    Tapped,
)
from roost.drivers.link import Link
from roost.errors import RoostError, SessionGone, Unsupported
from roost.vocabulary import BrowserId, JarId, JarPolicy, SessionId

logger = logging.getLogger(__name__)
RESTART_SECONDS = (1.0, 30.0)
STOP_SECONDS = 10.0
GOOD_MINUTE = 60.0


def whole(text: str) -> str:
    """A page's text as journal and replies can hold it: pages make halves of surrogate pairs."""
    return text.encode(errors="replace").decode()


class Feed(Protocol):
    """The broker's ``feed``: the only way to the core."""

    def __call__(self, event: ev.Event) -> object: ...


class Browser:
    """A driver, whether it runs, and the jars being made in it."""

    def __init__(
        self,
        browser: BrowserId,
        driver: Driver,
        *,
        feed: Feed,
        heard: Callable[[BrowserId, PageEvent], None],
        state: Callable[[], State],
        clock: Clock,
        tasks: Tasks,
        files: Path,
        kept: Callable[[JarId], list[Cookie]],
        upstream: str | None = None,
    ) -> None:
        self.id = browser
        self.driver = driver
        self.started: Started | None = None
        self._feed = feed
        self._hear = heard
        self._state = state
        self._clock = clock
        self._tasks = tasks
        self._starting: asyncio.Task[None] | None = None
        self._early: list[DriverEvent] = []
        self._making: dict[JarId, asyncio.Task[str]] = {}
        self._failures = 0
        self._files = files
        self._kept = kept
        self._upstream = upstream
        self._proxies: dict[JarId, FilteringProxy] = {}
        self._up_at = 0.0
        self._stopping = False

    async def ready(self) -> Driver:
        """The driver, once its browser runs. All who ask meanwhile wait for the same start."""
        if self.started is None:
            if self._starting is None or self._starting.done():
                self._starting = self._tasks.spawn(self._start(), name=f"start {self.id}")
            # Shielded: one caller's deadline must not stop the start the others wait for.
            await asyncio.shield(self._starting)
        return self.driver

    def linked(self, link: Link) -> None:
        """A keeper connected: one a start waits for, or one that an earlier broker left."""
        if not isinstance(self.driver, Linked):
            raise Unsupported(f"{self.id} takes no links.")
        self.driver.linked(link)
        if self.started is None and (self._starting is None or self._starting.done()):
            self._starting = self._tasks.spawn(self._start(), name=f"take over {self.id}")

    async def jar(self, jar: JarId, *, proxy: str | None = None) -> str:
        """The jar's handle; made at first use, once, however many ask. ``proxy`` is the way to the
        network of one that has no domain lists."""
        row = self._state().jars.get(jar)
        if row is None or row.session is None:
            raise SessionGone("The session ended.")
        if row.handle is not None:
            return row.handle
        making = self._making.get(jar)
        if making is None:
            making = self._tasks.spawn(self._make_jar(jar, proxy), name=f"make jar {jar}")
            self._making[jar] = making
            making.add_done_callback(lambda _: self._making.pop(jar, None))
        return await asyncio.shield(making)

    async def stop(self) -> None:
        self._stopping = True
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=STOP_SECONDS)
        await self.driver.stop()
        self.started = None
        for jar in list(self._proxies):
            await self._forget_proxy(jar)

    async def _start(self) -> None:
        self._early = []
        started = await self.driver.start(self._heard)
        self.started = started
        self._up_at = self._clock.now()
        if started.resumed:
            await self._reopen_proxies()
        else:
            # Rows of an earlier browser, if there are any: their pages died with it.
            self._feed(ev.BrowserDown(self.id))
        self._feed(ev.BrowserUp(browser=self.id, handles=started.tabs, jars=started.jars))
        for event in self._early:
            self._translate(event)
        self._early = []

    async def _make_jar(self, jar: JarId, way_out: str | None) -> str:
        row = self._state().jars[jar]
        session = self._state().sessions.get(row.session or SessionId(""))
        if session is None:
            raise SessionGone("The session ended.")
        proxy = await self._proxy_for(session, jar)
        try:
            handle = await self.driver.make_jar(
                row.policy,
                proxy=way_out if proxy is None else f"{LOOPBACK}:{proxy.port}",
                downloads=str(self._downloads(session.id)),
            )
        except BaseException:
            await self._forget_proxy(jar)
            raise
        now = self._state().jars.get(jar)
        if now is None or now.session is None:
            await self.remove_jar(jar, handle)
            raise SessionGone("The session ended.")
        if row.policy is not JarPolicy.SHARED and (cookies := self._kept(jar)):
            await self.driver.write_cookies(handle, cookies)  # its browser died; this is its heir
        self._feed(ev.JarMade(jar, handle, None if proxy is None else proxy.port))
        return handle

    async def remove_jar(self, jar: JarId | None, handle: str) -> None:
        """The jar, its tabs, and the proxy it went through."""
        await self.driver.remove_jar(handle)
        if jar is not None:
            await self._forget_proxy(jar)

    async def put_downloads(self, session: SessionId) -> None:
        """Downloads go to the session's folder again, after a protocol client sent them away."""
        if self.started is None or not isinstance(self.driver, Tapped):
            return
        for jar in self._state().jars_of(session):
            if jar.handle is not None:
                await self.driver.put_downloads(jar.handle, str(self._downloads(session)))

    def _downloads(self, session: SessionId) -> Path:
        return self._files / session / downloads.FOLDER

    async def _proxy_for(
        self, session: Session, jar: JarId, port: int = 0
    ) -> FilteringProxy | None:
        if not session.allow and not session.deny:
            return None
        proxy = FilteringProxy(session.allow, session.deny, self._upstream)
        await proxy.start(port)
        self._proxies[jar] = proxy
        return proxy

    async def _forget_proxy(self, jar: JarId) -> None:
        proxy = self._proxies.pop(jar, None)
        if proxy is not None:
            await proxy.aclose()

    async def _reopen_proxies(self) -> None:
        """Jars of an earlier broker's browser go through the ports they were made with. One that
        cannot be had again leaves its jar without a way out, which is what the lists demand."""
        for jar in list(self._state().jars.values()):
            session = self._state().sessions.get(jar.session or SessionId(""))
            if jar.browser == self.id and jar.proxy_port is not None and session is not None:
                try:
                    await self._proxy_for(session, jar.id, jar.proxy_port)
                except OSError as error:
                    logger.error("proxy port %d of %s: %s", jar.proxy_port, jar.id, error)

    def _heard(self, event: DriverEvent) -> None:
        if self.started is None:
            # It runs ahead of BrowserUp; the core must know the browser before its tabs.
            self._early.append(event)
        else:
            self._translate(event)

    def _translate(self, event: DriverEvent) -> None:
        match event:
            case TabAppeared():
                self._feed(
                    ev.TabSpawned(
                        browser=self.id,
                        handle=event.handle,
                        opener=event.opener,
                        jar=event.jar,
                        url=whole(event.url),
                    )
                )
            case TabDisappeared():
                self._feed(ev.TabVanished(self.id, event.handle))
            case TabArrived():
                url, title = whole(event.url), whole(event.title)
                self._feed(ev.TabMovedOn(self.id, event.handle, url, title))
            case TabDied():
                self._feed(ev.TabBroke(self.id, event.handle))
            case BrowserEnded():
                self._ended(event.reason)
            case (
                DialogOpened()
                | DialogClosed()
                | ConsoleSaid()
                | RequestSent()
                | RequestEnded()
                | ChooserOpened()
                | ChooserClosed()
                | DownloadBegan()
                | DownloadEnded()
            ):
                self._hear(self.id, event)
            case _:
                assert_never(event)

    def _ended(self, reason: str) -> None:
        logger.warning("browser %s ended: %s", self.id, reason)
        if self._clock.now() - self._up_at >= GOOD_MINUTE:
            self._failures = 0
        self.started = None
        self._feed(ev.BrowserDown(self.id))
        if not self._stopping and self._has_lost_tabs():
            self._tasks.spawn(self._restart(), name=f"restart {self.id}")

    async def _restart(self) -> None:
        """Bring it back for the tabs that wait: at once the first time, then ever slower."""
        while not self._stopping and self.started is None and self._has_lost_tabs():
            shortest, longest = RESTART_SECONDS
            if self._failures:
                await self._clock.wait(min(shortest * 2 ** (self._failures - 1), longest))
            self._failures += 1
            try:
                await self.ready()
            except RoostError as error:
                logger.warning("browser %s did not start: %s", self.id, error)

    def _has_lost_tabs(self) -> bool:
        tabs = self._state().tabs.values()
        return any(tab.state is TabState.LOST and tab.browser == self.id for tab in tabs)
