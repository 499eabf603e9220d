"""Seats: the places of CDP clients in sessions.

A CDP client sees exactly the tabs whose rows belong to its session. Only rows say who owns a tab,
so seats follow the changes of rows and nothing else.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

from roost import core
from roost.api.protocol import Json, SeatEar
from roost.broker.broker import Broker
from roost.broker.browser.browser import Browser
from roost.broker.browser.files import Folders
from roost.broker.doors.token_callers import TokenCallers
from roost.broker.work import page_work, policy, secret_documents
from roost.core import events as ev
from roost.core.addresses import BLANK, checked_devtools_url
from roost.core.rows import Policy, Session, Tab
from roost.core.state import Change
from roost.drivers.base import ProtocolDriver, ProtocolTap
from roost.drivers.clipboard import NO_CLIPBOARD, ClipboardDriver, Use
from roost.errors import JarUnavailable, RoostError, SessionGone, TabGone, Unsupported
from roost.vocabulary import AgentId, JarId, JarPolicy, SessionId, TabHandle, TabId, shown

_PORT = re.compile(r":(\d{1,5})\b")
USED_SECONDS = 1.0
"""How often a client's use of one tab is recorded at most."""


class Seats:
    """All seats. Passes every change of the core's rows on to the seats it concerns."""

    def __init__(self, broker: Broker, callers: TokenCallers) -> None:
        self._broker = broker
        self._callers = callers
        self._taken: dict[SessionId, list[BrokerSeat]] = {}
        self._folders: dict[SessionId, set[Path]] = {}
        self._arriving: Counter[SessionId] = Counter()
        """Clients that are about to get a seat. No secret is filled meanwhile."""
        broker.has_protocol_client = lambda one: bool(self._taken.get(one) or self._arriving[one])
        broker.when_rows_change(self._rows_changed)
        broker.add_busy_tabs(self._in_use)
        for browser in broker.browsers.values():
            browser.holders = self._holders

    async def take(self, agent: AgentId, session: Session, ear: SeatEar) -> BrokerSeat:
        """Connect a CDP client to the session and return its seat.

        agent: the agent of the session's token, which the client acts as.
        ear: receives what the browser and the core have to tell the client.
        """
        policy.check_devtools(self._broker, agent, session)
        self._arriving[session.id] += 1
        try:
            return await self._seated(agent, session, ear)
        finally:
            self._arriving[session.id] -= 1

    async def _seated(self, agent: AgentId, session: Session, ear: SeatEar) -> BrokerSeat:
        browser, driver = await self._tapped(session)
        await secret_documents.check_session_left(self._broker, session.id)
        try:
            jar = self._broker.decide(core.request_jar, agent=agent, session=session.id)
        except core.ConsentNeeded as refusal:
            raise self._broker.ask_person(refusal) from None
        context = await browser.jars.handle(jar.id)
        is_shared = jar.policy is JarPolicy.SHARED
        seat = BrokerSeat(
            self, self._broker, agent, session.id, ear, None if is_shared else context
        )
        seat.tap = await driver.open_tap(seat)
        now = self._broker.state.sessions.get(session.id)
        # A new session may have the same id by now; its group differs.
        if now is None or now.group != session.group:
            driver.close_tap(seat.tap)
            raise SessionGone("The session ended.")
        self._taken.setdefault(session.id, []).append(seat)
        seat.stay(self._callers.calling(agent))
        seat.note("protocol client connected")
        return seat

    async def look(self, agent: AgentId, session: Session) -> SessionLook:
        policy.check_devtools(self._broker, agent, session)
        _, driver = await self._tapped(session)
        return SessionLook(self._broker, session.id, driver)

    async def _tapped(self, session: Session) -> tuple[Browser, ProtocolDriver]:
        """Start the session's browser if needed, and return it with its driver."""
        browser = self._broker.browser(session.browser)
        driver = browser.driver
        if not isinstance(driver, ProtocolDriver):
            raise Unsupported(
                f"{session.browser} does not speak the DevTools protocol.",
                hint="Open a session in chromium, or use the session through MCP or HTTP.",
            )
        await browser.ready()
        return browser, driver

    def left(self, seat: BrokerSeat) -> None:
        seats = self._taken.get(seat.session, [])
        if seat in seats:
            seats.remove(seat)
            if not seats:
                del self._taken[seat.session]

    def is_for(self, folder: Path, session: SessionId) -> bool:
        """Return True if clients of the session may download into that temporary folder.

        A folder that the client made for its downloads is empty when the client first names it. A
        folder with files may belong to another program.
        """
        known = self._folders.setdefault(session, set())
        with suppress(OSError):
            if folder not in known and folder.stat().st_uid == os.getuid():
                known |= set() if any(folder.iterdir()) else {folder}
        return folder in known

    def _in_use(self) -> Iterator[TabId]:
        """Yield all tabs of sessions with a CDP client: the client may be attached to any of them,
        and would not notice that the tab was parked."""
        for session in self._taken:
            yield from (tab.id for tab in self._broker.state.tabs_in(session))

    def _holders(self, tab: TabHandle) -> frozenset[ProtocolTap]:
        """Return the taps of the clients that want to attach to a new tab before it runs."""
        seats = (seat for seats in self._taken.values() for seat in seats)
        return frozenset(seat.tap for seat in seats if seat.waits_for(tab))

    def _rows_changed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.table == Tab.table:
                self._tab_changed(TabId(change.key), change.row)
            elif change.table == Policy.table:
                for seat in [seat for seats in self._taken.values() for seat in seats]:
                    seat.policy_changed()
            elif change.table == Session.table:
                session = SessionId(change.key)
                for seat in list(self._taken.get(session, [])):
                    seat.session_changed(change.row)
                if change.row is None:
                    self._folders.pop(session, None)

    def _tab_changed(self, tab: TabId, row: object) -> None:
        for seats in list(self._taken.values()):
            for seat in list(seats):
                seat.tab_changed(tab, row if isinstance(row, Tab) else None)


