"""Hold all state of the core: rows, and the indexes derived from them.

``put`` and ``drop`` are the only two ways to change a row. Each updates the indexes and records the
change for the journal, and ``put`` sets the alarm for the row's deadline. No caller can forget one
of the three, and reading the journal back with ``put`` rebuilds exactly the same state.

A decision begins with ``begin`` and collects its changes and effects here. ``roll_back`` undoes
everything since ``begin``: a decision that failed by a bug leaves no trace.
"""

from __future__ import annotations

import heapq
from collections import Counter as Tally
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar, cast

from roost.core.addresses import short_address
from roost.core.effects import Effect
from roost.core.rows import (
    Agent,
    Approval,
    Batch,
    CaptureTurn,
    Consent,
    Counter,
    Jar,
    Loop,
    Member,
    PageConditions,
    Policy,
    Question,
    Reservation,
    Row,
    Session,
    SlotRequest,
    Tab,
)
from roost.core.settings import CoreSettings
from roost.core.slots import Pool
from roost.vocabulary import (
    OPERATOR,
    AgentId,
    BrowserId,
    Color,
    JarId,
    JarPolicy,
    Lifetime,
    SessionId,
    TabHandle,
    TabId,
    shown,
)

R = TypeVar("R", bound=Row)
ANY_AGENT = "another agent"
"""Shown as the owner of a tab whose session has no agent."""


class Change(NamedTuple):
    """One change for the journal: the row's new value, or None if the row was dropped.

    before: the row that was replaced or dropped, or None for a new row.
    """

    table: str
    key: str
    row: Row | None
    before: Row | None = None


