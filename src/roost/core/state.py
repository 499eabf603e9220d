"""Hold all state of the core: rows, and the indexes derived from them.

``put`` and ``drop`` are the only two ways to change a row. Each updates the indexes and records the
change for the journal, and ``put`` sets the alarm for the row's deadline. No caller can forget one
of the three, and reading the journal back with ``put`` rebuilds exactly the same state.
"""

from __future__ import annotations

import heapq
from collections import Counter as Tally
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from roost.core.addresses import short_address
from roost.core.rows import (
    Agent,
    Consent,
    Counter,
    Jar,
    Loop,
    Member,
    Reservation,
    Row,
    Session,
    SlotRequest,
    Tab,
)
from roost.vocabulary import (
    CLONED_JARS,
    POOL_LIMIT,
    TAB_HEAVY_ABOVE,
    AgentId,
    BrowserId,
    Color,
    JarId,
    JarPolicy,
    Lifetime,
    Reads,
    SessionId,
    TabHandle,
    TabId,
)

R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The settings the core decides by.

    The broker passes them at each start; the journal does not store them.

    default_browser: browser of a new session whose caller names none.
    pool_limits: number of slots per browser (else ``POOL_LIMIT``); 0 means no limit.
    default_policy: jar policy of new sessions per browser (else fresh).
    reads: whether agents may read each other's tabs.
    clones: the maximum number of cloned jars.
    grouped: browsers that show sessions as tab groups.
    personal: browsers that belong to the person. The core asks the person before an agent may use
        one.
    """

    default_browser: BrowserId
    pool_limits: Mapping[BrowserId, int] = field(default_factory=dict)
    default_policy: Mapping[BrowserId, JarPolicy] = field(default_factory=dict)
    reads: Reads = Reads.PRIVATE
    clones: int = CLONED_JARS
    grouped: frozenset[BrowserId] = frozenset()
    personal: frozenset[BrowserId] = frozenset()

    def limit(self, browser: BrowserId) -> int:
        return self.pool_limits.get(browser, POOL_LIMIT)

    def policy(self, browser: BrowserId) -> JarPolicy:
        return self.default_policy.get(browser, JarPolicy.FRESH)


@dataclass(slots=True)
class Pool:
    """Count one browser's slots as rows come and go."""

    limit: int
    held: int = 0
    reserved: int = 0
    holders: dict[SessionId | None, int] = field(default_factory=dict)
    """Slots held by each session (key None: by tabs that belong to no session)."""
    heavy: dict[SessionId, None] = field(default_factory=dict)
    """Sessions above ``TAB_HEAVY_ABOVE`` slots. Indexed, so that finding them does not scan all
    holders."""
    named: dict[SessionId, None] = field(default_factory=dict)
    """Named sessions that hold a slot. If unattended, their tabs may be parked for a waiting
    session."""
    queue: dict[SessionId, SlotRequest] = field(default_factory=dict)
    """Slot requests in order of turn. Dicts keep insertion order, and turns only grow."""
    stakes: Tally[SessionId] = field(default_factory=Tally)
    """Sessions that share the slots: each holds a slot, waits for one, or has one reserved."""
    levels: Tally[int] = field(default_factory=Tally)
    """Maps a number of slots to how many sessions hold that many."""

    @property
    def free(self) -> int:
        """Number of slots that are neither held nor reserved. Negative while there is debt."""
        return self.limit - self.held - self.reserved

    @property
    def has_room(self) -> bool:
        return self.limit == 0 or self.free > 0

    def hold(self, session: SessionId | None, slots: int) -> None:
        """Add ``slots`` (negative: give back) to what the session holds, and update all counts."""
        self.held += slots
        before = self.holders.get(session, 0)
        count = before + slots
        if count:
            self.holders[session] = count
        else:
            self.holders.pop(session, None)
        if session is None:
            return
        if before:
            _count(self.levels, before, -1)
        if count:
            _count(self.levels, count, 1)
        self.stake(session, bool(count) - bool(before))
        if count > TAB_HEAVY_ABOVE:
            self.heavy[session] = None
        else:
            self.heavy.pop(session, None)
        if not count:
            self.named.pop(session, None)

    def stake(self, session: SessionId, change: int) -> None:
        """Add ``change`` to the number of reasons why the session counts as sharing the slots."""
        _count(self.stakes, session, change)

    @property
    def shown(self) -> str:
        """Used slots and the limit, as callers see them: ``3/10``."""
        return f"{self.held + self.reserved}/{self.limit or '∞'}"


@dataclass(frozen=True, slots=True)
class Change:
    """One change for the journal: the row's new value, or None if the row was dropped."""

    table: str
    key: str
    row: Row | None


