"""``Browser`` starts one browser at its first page call and restarts it when it dies.

Only this file starts and stops drivers. It also translates driver events into core events.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import assert_never
from weakref import WeakValueDictionary

from roost import core
from roost.broker.browser.jars import Jars, Surroundings
from roost.broker.text_limits import whole
from roost.conditions import NO_CONDITIONS, Conditions
from roost.core import events as ev
from roost.core.rows import Session, Tab, TabState
from roost.drivers.base import (
    ConditionsDriver,
    Driver,
    Group,
    Hold,
    LabelDriver,
    LinkedDriver,
    ProtocolTap,
    RunningBrowser,
)
from roost.drivers.clipboard import ClipboardDriver, SessionClipboard
from roost.drivers.events import (
    BrowserEnded,
    ChooserClosed,
    ChooserOpened,
    ConsoleSaid,
    DialogClosed,
    DialogOpened,
    DownloadBegan,
    DownloadEnded,
    DriverEvent,
    GroupClosed,
    MessageSeen,
    PageEvent,
    PersonAnswered,
    PersonSaid,
    RequestEnded,
    RequestSent,
    TabClosed,
    TabCrashed,
    TabMoved,
    TabNavigated,
    TabOpened,
)
from roost.drivers.link import Link
from roost.errors import RoostError, TabGone, Unsupported
from roost.errors import TabCrashed as TabCrashedError
from roost.vocabulary import BrowserId, JarPolicy, SessionId, TabHandle

logger = logging.getLogger(__name__)
RESTART_SECONDS = (1.0, 30.0)
"""The shortest and the longest delay between attempts to restart a browser."""
STOP_SECONDS = 10.0
PUT_SECONDS = 5.0
"""Wait this long for one tab to follow new conditions, then go on with the next tab."""
GOOD_MINUTE = 60.0
"""A browser that ran this long was healthy, so its next restart is immediate again."""


def group_of(session: Session) -> Group:
    """Return how a browser shows the session to the person."""
    return Group(session.group, session.name, session.color)


class Browser:
    """One driver with its jars. ``started`` is None while the browser does not run.

    heard: called with the page events, which the core does not need.
    """

    def __init__(
        self,
        browser: BrowserId,
        driver: Driver,
        *,
        heard: Callable[[BrowserId, PageEvent], None],
        around: Surroundings,
    ) -> None:
        self.id = browser
        self.driver = driver
        self.started: RunningBrowser | None = None
        self.jars = Jars(lambda: self.driver, around)
        self._hear = around.hear
        self._page_heard = heard
        self._state = around.state
        self._limits = around.limits
        self._clock = around.clock
        self._tasks = around.tasks
        self._look_soon = around.look_soon
        self._clipboard = around.clipboard
        self._starting: asyncio.Task[None] | None = None
        self._early: list[DriverEvent] = []
        """Events that came before ``BrowserUp`` was reported."""
        self.condition_turns: WeakValueDictionary[SessionId, asyncio.Lock] = WeakValueDictionary()
        """One lock per session: only one call at a time may change the session's conditions."""
        self._opens = 0
        self._unclaimed: list[TabClosed | TabMoved] = []
        """Events of tabs whose handle the core may not know yet. See ``opening``."""
        self._failures = 0
        self._up_at = 0.0
        self._stopping = False
        self.holders: Callable[[TabHandle], frozenset[ProtocolTap]] = lambda tab: frozenset()
        """Returns the taps of the CDP clients that a new tab must wait for."""

    async def ready(self) -> Driver:
        """Return the driver, after starting the browser if needed. All callers share one start."""
        if self.started is None:
            if self._starting is None or self._starting.done():
                self._starting = self._tasks.spawn(self._start(), name=f"start {self.id}")
            # Shielded: one caller's deadline must not cancel the start that others wait for.
            await asyncio.shield(self._starting)
        return self.driver

    def linked(self, link: Link) -> None:
        """Give the driver a link that connected: one that a start waits for, or one from the time
        of an earlier broker."""
        if not isinstance(self.driver, LinkedDriver):
            raise Unsupported(f"{self.id} takes no links.")
        self.driver.linked(link)
        if self.started is None and (self._starting is None or self._starting.done()):
            self._starting = self._tasks.spawn(self._start(), name=f"take over {self.id}")

    @asynccontextmanager
    async def opening(self, jar: str, group: Group | None) -> AsyncIterator[TabHandle]:
        """Open a tab and yield its handle; the caller must report ``TabReady`` inside.

        The person may close or move the tab before the core knows its handle. Such events are held
        back until the block ends.
        """
        self._opens += 1
        try:
            yield await self.driver.open_tab(jar, group)
        finally:
            self._opens -= 1
            unclaimed, self._unclaimed = self._unclaimed, []
            for event in unclaimed:
                self._translate(event)

    async def stop(self) -> None:
        self._stopping = True
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=STOP_SECONDS)
        await self.driver.stop()
        self.started = None
        await self.jars.close()

    async def _start(self) -> None:
        """Start the browser, or take over one that an earlier broker left, and tell the core."""
        self._early = []
        if isinstance(self.driver, ConditionsDriver):
            self.driver.ask_conditions(self._conditions_of)
        if isinstance(self.driver, ClipboardDriver) and self.driver.clipboard is not None:
            self.driver.clipboard.of = self._clipboard_of
        started = await self.driver.start(self._heard)
        has_jars = started.resumed or self.driver.capabilities.groups
        if has_jars:
            mine = [jar for jar in self._state().jars.values() if jar.browser == self.id]
            await self.jars.reopen_proxies(mine)
        self.started = started
        self._up_at = self._clock.now()
        if not started.resumed or self._is_another(started):
            # If there are rows of an earlier browser, their pages died with it.
            self._hear(ev.BrowserDown(self.id))
        self._hear(
            ev.BrowserUp(
                browser=self.id,
                handles=started.tabs,
                jars=started.jars,
                groups=started.groups,
                places={handle: self._limits.url(url) for handle, url in started.places.items()},
                jar_of=started.jar_of,
            )
        )
        for event in self._early:
            self._translate(event)
        self._early = []
        if started.resumed:
            # The earlier broker may have died before it backed up what the last action changed.
            for jar in self._state().jars.values():
                if jar.browser == self.id and jar.handle is not None:
                    self._look_soon(jar.id)
            self._tasks.spawn(self._put_conditions_again(), name=f"set up the tabs of {self.id}")
            if isinstance(self.driver, LabelDriver) and not started.headless:
                self._tasks.spawn(self._label_again(self.driver), name=f"label {self.id}")

    def _conditions_of(self, handle: TabHandle) -> Conditions:
        tab = self._state().tab_with(self.id, handle)
        return NO_CONDITIONS if tab is None else core.tab_conditions(self._state(), tab)

    def _clipboard_of(self, handle: TabHandle) -> SessionClipboard | None:
        tab = self._state().tab_with(self.id, handle)
        return None if tab is None or tab.session is None else self._clipboard(tab.session)

    async def _put_conditions_again(self) -> None:
        """Tell a new driver of the conditions that the browser follows already."""
        state = self._state()
        for session in {row.session for row in state.page_conditions.values()}:
            if session in state.sessions and state.sessions[session].browser == self.id:
                with contextlib.suppress(RoostError):
                    await self.put_conditions(session)

    async def set_up(self, tab: Tab, handle: TabHandle) -> None:
        """Make a new tab follow the conditions of its session, before its first page."""
        conditions = core.tab_conditions(self._state(), tab)
        if conditions != NO_CONDITIONS and isinstance(self.driver, ConditionsDriver):
            await self.driver.put_conditions(handle, conditions)

    async def put_conditions(self, session: SessionId) -> None:
        """Make the jar and the open tabs of the session follow its conditions.

        A tab that does not answer in time, because it shows a dialog or hangs, follows them as soon
        as it answers again. Raises ``BadRequest`` if the browser refuses a value.
        """
        driver, state = self.driver, self._state()
        if self.started is None or not isinstance(driver, ConditionsDriver):
            return
        jar = state.jar_of(session)
        if jar is not None and jar.handle is not None and jar.policy is not JarPolicy.SHARED:
            await driver.put_jar_conditions(jar.handle, core.session_conditions(state, session))
        for tab in state.tabs_in(session):
            if tab.handle is not None:
                with contextlib.suppress(TimeoutError, TabGone, TabCrashedError):
                    async with asyncio.timeout(PUT_SECONDS):
                        await driver.put_conditions(tab.handle, core.tab_conditions(state, tab))

    async def _label_again(self, driver: LabelDriver) -> None:
        """Label the sessions' windows again. The labels of the earlier driver are tabs without a
        session to this one, so the core closes them."""
        state = self._state()
        for jar in [jar for jar in state.jars.values() if jar.browser == self.id]:
            session = None if jar.session is None else state.sessions.get(jar.session)
            if session is None or jar.handle is None:
                continue
            if any(tab.jar == jar.id for tab in state.tabs_in(session.id)):
                await driver.label(jar.handle, group_of(session))

    def _is_another(self, started: RunningBrowser) -> bool:
        """Return True if the rows describe an earlier browser than the one that runs.

        That happens if a broker died while it started the browser. Then none of the rows' jars is
        in the browser.
        """
        jars = [jar for jar in self._state().jars.values() if jar.browser == self.id]
        own = {jar.handle for jar in jars if jar.policy is not JarPolicy.SHARED} - {None}
        # In a person's own browser, missing jars prove nothing: the person may remove them all.
        is_ours = not self.driver.capabilities.groups
        return is_ours and bool(own) and own.isdisjoint(started.jars)

    async def put_downloads(self, session: SessionId) -> None:
        """Send downloads to the session's folder again, after a CDP client chose another one."""
        if self.started is not None:
            await self.jars.put_downloads(session)

    def _heard(self, event: DriverEvent) -> Hold | None:
        event = self._limits.shortened(event)
        if self.started is None:
            # The event precedes BrowserUp, but the core must know the browser before its tabs.
            self._early.append(event)
            return None
        self._translate(event)
        # The core has given the tab to a session, so the session's clients have seen it.
        taps = self.holders(event.handle) if isinstance(event, TabOpened) else None
        return Hold(taps) if taps else None

    def _translate(self, event: DriverEvent) -> None:
        match event:
            case TabOpened():
                self._hear(
                    ev.TabOpened(
                        browser=self.id,
                        handle=event.handle,
                        opener=event.opener,
                        jar=event.jar,
                        url=event.url,
                        group=event.group,
                    )
                )
            case TabClosed() | TabMoved() if self._may_be_claimed(event.handle):
                self._unclaimed.append(event)
            case TabClosed():
                self._hear(ev.TabClosed(self.id, event.handle))
            case TabMoved():
                self._hear(ev.TabMoved(self.id, event.handle, event.group))
            case GroupClosed():
                self._hear(ev.GroupClosed(self.id, event.key))
            case TabNavigated():
                self._hear(ev.TabNavigated(self.id, event.handle, event.url, event.title))
                tab = self._state().tab_with(self.id, event.handle)
                if tab is not None and tab.jar is not None:
                    self.jars.visited(tab.jar, event.url)
            case TabCrashed():
                self._hear(ev.TabCrashed(self.id, event.handle))
            case BrowserEnded():
                self._ended(event.reason)
            case PersonSaid():
                self._hear(ev.PersonSaid(self.id, event.what, event.key))
            case PersonAnswered():
                self._hear(ev.PersonAnswered(self.id, whole(event.name), event.allow))
            case (
                DialogOpened()
                | DialogClosed()
                | ConsoleSaid()
                | RequestSent()
                | RequestEnded()
                | MessageSeen()
                | ChooserOpened()
                | ChooserClosed()
                | DownloadBegan()
                | DownloadEnded()
            ):
                self._page_heard(self.id, event)
            case _:
                assert_never(event)

    def _may_be_claimed(self, handle: TabHandle) -> bool:
        return self._opens > 0 and self._state().tab_with(self.id, handle) is None

    def _ended(self, reason: str) -> None:
        logger.warning("browser %s ended: %s", self.id, reason)
        if self._clock.now() - self._up_at >= GOOD_MINUTE:
            self._failures = 0
        self.started = None
        self._hear(ev.BrowserDown(self.id))
        is_ours = not self.driver.capabilities.asks_person  # Roost never starts a person's browser
        if not self._stopping and is_ours and self._has_lost_tabs():
            self._tasks.spawn(self._restart(), name=f"restart {self.id}")

    async def _restart(self) -> None:
        """Start the browser again for its lost tabs: at once the first time, then with growing
        delays."""
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