class State:
    """Rows and indexes. Read them freely; change them only through ``put`` and ``drop``."""

    def __init__(self, settings: CoreSettings) -> None:
        self.settings = settings
        self.now = 0.0
        """The time of the decision that is being made."""
        self.effects: list[Effect] = []
        self.changes: list[Change] = []
        """The effects and changes since ``begin``, in order."""
        self.captures: dict[TabId, tuple[CaptureTurn, ...]] = {}
        """Each tab's line of captures. The first one has its turn. Not in the journal."""
        self.popups: dict[TabId, tuple[float, ...]] = {}
        """Times of each tab's latest popups. Not in the journal, because a burst lasts one
        second."""
        self.deeds: dict[SessionId, tuple[float, ...]] = {}
        """Times of the actions of the last minute, in sessions whose policy limits them. Not in the
        journal, because a minute is short."""
        self._unjournaled = (self.captures, self.popups, self.deeds)
        """The three tables as they were at ``begin``, for a rollback. The first change since then
        copies them."""
        self._rows: dict[str, dict[str, Row]] = {}
        self.agents = cast(dict[AgentId, Agent], self._table(Agent))
        self.sessions = cast(dict[SessionId, Session], self._table(Session))
        self.jars = cast(dict[JarId, Jar], self._table(Jar))
        self.tabs = cast(dict[TabId, Tab], self._table(Tab))
        self.requests = cast(dict[SessionId, SlotRequest], self._table(SlotRequest))
        self.reservations = cast(dict[SessionId, Reservation], self._table(Reservation))
        self.loops = cast(dict[SessionId, Loop], self._table(Loop))
        self.batches = cast(dict[str, Batch], self._table(Batch))
        self.questions = cast(dict[SessionId, Question], self._table(Question))
        self.approvals = cast(dict[str, Approval], self._table(Approval))
        self.policies = cast(dict[str, Policy], self._table(Policy))
        self.page_conditions = cast(dict[str, PageConditions], self._table(PageConditions))
        self._consents = cast(dict[str, Consent], self._table(Consent))
        self._members = cast(dict[str, Member], self._table(Member))
        self._counters = cast(dict[str, Counter], self._table(Counter))
        self._clear_indexes()

    def _clear_indexes(self) -> None:
        self.pools: dict[BrowserId, Pool] = {}
        self.colors: Tally[Color] = Tally()
        """Number of sessions with each colour."""
        self.clones = 0
        """Sessions that have or will have a cloned jar, plus cloned jars not yet removed."""
        self.freed: set[BrowserId] = set()
        """Browsers whose pool may have gained room or a tab to park since ``serve_queues`` last
        ran."""
        self._session_agents: dict[SessionId, dict[AgentId, Member]] = {}
        self._agent_sessions: dict[AgentId, dict[SessionId, Member]] = {}
        self._aliases: dict[tuple[AgentId, str], SessionId] = {}
        self._session_tabs: dict[SessionId | None, dict[TabId, None]] = {}
        self._jar_tabs: dict[JarId, dict[TabId, None]] = {}
        self._session_jar: dict[SessionId, JarId] = {}
        self._jars_beside: dict[SessionId, dict[JarId, None]] = {}
        self._session_digests: dict[str, SessionId] = {}
        self._children: dict[SessionId, dict[SessionId, None]] = {}
        self._subagents: dict[AgentId, dict[AgentId, None]] = {}
        self._conversations: dict[tuple[AgentId, str], AgentId] = {}
        self._pages: dict[tuple[SessionId, str], TabId] = {}
        self._tab_handles: dict[tuple[BrowserId, TabHandle], TabId] = {}
        self._jar_handles: dict[tuple[BrowserId, str], JarId] = {}
        self._alarms: list[tuple[float, str, str]] = []
        """Heap of (deadline, table, key). Outdated entries stay until they are due."""
        self._uses = 0
        self._turns = 0

    # --- one decision --------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """Begin a decision at ``now``. What was decided before can no longer be undone."""
        self.now = now
        self.effects = []
        self.changes = []
        self._unjournaled = (self.captures, self.popups, self.deeds)

    def emit(self, effect: Effect) -> None:
        """Order something that the broker performs once the changes are in the journal."""
        self.effects.append(effect)

    def roll_back(self) -> None:
        """Undo everything since ``begin``. Rows are restored and indexes counted anew."""
        for change in reversed(self.changes):
            if change.before is None:
                self._rows[change.table].pop(change.key, None)
            else:
                self._rows[change.table][change.key] = change.before
        rows = list(self.rows())
        for table in self._rows.values():
            table.clear()
        self._clear_indexes()
        self._put_all(rows)
        self.captures, self.popups, self.deeds = self._unjournaled
        self.begin(self.now)

    # --- changing ------------------------------------------------------------------------------

    def put(self, row: Row) -> None:
        """Add the row, or replace the one with its key."""
        table = self._table(type(row))
        before = table.get(row.key)
        if before == row:
            return
        self.changes.append(Change(row.table, row.key, row, before))
        # A replaced request stays indexed, so that it keeps its place in the queue.
        if before is not None and not isinstance(row, SlotRequest):
            self._unindex(before)
        table[row.key] = row
        self._index(row, before)
        if row.deadline is not None and (before is None or before.deadline != row.deadline):
            heapq.heappush(self._alarms, (row.deadline, row.table, row.key))

    def drop(self, row: Row) -> None:
        """Remove the row with this row's key, if there still is one."""
        table = self._table(type(row))
        current = table.get(row.key)
        if current is None:
            return
        self.changes.append(Change(row.table, row.key, None, current))
        del table[row.key]
        self._unindex(current)
        if isinstance(current, Tab):
            _remove(self._session_tabs, current.session, current.id)
            if current.id in self.popups:
                self.put_popups(current.id, ())

    def put_captures(self, tab: TabId, line: tuple[CaptureTurn, ...]) -> None:
        """Replace the tab's line of captures; an empty one is dropped."""
        if self.captures is self._unjournaled[0]:
            self.captures = dict(self.captures)
        _put_or_drop(self.captures, tab, line)

    def put_popups(self, tab: TabId, times: tuple[float, ...]) -> None:
        """Replace the times of the tab's latest popups; none are dropped."""
        if self.popups is self._unjournaled[1]:
            self.popups = dict(self.popups)
        _put_or_drop(self.popups, tab, times)

    def put_deeds(self, session: SessionId, times: tuple[float, ...]) -> None:
        """Replace the times of the session's latest actions; none are dropped."""
        if self.deeds is self._unjournaled[2]:
            self.deeds = dict(self.deeds)
        _put_or_drop(self.deeds, session, times)

    def _put_all(self, rows: Iterable[Row]) -> None:
        # Indexes rely on insertion order: order of use for tabs, order of turn for requests.
        for row in sorted(rows, key=_order):
            self.put(row)

    def next_use(self) -> int:
        """Return the next value of the use counter, which orders tabs by their last use."""
        self._uses += 1
        return self._uses

    def next_turn(self) -> int:
        """Return the next turn in the queue for slots."""
        self._turns += 1
        return self._turns

    def next_number(self, name: str) -> int:
        """Return the next number of that sequence.

        No number is used twice, not even after a restart.
        """
        before = self._counters.get(name)
        counter = Counter(name=name, value=1 if before is None else before.value + 1)
        self.put(counter)
        return counter.value

    # --- reading -------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        for table in self._rows.values():
            yield from table.values()

    def pool(self, browser: BrowserId) -> Pool:
        pool = self.pools.get(browser)
        if pool is None:
            pool = self.pools[browser] = Pool(self.settings.limit(browser))
        return pool

    def agents_in(self, session: SessionId) -> Iterable[AgentId]:
        return self._session_agents.get(session, {}).keys()

    def members_in(self, session: SessionId) -> list[Member]:
        return list(self._session_agents.get(session, {}).values())

    def memberships(self, agent: AgentId) -> list[Member]:
        return list(self._agent_sessions.get(agent, {}).values())

    def member(self, agent: AgentId, session: SessionId) -> Member | None:
        return self._agent_sessions.get(agent, {}).get(session)

    def aliased(self, agent: AgentId, alias: str) -> SessionId | None:
        """Return the session that this agent calls by that alias."""
        return self._aliases.get((agent, alias))

    def children(self, session: SessionId) -> list[Session]:
        """Return the sessions of sub-agents that stand below that session."""
        return [self.sessions[child] for child in self._children.get(session, {})]

    def subagents(self, parent: AgentId) -> list[AgentId]:
        """Return the sub-agents and further conversations of that agent."""
        return list(self._subagents.get(parent, {}))

    def parents(self, agent: AgentId) -> list[AgentId]:
        """Return a sub-agent's parent, that agent's parent and so on."""
        found: list[AgentId] = []
        row = self.agents.get(agent)
        while row is not None and row.parent is not None and row.is_child:
            found.append(row.parent)
            row = self.agents.get(row.parent)
        return found

    def subagent(self, parent: AgentId, conversation: str) -> AgentId | None:
        """Return the one of them that the client knows by that id."""
        return self._conversations.get((parent, conversation))

    def tabs_in(self, session: SessionId | None) -> list[Tab]:
        """Return the session's tabs, least recently used first."""
        return [self.tabs[tab] for tab in self._session_tabs.get(session, {})]

    def is_latest(self, tab: Tab) -> bool:
        """Return whether this tab is already its session's most recently used one.

        Tabs of named sessions compete with other sessions' tabs for parking, so such a tab must be
        the most recently used one of all sessions.
        """
        if next(reversed(self._session_tabs.get(tab.session, {})), None) != tab.id:
            return False
        session = None if tab.session is None else self.sessions.get(tab.session)
        is_named = session is not None and session.lifetime is Lifetime.NAMED
        return tab.used == self._uses or not is_named

    def owner_shown(self, tab: Tab) -> str:
        """Return the owner of a tab as other agents may see it."""
        if tab.session is None:
            return shown(OPERATOR)
        return next((shown(agent) for agent in self.agents_in(tab.session)), ANY_AGENT)

    def tab_count(self, session: SessionId) -> int:
        return len(self._session_tabs.get(session, {}))

    def tabs_with(self, jar: JarId) -> list[Tab]:
        """Return all tabs in that jar, in whichever session they are."""
        return [self.tabs[tab] for tab in self._jar_tabs.get(jar, {})]

    def session_shown_as(self, browser: BrowserId, group: str | None) -> Session | None:
        """Return the session whose tabs that browser shows in that group."""
        if group is None:
            return None
        session = self.sessions.get(SessionId(group.rpartition("@")[0]))
        is_it = session is not None and session.group == group and session.browser == browser
        return session if is_it else None

    def jar_of(self, session: SessionId) -> Jar | None:
        """Return the session's own jar, or None if the session has none yet."""
        jar = self._session_jar.get(session)
        return None if jar is None else self.jars[jar]

    def jars_of(self, session: SessionId) -> list[Jar]:
        """Return the session's own jar and the extra jars that CDP clients made beside it."""
        own = self._session_jar.get(session)
        beside = self._jars_beside.get(session, {})
        return [self.jars[jar] for jar in (*([] if own is None else [own]), *beside)]

    def tab_with(self, browser: BrowserId, handle: TabHandle | None) -> Tab | None:
        """Return the tab that the browser knows by that handle.

        Browsers never use a handle twice.
        """
        tab = None if handle is None else self._tab_handles.get((browser, handle))
        return None if tab is None else self.tabs[tab]

    def jar_with(self, browser: BrowserId, handle: str | None) -> Jar | None:
        """Return the jar that the browser knows by that handle.

        Never returns a shared jar: its handle stands for the browser's own cookies, which many
        sessions use.
        """
        jar = None if handle is None else self._jar_handles.get((browser, handle))
        return None if jar is None else self.jars[jar]

    def session_with(self, token_digest: str) -> Session | None:
        """Return the session whose token has that digest."""
        session = self._session_digests.get(token_digest)
        return None if session is None else self.sessions[session]

    def page(self, session: SessionId, name: str) -> Tab | None:
        """Return the tab that the session opened under that name."""
        tab = self._pages.get((session, name))
        return None if tab is None else self.tabs[tab]

    def is_attended(self, session: SessionId) -> bool:
        """Return whether any agent of the session is connected or holds a lease."""
        return any(
            agent.connected or agent.lease_until is not None
            for agent in map(self.agents.__getitem__, self.agents_in(session))
        )

    def consent(self, browser: BrowserId, known_as: str) -> Consent | None:
        """Return the person's answer about agents of that client program, or the open question."""
        found = self._consents.get(Consent(browser=browser, name=known_as).key)
        return found if found is not None and found.called else None

    def consents(self, browser: BrowserId) -> list[Consent]:
        """Return all questions to the person and their answers for that browser."""
        return [row for row in self._consents.values() if row.browser == browser and row.called]

    def next_deadline(self) -> float | None:
        """Return when the core needs ``TimePassed``.

        May be too early: deadlines can move to a later time.
        """
        return self._alarms[0][0] if self._alarms else None

    def remind(self, row: Row, at: float) -> None:
        """Set another alarm for a row whose deadline has passed but could not be handled yet."""
        heapq.heappush(self._alarms, (at, row.table, row.key))

    def due(self) -> Iterator[Row]:
        """Yield the rows whose deadline has come, earliest first, and clear their alarms.

        Skips rows that were dropped or whose deadline moved to a later time.
        """
        while self._alarms and self._alarms[0][0] <= self.now:
            _, table, key = heapq.heappop(self._alarms)
            row = self._rows[table].get(key)
            if row is not None and row.deadline is not None and row.deadline <= self.now:
                yield row

    # --- indexes -------------------------------------------------------------------------------

    def _table(self, row_type: type[R]) -> dict[str, R]:
        return cast(dict[str, R], self._rows.setdefault(row_type.table, {}))

    def _index(self, row: Row, before: Row | None) -> None:
        if isinstance(row, Tab):
            if row.holds_slot:
                self._hold(row)
                # A waiting session may get the slot of a popup in an unattended session.
                self.freed.add(row.browser)
            if row.handle is not None:
                self._tab_handles[row.browser, row.handle] = row.id
            if row.page is not None and row.session is not None:
                self._pages[row.session, row.page] = row.id
            if row.jar is not None:
                self._jar_tabs.setdefault(row.jar, {})[row.id] = None
            self._place(row, before if isinstance(before, Tab) else None)
        elif isinstance(row, Member):
            self._session_agents.setdefault(row.session, {})[row.agent] = row
            self._agent_sessions.setdefault(row.agent, {})[row.session] = row
            if row.alias is not None:
                self._aliases[row.agent, row.alias] = row.session
        elif isinstance(row, Agent):
            if row.parent is not None:
                self._subagents.setdefault(row.parent, {})[row.id] = None
                self._conversations[row.parent, row.conversation] = row.id
        elif isinstance(row, Session):
            if row.parent is not None:
                self._children.setdefault(row.parent, {})[row.id] = None
            self.colors[row.color] += 1
            self.clones += row.policy is JarPolicy.CLONE
            if row.token_digest is not None:
                self._session_digests[row.token_digest] = row.id
        elif isinstance(row, Jar):
            self.clones += row.session is None and row.policy is JarPolicy.CLONE
            if row.session is not None and row.beside:
                self._jars_beside.setdefault(row.session, {})[row.id] = None
            elif row.session is not None:
                self._session_jar[row.session] = row.id
            if row.handle is not None and row.policy is not JarPolicy.SHARED:
                self._jar_handles[row.browser, row.handle] = row.id
        elif isinstance(row, SlotRequest):
            self.pool(row.browser).queue[row.session] = row
            if before is None:  # ``put`` does not unindex a request that it replaces
                self.pool(row.browser).stake(row.session, 1)
            self.freed.add(row.browser)
            self._turns = max(self._turns, row.turn)
        elif isinstance(row, Reservation):
            self.pool(row.browser).reserved += 1
            self.pool(row.browser).stake(row.session, 1)

    def _hold(self, tab: Tab) -> None:
        pool = self.pool(tab.browser)
        pool.hold(tab.session, 1)
        session = self.sessions.get(tab.session) if tab.session is not None else None
        if session is not None and session.lifetime is Lifetime.NAMED:
            pool.named[session.id] = None

    def _place(self, tab: Tab, before: Tab | None) -> None:
        """Keep each session's tabs in order of use."""
        if before is not None:
            if (before.session, before.used) == (tab.session, tab.used):
                return
            _remove(self._session_tabs, before.session, before.id)
        self._session_tabs.setdefault(tab.session, {})[tab.id] = None
        self._uses = max(self._uses, tab.used)

    def _unindex(self, row: Row) -> None:
        if isinstance(row, Tab):
            if row.handle is not None:
                del self._tab_handles[row.browser, row.handle]
            if row.page is not None and row.session is not None:
                del self._pages[row.session, row.page]
            if row.jar is not None:
                _remove(self._jar_tabs, row.jar, row.id)
            if row.holds_slot:
                self.pool(row.browser).hold(row.session, -1)
                self.freed.add(row.browser)
        elif isinstance(row, Member):
            _remove(self._session_agents, row.session, row.agent)
            _remove(self._agent_sessions, row.agent, row.session)
            if row.alias is not None:
                del self._aliases[row.agent, row.alias]
        elif isinstance(row, Agent):
            if row.parent is not None:
                _remove(self._subagents, row.parent, row.id)
                del self._conversations[row.parent, row.conversation]
        elif isinstance(row, Session):
            if row.parent is not None:
                _remove(self._children, row.parent, row.id)
            self.colors[row.color] -= 1
            self.clones -= row.policy is JarPolicy.CLONE
            if row.token_digest is not None:
                del self._session_digests[row.token_digest]
        elif isinstance(row, Jar):
            self.clones -= row.session is None and row.policy is JarPolicy.CLONE
            if row.session is not None and row.beside:
                _remove(self._jars_beside, row.session, row.id)
            elif row.session is not None:
                del self._session_jar[row.session]
            if row.handle is not None and row.policy is not JarPolicy.SHARED:
                del self._jar_handles[row.browser, row.handle]
        elif isinstance(row, SlotRequest):
            del self.pool(row.browser).queue[row.session]
            self.pool(row.browser).stake(row.session, -1)
        elif isinstance(row, Reservation):
            self.pool(row.browser).reserved -= 1
            self.pool(row.browser).stake(row.session, -1)
            self.freed.add(row.browser)