class SessionLook:
    """A session's browser and tabs, read without taking a seat. See ``api.protocol.Look``."""

    def __init__(self, broker: Broker, session: SessionId, driver: ProtocolDriver) -> None:
        self._broker = broker
        self._session = session
        self._driver = driver

    async def version(self) -> Json:
        return await self._driver.version()

    async def targets(self) -> list[Json]:
        infos = await self._driver.targets()
        # Read the rows after the browser's reply, so that a tab closed meanwhile is left out.
        own = {row.handle for row in self._broker.state.tabs_in(self._session)}
        return [self._broker.redactor.data(info) for info in infos if info["targetId"] in own]


class BrokerSeat:
    """The place of one CDP client in a session. Implements ``api.protocol.Seat`` for the front end
    and ``ProtocolEar`` for the driver."""

    tap: ProtocolTap

    def __init__(
        self,
        seats: Seats,
        broker: Broker,
        agent: AgentId,
        session: SessionId,
        ear: SeatEar,
        context: str | None,
    ) -> None:
        self.session = session
        self.context = context
        self._seats = seats
        self._broker = broker
        self._agent = agent
        self._ear = ear
        self._browser = broker.browser(broker.state.sessions[session].browser)
        self._tabs: dict[TabId, TabHandle] = {}
        self._made: dict[str, JarId] = {}
        self._waits_for: set[TabHandle] = set()
        self._used_at: dict[str, float] = {}
        self._staying = ExitStack()
        self._is_over = False

    def stay(self, call: AbstractContextManager[None]) -> None:
        """Enter ``call`` until the client leaves, so that the lease of its agent is renewed."""
        self._staying.enter_context(call)

    # --- what the front end does ---------------------------------------------------------------

    @property
    def root(self) -> str:
        return self.tap.session

    def show_tabs(self) -> None:
        """Report the tabs that the session already has."""
        for row in self._broker.state.tabs_in(self.session):
            self.tab_changed(row.id, row)

    def send(self, key: Hashable, method: str, params: Json, session: str = "") -> None:
        self.tap.send(key, method, params, session)

    def touched(self) -> None:
        """Note that the client sent a message: it is alive, and its cookies may have changed."""
        self._broker.seen_at[self._agent] = self._broker.clock.now()
        jar = self._broker.state.jar_of(self.session)
        if jar is not None:
            self._broker.jar_backups.may_have_changed(jar.id)

    @property
    def unanswered_bytes(self) -> int:
        return self.tap.unanswered_bytes

    def used(self, target: str) -> None:
        """Mark the tab as most recently used, at most once a second: one click of a client consists
        of dozens of messages."""
        now = self._broker.clock.now()
        if now - self._used_at.get(target, -USED_SECONDS) < USED_SECONDS:
            return
        tab = self._broker.state.tab_with(self._browser.id, TabHandle(target))
        if tab is None or tab.session != self.session:
            return
        self._used_at[target] = now
        # If the tab already is the session's most recently used one, write nothing. While a client
        # is connected, its tabs are not parked, so only the order inside the session matters.
        if self._broker.state.tabs_in(self.session)[-1].id != tab.id:
            with suppress(RoostError):  # the tab crashed or closes: the browser tells the client
                self._broker.decide(
                    core.use_tab, self._agent, self.session, tab.id, action="use", acts=False
                )

    def waits_for(self, tab: TabHandle) -> bool:
        """Return True if the client wants to attach to that tab before its page runs."""
        return tab in self._waits_for

    def release(self, target: str) -> None:
        self._waits_for.discard(TabHandle(target))
        self._driver.release(TabHandle(target), self.tap)

    def owns_frame(self, frame: str) -> bool:
        return self._driver.tab_of(frame) in self._tabs.values()

    def own_proxy(self, context: str) -> str | None:
        session = self._broker.state.sessions.get(self.session)
        proxy = self._browser.jars.proxy(self._made.get(context))
        # Behind domain lists, ``upstream`` is the person's proxy, and not the client's to unlock.
        if proxy is None or session is None or session.allow or session.deny:
            return None
        return proxy.upstream

    def give_proxy_password(self, context: str | None, password: str | None) -> None:
        proxy = self._browser.jars.proxy(self._made.get(context or ""))
        if proxy is not None:
            proxy.answer(password)

    def checked_url(self, url: str) -> str:
        session = self._row()
        self._broker.check_not_own(url)
        return checked_devtools_url(url, session.allow, session.deny)

    def checked_upload(self, path: str) -> str:
        return str(self._folders().to_read(path, "files"))

    def checked_folder(self, path: str) -> str:
        """Return the folder if downloads may go there: one of the session's folders, or a temporary
        folder that a client made."""
        real = Path(os.path.realpath(path))
        temporary = Path(os.path.realpath(tempfile.gettempdir()))
        home = self._broker.files.parent.resolve()
        is_temporary = real != temporary and real.is_relative_to(temporary)
        if (
            is_temporary
            and not real.is_relative_to(home)
            and self._seats.is_for(real, self.session)
        ):
            return str(real)
        return str(self._folders().to_write(f"{path}/_", "downloadPath").parent)

    async def open_tab(self, context: str | None) -> str:
        jar = None if context is None or context == self.context else self._jar(context)
        opened = await page_work.open_tab(self._broker, self._agent, self.session, BLANK, jar=jar)
        self.note("tab opened by a protocol client", tab=opened.tab.id)
        return str(self._broker.handle(opened.tab.id))

    async def go_to(self, target: str, url: str) -> None:
        with suppress(RoostError):  # the client learns of a failure from the page's own events
            await self._browser.driver.page(TabHandle(target)).navigate(self.checked_url(url))

    async def close_tab(self, target: str) -> None:
        tab = self._broker.state.tab_with(self._browser.id, TabHandle(target))
        if tab is None or tab.session != self.session:
            raise TabGone("There is no such tab.")
        self._broker.decide(core.request_close, self._agent, self.session, tab.id)
        self.note("tab closed by a protocol client", tab=tab.id)

    async def make_context(self, proxy: str | None) -> str:
        """Make a jar beside the session's own and return its handle. It ends with this seat."""
        session = self._row()
        if proxy is not None and (session.allow or session.deny):
            raise JarUnavailable(
                "This session has domain lists, which a proxy of your own would lead around.",
                hint="Make the context without a proxy.",
            )
        ports = {int(port) for port in _PORT.findall(proxy or "")}
        if ports & self._browser.jars.own_ports():
            raise JarUnavailable(
                "A port of that proxy is one where Roost itself listens.",
                hint="Name a proxy on another port.",
            )
        made = self._broker.decide(
            core.request_jar, agent=self._agent, session=self.session, beside=True
        )
        jar = made.id
        try:
            context = await self._browser.jars.handle(jar, proxy=proxy)
        except BaseException:  # also if the client left meanwhile: only this call can release it
            self._broker.hear(ev.JarReleased(jar))
            raise
        if self._is_over:
            self._broker.hear(ev.JarReleased(jar))
            raise SessionGone("The session ended.")
        self._made[context] = jar
        own = self._browser.jars.proxy(jar)
        if own is not None and self.own_proxy(context) is not None:
            own.ask = lambda site, challenge: self._ear.proxy_asked(context, site, challenge)
        return context

    async def remove_context(self, context: str) -> None:
        self._broker.hear(ev.JarReleased(self._jar(context)))
        del self._made[context]

    async def use_clipboard(
        self, target: str, use: str, press: Callable[[bool], Awaitable[None]]
    ) -> None:
        tab, driver = TabHandle(target), self._browser.driver
        if not isinstance(driver, ClipboardDriver) or driver.clipboard is None:
            raise Unsupported(NO_CLIPBOARD)
        mine = driver.clipboard.of(tab)
        if mine is None or tab not in self._tabs.values():
            raise TabGone("There is no such tab.")
        await driver.clipboard.use(self._browser.driver.page(tab), mine, Use(use), press)

    async def close(self) -> None:
        if self._is_over:
            return
        self._leave()
        for jar in self._made.values():
            self._broker.hear(ev.JarReleased(jar))
        self._driver.close_tap(self.tap)
        self.note("protocol client gone")
        with suppress(RoostError):  # the jar or its browser may be gone by now
            await self._browser.put_downloads(self.session)

    # --- what the browser says -----------------------------------------------------------------

    def answered(self, key: Hashable, frame: bytes) -> None:
        self._ear.answered(key, frame)

    def heard(self, session: str, frame: bytes) -> None:
        self._ear.heard(session, frame)

    def ended(self) -> None:
        if not self._is_over:
            self._leave()
            self._ear.ended()

    # --- what the core says --------------------------------------------------------------------

    def tab_changed(self, tab: TabId, row: Tab | None) -> None:
        """Tell the client that a tab came to its session or left it. A driver's report of a new
        tab is answered with the clients that wait for it (``Seats``)."""
        before = self._tabs.get(tab)
        now = row.handle if row is not None and row.session == self.session else None
        if before == now:
            return
        if before is not None:
            del self._tabs[tab]
            self._used_at.pop(before, None)
            self._waits_for.discard(before)
            self._ear.tab_went(before)
        if now is not None:
            self._tabs[tab] = now
            if self._ear.tab_came(now):
                self._waits_for.add(now)

    def session_changed(self, row: object) -> None:
        if isinstance(row, Session):
            self._ear.paused(row.paused)
            self.policy_changed()
            return
        self._end()

    def policy_changed(self) -> None:
        """End the client if the session's policy does not let it stay."""
        if policy.denies_devtools(self._broker, self._agent, self.session):
            self._end()

    def _end(self) -> None:
        self._leave()
        self._driver.close_tap(self.tap)
        self._ear.ended()

    def note(self, kind: str, **data: str) -> None:
        about = {"agent": shown(self._agent), "session": self.session, **data}
        self._broker.audit.write(self._broker.clock.now(), kind, about)

    def _leave(self) -> None:
        self._is_over = True
        self._seats.left(self)
        self._staying.close()

    def _row(self) -> Session:
        session = self._broker.state.sessions.get(self.session)
        if session is None:
            raise SessionGone("The session ended.")
        return session

    def _jar(self, context: str) -> JarId:
        jar = self._made.get(context)
        if jar is None:
            raise JarUnavailable("There is no such context.")
        return jar

    def _folders(self) -> Folders:
        state, files = self._broker.state, self._broker.files
        rows = (state.agents[agent] for agent in state.agents_in(self.session))
        others = [folder for row in rows for folder in row.folders]
        return Folders(files.parent, files / self.session, others)

    @property
    def _driver(self) -> ProtocolDriver:
        driver = self._browser.driver
        assert isinstance(driver, ProtocolDriver)
        return driver