class State:
    """Rows and indexes. Read them freely; change them only through ``put`` and ``drop``."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._rows: dict[str, dict[str, Row]] = {}
        self.agents = cast(dict[AgentId, Agent], self._table(Agent))
        self.sessions = cast(dict[SessionId, Session], self._table(Session))
        self.jars = cast(dict[JarId, Jar], self._table(Jar))
        self.tabs = cast(dict[TabId, Tab], self._table(Tab))
        self.requests = cast(dict[SessionId, SlotRequest], self._table(SlotRequest))
        self.reservations = cast(dict[SessionId, Reservation], self._table(Reservation))
        self.loops = cast(dict[SessionId, Loop], self._table(Loop))
        self._consents = cast(dict[str, Consent], self._table(Consent))
        self._members = cast(dict[str, Member], self._table(Member))
        self._counters = cast(dict[str, Counter], self._table(Counter))

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
        self._pages: dict[tuple[SessionId, str], TabId] = {}
        self._tab_handles: dict[tuple[BrowserId, TabHandle], TabId] = {}
        self._jar_handles: dict[tuple[BrowserId, str], JarId] = {}
        self.popups: dict[TabId, deque[float]] = {}
        """Times of each tab's latest popups. Not in the journal, because a burst lasts one
        second."""
        self._alarms: list[tuple[float, str, str]] = []
        """Heap of (deadline, table, key). Outdated entries stay until they are due."""
        self._changes: list[Change] = []
        self._uses = 0
        self._turns = 0

    # --- changing ------------------------------------------------------------------------------

    def put(self, row: Row) -> None:
        """Add the row, or replace the one with its key."""
        table = self._table(type(row))
        before = table.get(row.key)
        if before == row:
            return
        # A replaced request stays indexed, so that it keeps its place in the queue.
        if before is not None and not isinstance(row, SlotRequest):
            self._unindex(before)
        table[row.key] = row
        self._index(row, before)
        self._changes.append(Change(row.table, row.key, row))
        if row.deadline is not None and (before is None or before.deadline != row.deadline):
            heapq.heappush(self._alarms, (row.deadline, row.table, row.key))

    def drop(self, row: Row) -> None:
        """Remove the row with this row's key, if there still is one."""
        current = self._table(type(row)).pop(row.key, None)
        if current is None:
            return
        self._unindex(current)
        if isinstance(current, Tab):
            _remove(self._session_tabs, current.session, current.id)
            self.popups.pop(current.id, None)
        self._changes.append(Change(row.table, row.key, None))

    def take_changes(self) -> list[Change]:
        """Return the changes since the last call, in order, and forget them."""
        changes, self._changes = self._changes, []
        return changes

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
            pool = self.pools[browser] = Pool(self.rules.limit(browser))
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

    def due(self, now: float) -> Iterator[Row]:
        """Yield the rows whose deadline has come, earliest first, and clear their alarms.

        Skips rows that were dropped or whose deadline moved to a later time.
        """
        while self._alarms and self._alarms[0][0] <= now:
            _, table, key = heapq.heappop(self._alarms)
            row = self._rows[table].get(key)
            if row is not None and row.deadline is not None and row.deadline <= now:
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
        elif isinstance(row, Session):
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
        elif isinstance(row, Session):
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


def restored(rules: Rules, rows: Iterable[Row]) -> State:
    """Rebuild the state from the rows of a journal.

    Drops rows whose session or agent could not be read, because the core relies on every reference
    being valid.
    """
    state = State(rules)
    # Indexes rely on insertion order: order of use for tabs, order of turn for requests.
    for row in sorted(rows, key=_order):
        if isinstance(row, Tab):  # earlier releases stored addresses of any length
            row = replace(row, url=short_address(row.url))
        state.put(row)
    for row in list(state.rows()):
        if _dangles(state, row):
            state.drop(row)
    state.take_changes()
    return state


def _dangles(state: State, row: Row) -> bool:
    """Return whether the row refers to a session or agent that does not exist."""
    match row:
        case Member() | SlotRequest() | Reservation():
            return row.session not in state.sessions or row.agent not in state.agents
        case Loop():
            return row.session not in state.sessions
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


def _count(tally: Tally[A], what: A, change: int) -> None:
    """Add ``change`` to one count, and remove counts that reach zero."""
    tally[what] += change
    if not tally[what]:
        del tally[what]


def _remove(index: dict[A, dict[B, C]], outer: A, inner: B) -> None:
    entries = index[outer]
    del entries[inner]
    if not entries:
        del index[outer]