def restored(settings: CoreSettings, rows: Iterable[Row]) -> State:
    """Rebuild the state from the rows of a journal.

    Drops rows whose session or agent could not be read, because the core relies on every reference
    being valid.
    """
    state = State(settings)
    state._put_all(map(_shortened, rows))
    for row in list(state.rows()):
        if _dangles(state, row):
            state.drop(row)
    for session in list(state.sessions.values()):
        if session.parent is not None and session.parent not in state.sessions:
            state.put(replace(session, parent=None))
    for agent in list(state.agents.values()):
        if agent.parent is not None and agent.parent not in state.agents:
            # An agent on no connection: the grace after a restart ends it.
            state.put(replace(agent, parent=None, is_child=False, idle_until=None))
    state.begin(0.0)
    return state


def _shortened(row: Row) -> Row:
    """Shorten a tab's address: earlier releases stored addresses of any length."""
    return replace(row, url=short_address(row.url)) if isinstance(row, Tab) else row


def _dangles(state: State, row: Row) -> bool:
    """Return whether the row refers to a session or agent that does not exist."""
    match row:
        case Member() | SlotRequest() | Reservation():
            return row.session not in state.sessions or row.agent not in state.agents
        case Loop() | Question():
            return row.session not in state.sessions
        case Approval():
            return row.session is not None and row.session not in state.sessions
        case Batch():
            return row.agent not in state.agents
        case Tab():
            return row.session is not None and row.session not in state.sessions
        case Jar():
            return row.session is not None and row.session not in state.sessions
        case _:
            return False


def _order(row: Row) -> int:
    if isinstance(row, Tab):
        return row.used
    return row.turn if isinstance(row, SlotRequest) else 0


A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


def _put_or_drop(table: dict[A, tuple[B, ...]], key: A, values: tuple[B, ...]) -> None:
    if values:
        table[key] = values
    else:
        table.pop(key, None)


def _remove(index: dict[A, dict[B, C]], outer: A, inner: B) -> None:
    entries = index[outer]
    del entries[inner]
    if not entries:
        del index[outer]
