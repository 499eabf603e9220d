"""What must hold after every event, computed from the journal's rows alone.

``Watch`` keeps its own records: the journal (from ``Decision.changes``), every id ever seen, and
the capture lines. It trusts none of the core's counters and indexes, and compares them with a
recount.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from roost import core
from roost.core import effects as fx
from roost.core import events as ev
from roost.core.machine import Decision, Machine
from roost.core.rows import (
    Agent,
    Approval,
    Consent,
    Jar,
    Loop,
    Member,
    Question,
    Reservation,
    Row,
    Session,
    SlotRequest,
    Tab,
    TabState,
)
from roost.core.settings import CoreSettings
from roost.core.state import State
from roost.errors import BY_CODE, PoolFull
from roost.vocabulary import (
    CAPTURE_WAIT_SECONDS,
    LATE_SECONDS,
    OPERATOR,
    SHARE_RETRY_SECONDS,
    SHARE_SECONDS,
    SUBAGENTS_RESTING,
    AgentId,
    BrowserId,
    JarPolicy,
    Lifetime,
    Reads,
    SessionId,
    TabId,
)
from tests.core.play import Ask, asks

Event = ev.Event | Ask[Any]
Journal = Mapping[tuple[str, str], Row]
EVICTABLE = (TabState.OPEN, TabState.CRASHED, TabState.LOST)


class Facts:
    """The rows of one moment by table, with what can be counted from them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.agents: dict[AgentId, Agent] = {}
        self.sessions: dict[SessionId, Session] = {}
        self.members: dict[tuple[AgentId, SessionId], Member] = {}
        self.jars: dict[str, Jar] = {}
        self.tabs: dict[TabId, Tab] = {}
        self.requests: dict[SessionId, SlotRequest] = {}
        self.reservations: dict[SessionId, Reservation] = {}
        self.loops: dict[SessionId, Loop] = {}
        self.questions: dict[SessionId, Question] = {}
        self.approvals: dict[str, Approval] = {}
        self.consents: dict[tuple[BrowserId, str], Consent] = {}
        for row in rows:
            match row:
                case Agent():
                    self.agents[row.id] = row
                case Session():
                    self.sessions[row.id] = row
                case Member():
                    self.members[row.agent, row.session] = row
                case Jar():
                    self.jars[row.id] = row
                case Tab():
                    self.tabs[row.id] = row
                case SlotRequest():
                    self.requests[row.session] = row
                case Reservation():
                    self.reservations[row.session] = row
                case Loop():
                    self.loops[row.session] = row
                case Question():
                    self.questions[row.session] = row
                case Approval():
                    self.approvals[row.key] = row
                case Consent():
                    self.consents[row.browser, row.name] = row

    def allowed(self, browser: BrowserId) -> bool:
        """Return whether the person lets agents use the browser. Here all agents have one name."""
        return any(row.allow for row in self.consents.values() if row.browser == browser)

    def timed(self) -> list[Row]:
        """Return the rows that expire at their deadline."""
        tables: tuple[Mapping[Any, Row], ...] = (
            self.agents, self.sessions, self.reservations, self.loops, self.questions,
            self.approvals,
        )  # fmt: skip
        return [row for table in tables for row in table.values()]

    def deadlines(self) -> list[float]:
        return [row.deadline for row in self.timed() if row.deadline is not None]

    def stakes(self, browser: BrowserId) -> Tally[SessionId]:
        """Return how many of these each session does: hold slots, wait for one, have one
        reserved."""
        holding = {t.session for t in self.tabs.values() if t.browser == browser and t.holds_slot}
        reserved = [r.session for r in self.reservations.values() if r.browser == browser]
        sessions = [*holding, *reserved, *self.queue(browser)]
        return Tally(session for session in sessions if session is not None)

    def share(self, browser: BrowserId, limit: int) -> int:
        """Return how many slots each session that holds, waits or has a reservation may keep."""
        return max(1, limit // max(1, len(self.stakes(browser))))

    def current(self) -> set[TabId | None]:
        return {member.current for member in self.members.values()}

    def held(self, browser: BrowserId, session: SessionId | None = None) -> int:
        """Return the slots that tabs hold, of one session if it is named."""
        tabs = [t for t in self.tabs.values() if t.browser == browser and t.holds_slot]
        return sum(session is None or tab.session == session for tab in tabs)

    def taken(self, browser: BrowserId) -> int:
        """Return the slots that are not free: tabs and reservations."""
        reserved = sum(r.browser == browser for r in self.reservations.values())
        return self.held(browser) + reserved

    def queue(self, browser: BrowserId) -> list[SessionId]:
        waiting = [r for r in self.requests.values() if r.browser == browser]
        return [r.session for r in sorted(waiting, key=lambda r: r.turn)]

    def evictable(self, session: SessionId) -> list[Tab]:
        return [t for t in self.tabs.values() if t.session == session and t.state in EVICTABLE]

    def sessions_of(self, agent: AgentId) -> set[SessionId]:
        return {session for member, session in self.members if member == agent}

    def parents(self, agent: AgentId) -> list[AgentId]:
        """Return the agents whose sessions and tabs a sub-agent may name."""
        found: list[AgentId] = []
        row = self.agents.get(agent)
        while row is not None and row.parent is not None and row.is_child and len(found) < 99:
            found.append(row.parent)
            row = self.agents.get(row.parent)
        return found

    def with_children(self, sessions: set[SessionId]) -> set[SessionId]:
        """Return the sessions and all sessions below them."""
        below = {row.id for row in self.sessions.values() if row.parent in sessions} - sessions
        return self.with_children(sessions | below) if below else sessions

    def attended(self, session: SessionId) -> bool:
        agents = [self.agents[a] for a, s in self.members if s == session]
        return any(a.connected or a.lease_until is not None for a in agents)

    def meant(self, agent: AgentId, named: str | None) -> SessionId | None:
        """Return the session that a caller means: its own, its alias for one, or the id of a
        joined one."""
        if agent == OPERATOR:
            return SessionId(named) if named in self.sessions else None
        if agent not in self.agents:
            return None
        mine = self.sessions_of(agent)
        own_names = {m.alias: m.session for m in self.members.values() if m.agent == agent}
        if named is None:
            session = self.agents[agent].own_session
        else:
            session = own_names.get(named, SessionId(named))
        return session if session in mine else None


class Watch:
    def __init__(self, settings: CoreSettings) -> None:
        self.settings = settings
        self.journal: dict[tuple[str, str], Row] = {}
        self.facts = Facts([])
        self.seen_tabs: set[str] = set()
        self.seen_jars: set[str] = set()
        self.lines: dict[TabId, list[tuple[int, AgentId, float]]] = {}
        self.started: set[int] = set()
        self.listens = True

    def see(self, machine: Machine, event: Event, now: float, outcome: Decision[Any]) -> None:
        """Record the decision, then check everything."""
        before = self.facts
        for change in outcome.changes:
            if change.row is None:
                assert self.journal.pop((change.table, change.key), None) is not None
            else:
                self.journal[change.table, change.key] = change.row
        after = self.facts = Facts(self.journal.values())
        step = Step(self.settings, before, after, event, now, outcome)
        self._journal_is_the_state(machine)
        check_references(after, self.settings)
        check_deadlines(machine, after, event, now)
        self._ids_are_new(before, after)
        self.listens = self.listens or isinstance(event, ev.BrokerListens)
        for agent in after.agents.values() if self.listens else ():
            assert agent.connected or agent.deadline, "nobody would notice that it is dead"
        step.check()
        self._captures(event, now, outcome, step.rested())

    def broker_died(self) -> None:
        self.lines.clear()
        self.started.clear()
        self.listens = False

    def nothing_happened(self, machine: Machine) -> None:
        """Check that the rows and indexes are those of the last decision that was journaled."""
        self._journal_is_the_state(machine)

    def _journal_is_the_state(self, machine: Machine) -> None:
        rows = {(row.table, row.key): row for row in machine.state.rows()}
        assert rows == self.journal, "the journal misses a change"
        counted = recounted(self.facts, self.settings)
        assert_same(indexes(machine.state), counted, "an index is wrong")
        # The journal keeps no order, so replay must not need one.
        again = Machine(self.settings, sorted(self.journal.values(), key=repr))
        assert_same(indexes(again.state), counted, "replay gives another state")

    def _ids_are_new(self, before: Facts, after: Facts) -> None:
        new_tabs, new_jars = after.tabs.keys() - before.tabs, after.jars.keys() - before.jars
        assert not new_tabs & self.seen_tabs, "a tab id came twice"
        assert not new_jars & self.seen_jars, "a jar id came twice"
        self.seen_tabs |= new_tabs
        self.seen_jars |= new_jars

    def _captures(
        self, event: Event, now: float, outcome: Decision[Any], rested: set[AgentId]
    ) -> None:
        ended = rested | {e.agent for e in outcome.effects if isinstance(e, fx.EndAgent)}
        refused = {e.capture for e in outcome.effects if isinstance(e, fx.RefuseCapture)}
        for line in self.lines.values():
            for capture, _, asked in line:
                if capture in refused:
                    assert capture not in self.started, "a running capture was refused"
                    assert now - asked >= CAPTURE_WAIT_SECONDS, "refused too early"
            line[:] = [t for t in line if t[0] not in refused and t[1] not in ended]
        if asks(event, core.request_capture) and outcome.refusal is None:
            self.lines.setdefault(event.tab, []).append((event.capture, event.agent, now))
        if isinstance(event, ev.CaptureEnded) and event.tab in self.lines:
            line = self.lines[event.tab]
            line[:] = [turn for turn in line if turn[0] != event.capture]
        starts = [e.capture for e in outcome.effects if isinstance(e, fx.StartCapture)]
        assert not self.started & set(starts), "a capture was started twice"
        assert len(starts) == len(set(starts)), "a capture was started twice"
        self.started |= set(starts)
        for line in self.lines.values():
            for place, (capture, agent, asked) in enumerate(line):
                assert (capture in self.started) == (place == 0), "captures of one tab in order"
                assert agent == OPERATOR or agent in self.facts.agents, "a dead agent captures"
                overdue = now - asked >= CAPTURE_WAIT_SECONDS and agent != line[0][1]
                assert not overdue or place == 0, "nobody was told that the turn takes too long"


def assert_same(has: dict[str, Any], should: dict[str, Any], why: str) -> None:
    for index, value in should.items():
        assert has[index] == value, f"{why}: {index}: {has[index]} is not {value}"


def recounted(facts: Facts, settings: CoreSettings) -> dict[str, Any]:
    """Return every index, counted from the rows."""
    tabs = sorted(facts.tabs.values(), key=lambda tab: tab.used)
    jars = [jar for jar in facts.jars.values() if jar.session is not None]
    reserved = Tally(r.browser for r in facts.reservations.values())
    browsers = {tab.browser for tab in tabs if tab.holds_slot} | set(reserved)
    browsers |= {request.browser for request in facts.requests.values()}
    order: dict[SessionId | None, list[TabId]] = {}
    for tab in tabs:
        order.setdefault(tab.session, []).append(tab.id)
    clones = sum(s.policy is JarPolicy.CLONE for s in facts.sessions.values())
    clones += sum(j.session is None and j.policy is JarPolicy.CLONE for j in facts.jars.values())
    return {
        "pools": {
            browser: (
                settings.limit(browser),
                facts.held(browser),
                reserved[browser],
                Tally(t.session for t in tabs if t.browser == browser and t.holds_slot),
                facts.queue(browser),
                facts.stakes(browser),
            )
            for browser in browsers
        },
        "colors": Tally(session.color for session in facts.sessions.values()),
        "clones": clones,
        "tabs in order of use": order,
        "members": facts.members,
        "by agent": facts.members,
        "aliases": {
            (m.agent, m.alias): m.session for m in facts.members.values() if m.alias is not None
        },
        "children": {(s.parent, s.id) for s in facts.sessions.values() if s.parent is not None},
        "sub-agents": {(a.parent, a.id) for a in facts.agents.values() if a.parent is not None},
        "sub-agents by id": {
            (a.parent, a.conversation): a.id for a in facts.agents.values() if a.parent is not None
        },
        "jars": {j.session: j.id for j in jars if not j.beside},
        "jars beside": {(j.session, j.id) for j in jars if j.beside},
        "tabs by jar": {(t.jar, t.id) for t in tabs if t.jar is not None},
        "tab handles": {(t.browser, t.handle): t.id for t in tabs if t.handle is not None},
        "pages": {(t.session, t.page): t.id for t in tabs if t.page is not None},
        "token digests": {
            s.token_digest: s.id for s in facts.sessions.values() if s.token_digest is not None
        },
        "jar handles": {
            (j.browser, j.handle): j.id
            for j in facts.jars.values()
            if j.handle is not None and j.policy is not JarPolicy.SHARED
        },
    }


def indexes(state: State) -> dict[str, Any]:
    """Return every index as the core has it."""
    return {
        "pools": {
            browser: (
                pool.limit,
                pool.held,
                pool.reserved,
                Tally(pool.holders),
                list(pool.queue),
                Tally(pool.stakes),
            )
            for browser, pool in state.pools.items()
            if pool.held or pool.reserved or pool.queue
        },
        "colors": +state.colors,
        "clones": state.clones,
        "tabs in order of use": {
            session: [tab.id for tab in state.tabs_in(session)] for session in state._session_tabs
        },
        "members": {
            (agent, session): member
            for session, members in state._session_agents.items()
            for agent, member in members.items()
        },
        "by agent": {
            (agent, session): member
            for agent, members in state._agent_sessions.items()
            for session, member in members.items()
        },
        "aliases": state._aliases,
        "children": {(up, id) for up, ids in state._children.items() for id in ids},
        "sub-agents": {(up, id) for up, ids in state._subagents.items() for id in ids},
        "sub-agents by id": state._conversations,
        "jars": state._session_jar,
        "jars beside": {
            (session, jar) for session, beside in state._jars_beside.items() for jar in beside
        },
        "tabs by jar": {(jar, tab) for jar, tabs in state._jar_tabs.items() for tab in tabs},
        "tab handles": state._tab_handles,
        "pages": state._pages,
        "token digests": state._session_digests,
        "jar handles": state._jar_handles,
    }


def check_references(facts: Facts, settings: CoreSettings) -> None:
    """Check that no row names something that does not exist. Only history may: ``Tab.opener``,
    ``Member.lost``, ``Agent.own_session`` (which is looked up through the agent's membership)."""
    sessions = facts.sessions
    for tab in facts.tabs.values():
        if tab.session is None:
            assert tab.jar is None, "a tab of nobody in somebody's jar"
            assert tab.handle is not None, "a tab of nobody without a page"
        else:
            # A person's tabs keep the jar they came with, which may be nobody's of ours.
            is_grouped = tab.browser in settings.grouped
            assert tab.jar is not None or is_grouped, "a tab that could never be restored"
            jar = None if tab.jar is None else facts.jars[tab.jar]
            assert jar is None or jar.session == tab.session or is_grouped, "a foreign jar"
            assert jar is None or jar.session is not None, "a tab in a jar that is gone"
            assert sessions[tab.session].browser == tab.browser
        assert tab.holds_slot or tab.handle is None, "a parked tab with a page"
    for agent, session in facts.members:
        assert agent in facts.agents, "a dead agent is a member"
        current = facts.members[agent, session].current
        assert session in sessions
        assert current is None or facts.tabs[current].session == session
    places: list[SlotRequest | Reservation] = [*facts.requests.values()]
    for place in [*places, *facts.reservations.values()]:
        assert sessions[place.session].browser == place.browser
        assert (place.agent, place.session) in facts.members, "a dead agent waits or holds"
    assert not facts.requests.keys() & facts.reservations.keys()
    assert facts.loops.keys() <= sessions.keys()
    assert facts.questions.keys() <= sessions.keys(), "a session that ended still asks"
    kept = {row.session for row in facts.approvals.values() if row.session is not None}
    assert kept <= sessions.keys(), "a session that ended is still allowed something"
    assert all(jar.session is None or jar.session in sessions for jar in facts.jars.values())
    check_families(facts)
    attended = {session for _, session in facts.members}
    for row in sessions.values():
        if row.lifetime is Lifetime.ANONYMOUS:
            assert row.id in attended, "an anonymous session outlived its agents"
        if row.lifetime is Lifetime.RESUMABLE:
            assert (row.kept_until is None) == (row.id in attended)


def check_families(facts: Facts) -> None:
    """Check the rows of sub-agents and of their sessions."""
    known = [(row.parent, row.conversation) for row in facts.agents.values() if row.parent]
    assert len(known) == len(set(known)), "two sub-agents have one id"
    resting: Tally[AgentId] = Tally()
    for agent in facts.agents.values():
        assert agent.parent is None or agent.parent in facts.agents, "a sub-agent without a parent"
        assert agent.id not in facts.parents(agent.id), "an agent is its own parent"
        if agent.shares_connection:
            assert agent.connected, "a sub-agent was disconnected from its parent"
            assert agent.life_until is None, "a sub-agent ends without its parent"
            assert agent.parent is not None
            resting[agent.parent] += agent.idle_until is None
    assert max(resting.values(), default=0) <= SUBAGENTS_RESTING, "too many sub-agents rest"
    for session in facts.sessions.values():
        assert session.parent is None or session.parent in facts.sessions, "it outlived its parent"
        members = [facts.agents[a] for a, s in facts.members if s == session.id]
        if session.kept_until is not None and session.lifetime is Lifetime.ANONYMOUS:
            assert all(row.idle_until is None for row in members), "kept although it is in use"


def check_deadlines(machine: Machine, facts: Facts, event: Event, now: float) -> None:
    """Check that everything due has expired, however late the core was woken, and that the core
    asks to be woken."""
    deadlines = facts.deadlines()
    if deadlines:
        wanted = machine.next_deadline()
        assert wanted is not None, "nobody would wake the core"
        late = [row for row in facts.timed() if row.deadline is not None and row.deadline < wanted]
        assert not late, "the core would be woken too late"
        assert overdue(facts, event, now) == [], "something is overdue"
    for request in facts.requests.values():
        look = max(request.asked_at + SHARE_SECONDS, now + SHARE_RETRY_SECONDS)
        wanted = machine.next_deadline()
        assert wanted is not None, "nobody would look for a fair share"
        assert wanted <= look, "a fair share would be looked for too late"


def overdue(facts: Facts, event: Event, now: float) -> list[Row]:
    """Return the rows whose deadline has passed. Agents count only after ``TimePassed``, which
    alone ends them."""
    late = [row for row in facts.timed() if row.deadline is not None and row.deadline <= now]
    is_woken = isinstance(event, ev.TimePassed)
    return [row for row in late if is_woken or not isinstance(row, Agent)]


class Step:
    """One event, the rows before and after it, and the changes that it may cause."""

    def __init__(
        self,
        settings: CoreSettings,
        before: Facts,
        after: Facts,
        event: Event,
        now: float,
        outcome: Decision[Any],
    ) -> None:
        self.settings, self.before, self.after = settings, before, after
        self.event, self.now, self.outcome = event, now, outcome
        self.quiet = min(before.deadlines(), default=now + 1) > now
        """Nothing was due, so all that changed was this event's doing."""
        self.ended = {e.agent for e in outcome.effects if isinstance(e, fx.EndAgent)}
        self.caller: AgentId | None = getattr(event, "agent", None)
        answered = outcome.answered
        self.tab = answered.tab if isinstance(answered, core.OpenTabAnswer) else answered
        """The tab that was asked for, or None."""
        if not isinstance(self.tab, Tab):
            self.tab = None

    def check(self) -> None:
        for browser in {s.browser for s in (*self.before.sessions.values(),
                                            *self.after.sessions.values())}:  # fmt: skip
            self.capacity(browser)
            self.queue(browser)
            self.nobody_is_kept_from_its_share(browser)
        self.parking()
        self.claims()
        self.reservations_hold()
        self.joining()
        self.cloning()
        self.endings()
        self.resting()
        self.acting()
        self.effects()
        self.others_notice_nothing()
        if self.outcome.refusal is not None:
            self.refusal()
        self.access()

    def capacity(self, browser: BrowserId) -> None:
        limit = self.settings.limit(browser)
        was, taken = self.before.taken(browser), self.after.taken(browser)
        if limit == 0 or taken <= limit:
            return
        spawned = isinstance(self.event, ev.TabOpened)
        if isinstance(self.event, ev.BrowserUp):  # what stands in a session's group is its own
            spawned = taken > was and browser in self.settings.grouped
            was = max(was, taken)
        assert taken <= was + spawned, "more tabs than slots, and no popup is to blame"
        new = [r for s, r in self.after.reservations.items() if s not in self.before.reservations]
        new_here = [r for r in new if r.browser == browser]
        assert spawned or not new_here, "a slot was reserved in debt"
        admitted = self.admitted()
        if admitted is not None and admitted.browser == browser:
            entitled = {*self.before.reservations, *self.before.requests}
            assert admitted.session in entitled, "a tab was admitted in debt"

    def admitted(self) -> Tab | None:
        """Return the tab that got a slot by this event, unless it is a popup."""
        tab = self.tab
        if tab is None or not asks(self.event, core.open_tab, core.use_tab):
            return None
        earlier = self.before.tabs.get(tab.id)
        return tab if earlier is None or not earlier.holds_slot else None

    def queue(self, browser: BrowserId) -> None:
        limit, was = self.settings.limit(browser), self.before.queue(browser)
        waiting = self.after.queue(browser)
        served = [s for s in was if s in self.after.reservations]
        still = [s for s in was if s in waiting]
        share = self.after.share(browser, limit)
        for passed in still:
            # A slot that is taken for the fair share goes to the first who is below its own.
            has_claim = self.after.held(browser, passed) < share
            has_claim = has_claim and not self.after.sessions[passed].paused
            before_it = [s for s in served if was.index(s) > was.index(passed)]
            is_woken = isinstance(self.event, ev.TimePassed)
            assert not before_it or (is_woken and not has_claim), "order"
        assert [s for s in waiting if s in was] == still, "the queue changed its order"
        if not waiting:
            return
        full = limit and self.after.taken(browser) >= limit
        assert full, "a free slot, and somebody waits"
        for session in self.after.sessions.values():
            if session.lifetime is Lifetime.NAMED and session.browser == browser:
                idle = not session.paused and not self.after.attended(session.id)
                assert not (idle and session.id not in waiting and self.parkable(session.id)), (
                    "a tab nobody attends, and somebody waits"
                )
        admitted = self.admitted()
        if still and admitted is not None and admitted.browser == browser:
            mine = admitted.session
            assert mine is not None
            # Its turn may have come in this very step, when another's reservation ran out.
            its_turn = mine in was and was.index(mine) < was.index(still[0])
            gave_one = self.after.held(browser, mine) <= self.before.held(browser, mine)
            fair = mine in self.before.reservations or its_turn or gave_one
            assert fair, "somebody passed the queue"

    def parkable(self, session: SessionId) -> bool:
        return any(tab.jar is not None for tab in self.after.evictable(session))

    def parking(self) -> None:
        """Check that a session loses a page to others only by the rules of the fair share."""
        for tab in self.after.tabs.values():
            earlier = self.before.tabs.get(tab.id)
            if earlier is None or not earlier.holds_slot or tab.holds_slot:
                continue
            if self.event == ev.TabOpenFailed(tab.id):
                assert earlier.state is TabState.LOST, "a tab nobody had was kept"
                continue  # its page did not come back, and nobody took its slot
            assert tab.session is not None
            session = self.after.sessions[tab.session]
            if self.tab is not None and self.tab.session == tab.session:
                continue  # it took the place of another tab of its own session
            if session.lifetime is Lifetime.NAMED and not self.after.attended(session.id):
                assert not session.paused, "a tab was taken from a person"
                continue
            assert isinstance(self.event, ev.TimePassed), (
                "taken before the broker knew what is busy"
            )
            assert tab.id not in self.event.busy, "a tab in use was taken"
            assert tab.id not in self.after.current(), "somebody's current tab was taken"
            assert not session.paused, "a tab was taken from a person"
            assert tab.jar is not None, "a tab was taken that cannot come back"
            share = self.after.share(tab.browser, self.settings.limit(tab.browser))
            left = self.after.held(tab.browser, session.id)
            assert left >= share, "a session has less than its share"

    def claims(self) -> None:
        """Check that a slot taken from one session goes to another that is below its share."""
        was_taken = False
        for effect in self.outcome.effects:
            if not isinstance(effect, fx.Tell):
                continue
            if effect.kind == "tab_parked":
                was_taken = "fair share" in effect.data["why"]
            elif effect.kind == "slot_reserved" and was_taken:
                was_taken = False
                session = self.after.sessions[effect.session]
                waited = self.now - self.before.requests[session.id].asked_at
                assert waited >= SHARE_SECONDS, "a slot was taken before the wait was over"
                share = self.after.share(session.browser, self.settings.limit(session.browser))
                held = self.after.held(session.browser, session.id)
                assert held < share, "a session that has its share took a slot"
                assert not session.paused, "a slot was taken for a session nobody can use"

    def nobody_is_kept_from_its_share(self, browser: BrowserId) -> None:
        if not isinstance(self.event, ev.TimePassed):
            return
        after, share = self.after, self.after.share(browser, self.settings.limit(browser))
        for waiter in after.queue(browser):
            waited = self.now - after.requests[waiter].asked_at
            is_paused = after.sessions[waiter].paused
            if waited < SHARE_SECONDS or is_paused or after.held(browser, waiter) >= share:
                continue
            for tab in after.tabs.values():
                if tab.browser != browser or tab.session is None or tab.state not in EVICTABLE:
                    continue
                is_spare = after.held(browser, tab.session) > share and tab.jar is not None
                is_idle = tab.id not in self.event.busy and tab.id not in after.current()
                is_free = is_spare and is_idle and not after.sessions[tab.session].paused
                assert not is_free, "a session above its share kept a tab that was not in use"

    def reservations_hold(self) -> None:
        for session, held in self.before.reservations.items():
            if session in self.after.reservations or held.until <= self.now:
                continue
            admitted = self.admitted()
            used = admitted is not None and admitted.session == session
            owner = self.after.agents.get(held.agent)
            rests = owner is not None and owner.parent is not None and owner.idle_until is None
            over = held.agent in self.ended or session not in self.after.sessions or rests
            assert used or over, "a reserved slot was taken"

    def cloning(self) -> None:
        """Check that an agent clones only its own profile or one for all agents."""
        event = self.event
        if not asks(event, core.open_session) or event.agent == OPERATOR:
            return
        for session in self.after.sessions.keys() - self.before.sessions.keys():
            profile = self.after.sessions[session].profile
            own = self.before.agents[event.agent].profile
            allowed = profile in (None, own) or event.profile_for_any_agent
            assert allowed, "an agent cloned a profile that is not its own"

    def joining(self) -> None:
        """Check that an agent joins an existing session only by naming it when it connects."""
        for agent, session in self.after.members.keys() - self.before.members.keys():
            old, new = self.before.sessions.get(session), self.after.sessions[session]
            connected = asks(self.event, core.connect_agent) and self.event.agent == agent
            assert old is None or connected, "an agent got into a foreign session"
            if old is not None and new.created_at == old.created_at:
                assert (old.lifetime, old.browser, old.policy, old.profile) == (
                    new.lifetime, new.browser, new.policy, new.profile,
                ), "joining a session changed it"  # fmt: skip

    def endings(self) -> None:
        for agent in self.before.agents.values():
            if agent.id in self.after.agents:
                continue
            assert agent.id in self.ended
            if agent.shares_connection:
                self.ending_of_a_subagent(agent)
                continue
            said_goodbye = self.event == ev.AgentLeft(agent.id)
            due = agent.life_until is not None and agent.life_until <= self.now
            assert said_goodbye or due, "a live agent was ended"
            if not said_goodbye:
                assert isinstance(self.event, ev.TimePassed), "its hello may wait unread"
                assert self.now - (agent.life_until or 0) <= LATE_SECONDS, "ended in a late turn"
            assert not agent.connected or said_goodbye, "an idle agent was taken for dead"
        for session in self.before.sessions.values():
            if session.id in self.after.sessions:
                continue
            disposed = asks(self.event, core.dispose_session) and (
                self.outcome.refusal is None
                and self.before.meant(self.event.agent, self.event.session) == session.id
            )
            forgotten = session.kept_until is not None and session.kept_until <= self.now
            is_unused = not session.has_opened and session.id not in self.before.loops
            is_kept = session.lifetime is Lifetime.RESUMABLE and not is_unused
            stopped = self.ended | self.rested()
            orphaned = session.lifetime is not Lifetime.NAMED and not is_kept and stopped
            failed = (ev.TabOpenFailed, ev.TabOpenAbandoned, ev.BrokerRestarted)
            is_own = any(
                agent.own_session == session.id
                and agent.lease_until is None
                and (agent.id, session.id) in self.before.members
                for agent in self.before.agents.values()
                if agent.id not in self.ended  # its time may have run out in this very step
            )
            stillborn = isinstance(self.event, failed) and not session.has_opened and not is_own
            closed = isinstance(self.event, ev.GroupClosed) and self.event.group == session.group
            said = isinstance(self.event, ev.PersonSaid) and self.event.what == "end"
            named = said and self.event.group in (None, session.group)  # type: ignore[union-attr]
            closed = closed or (named and session.browser in self.settings.personal)
            gone = self.before.sessions.keys() - self.after.sessions.keys()
            with_parent = session.parent in gone
            ended = disposed or forgotten or orphaned or stillborn or closed or with_parent
            assert ended, "a session ended that nobody ended"

    def ending_of_a_subagent(self, agent: Agent) -> None:
        """Check that a sub-agent on its parent's connection ended for a reason."""
        session = self.before.sessions.get(agent.own_session)
        due = agent.idle_until is not None and agent.idle_until <= self.now
        kept = None if session is None else session.kept_until
        forgotten = kept is not None and kept <= self.now
        left = self.event in (ev.AgentLeft(agent.id), ev.SubagentEnded(agent.id))
        with_parent = agent.parent in self.ended
        made_room = agent.idle_until is None and any(
            row.idle_until is None and row.parent == agent.parent
            for row in self.after.agents.values()
        )
        assert due or forgotten or left or with_parent or made_room, "a live sub-agent was ended"

    def rested(self) -> set[AgentId]:
        """Return the sub-agents that rest since this event."""
        rows = [(row, self.before.agents.get(row.id)) for row in self.after.agents.values()]
        return {
            row.id
            for row, earlier in rows
            if row.idle_until is None and earlier is not None and earlier.idle_until is not None
        }

    def resting(self) -> None:
        """Check that a sub-agent rests only when it ended or was idle, and holds nothing then."""
        for id in self.rested():
            agent = self.after.agents[id]
            if agent.parent is None:
                continue  # its parent ended, so it is no longer a sub-agent
            due = (self.before.agents[id].idle_until or 0.0) <= self.now
            assert due or self.event == ev.SubagentEnded(agent.id), "a busy sub-agent was stopped"
            own = self.after.sessions.get(agent.own_session)
            is_member = (agent.id, agent.own_session) in self.before.members
            assert own is None or not own.paused or not is_member, "a person works there"
            places: list[SlotRequest | Reservation] = [*self.after.requests.values()]
            places += self.after.reservations.values()
            assert agent.id not in {place.agent for place in places}, "it waits although it rests"
            members = [a for a, s in self.after.members if s == agent.own_session]
            if own is not None and own.lifetime is not Lifetime.NAMED and members == [agent.id]:
                tabs = [tab for tab in self.after.tabs.values() if tab.session == own.id]
                assert not tabs, "a sub-agent that rests keeps a tab"

    def acting(self) -> None:
        """Check that a call acts as its own agent, or as a parent whose things it names."""
        event, answer = self.event, self.outcome.answered
        if not asks(event, core.acting_agent) or answer is None or answer == event.agent:
            return
        assert answer in self.before.parents(event.agent), "a call acts as a stranger"
        if event.session is not None:
            assert self.before.meant(answer, event.session) is not None
            assert self.before.meant(event.agent, event.session) is None, "it has one itself"
        else:
            tab = self.before.tabs.get(TabId(event.tab))
            assert tab is None or tab.session in self.before.sessions_of(answer)
            assert not event.selects, "a sub-agent changes its parent's current tab"

    def effects(self) -> None:
        gone = self.before.tabs.keys() - self.after.tabs.keys()
        closed: set[TabId] = set()
        opened: set[TabId] = set()
        for effect in self.outcome.effects:
            assert isinstance(effect, get_args(fx.Effect)), "an effect nobody performs"
            match effect:
                case fx.CloseTab() | fx.ForgetTab():
                    left = self.after.tabs.get(effect.tab)
                    assert effect.tab in self.before.tabs or left is not None
                    assert left is None or left.handle is None, "a tab closed that stays"
                    closed.add(effect.tab)
                case fx.OpenTab():
                    row = self.after.tabs[effect.tab]
                    assert row.handle is None
                    opened.add(row.id)
                    assert effect.jar == row.jar, "a tab came back in another jar"
                case fx.RemoveJar() if effect.jar is not None:
                    jar = self.after.jars.get(effect.jar)
                    assert jar is None or jar.session is None, "a jar in use was removed"
                case fx.CloseStray():
                    pages = [(t.browser, t.handle) for t in self.after.tabs.values()]
                    assert (effect.browser, effect.handle) not in pages, "an owned page closed"
                case fx.EndAgent():
                    assert effect.agent not in self.after.agents
                case fx.RemoveFiles():
                    again = self.after.sessions.get(effect.session)
                    assert again is None or again.created_at == self.now
                case fx.Tell():
                    assert effect.session in {*self.before.sessions, *self.after.sessions}
                    self.told_to_its_owner(effect)
                case _:
                    pass
        for id in opened - closed:
            assert self.after.tabs[id].holds_slot, "a page opens without a slot"
        assert gone <= closed, "calls on a tab that is gone would never be answered"
        for tab in self.after.tabs.values():
            earlier = self.before.tabs.get(tab.id)
            if earlier is not None and earlier.handle is not None and tab.handle is None:
                assert tab.id in closed, "a page was forgotten without a word"

    def told_to_its_owner(self, told: fx.Tell) -> None:
        optional = {name for name, text in told.kind.fields.items() if "(optional)" in text}
        has = told.data.keys()
        assert told.kind.fields.keys() - optional <= has <= told.kind.fields.keys(), (
            "a notice with other fields than the table says"
        )
        tab = told.data.get("tab")
        if tab is not None:
            row = self.after.tabs.get(tab) or self.before.tabs[tab]
            assert row.session == told.session, "somebody was told about a foreign tab"

    def others_notice_nothing(self) -> None:
        """Check that an agent's action takes tabs from its own sessions only."""
        agent = self.caller
        if agent is None or agent == OPERATOR or not self.quiet:
            return
        mine = self.before.with_children(self.before.sessions_of(agent))
        for tab in self.before.tabs.keys() - self.after.tabs.keys():
            row = self.before.tabs[tab]
            jar = None if row.jar is None else self.before.jars[row.jar].session
            assert row.session in mine or jar in mine, "a stranger's tab was closed"

    def refusal(self) -> None:
        refusal = self.outcome.refusal
        assert refusal is not None
        assert isinstance(refusal, BY_CODE[refusal.code])
        assert refusal.message
        assert refusal.hint
        if not self.quiet:
            return
        assert all(change.row is not None for change in self.outcome.changes), (
            "a refused call took something"
        )
        if isinstance(refusal, PoolFull):
            self.truly_full(refusal)

    def truly_full(self, refusal: PoolFull) -> None:
        event = self.event
        assert asks(event, core.open_tab, core.use_tab)
        session = self.after.meant(event.agent, event.session)
        if asks(event, core.use_tab) and event.tab is not None:
            session = self.before.tabs[TabId(event.tab)].session
        assert session is not None
        browser = self.after.sessions[session].browser
        missing = self.before.taken(browser) + 1 - self.settings.limit(browser)
        assert missing > 0, "refused although there is room"
        assert session not in self.before.reservations, "refused although a slot is reserved"
        evict = not asks(event, core.open_tab) or event.evict
        assert not evict or len(self.before.evictable(session)) < missing, (
            "refused although its own tabs would do"
        )
        assert refusal.details["tabPool"]
        assert sum(refusal.details["ownerBreakdown"].values()) == self.before.held(browser)

    def access(self) -> None:
        """Check that the agent gets the tab that it means, and only its own."""
        event, tab = self.event, self.tab
        if asks(event, core.open_tab, core.use_tab) and tab is not None:
            may_use = event.agent == OPERATOR or tab.browser not in self.settings.personal
            assert may_use or self.after.allowed(tab.browser), "the person was not asked"
        if asks(event, core.open_tab) and tab is not None:
            assert tab.page == event.page, "another page than the one asked for"
            assert tab.session == self.after.meant(event.agent, event.session)
        if not asks(event, core.use_tab, core.select_tab, core.request_close):
            return
        acts = not asks(event, core.use_tab) or event.acts
        mine = self.before.sessions_of(event.agent)
        if tab is not None and event.agent != OPERATOR:
            shared = self.settings.reads is Reads.SHARED and not acts
            assert tab.session in mine or shared, "a stranger got a tab"
            assert tab.session is not None
            if event.tab is None:
                session = self.before.meant(event.agent, event.session)
                assert session is not None
                current = self.before.members[event.agent, session].current
                assert tab.id == current, "an omitted tab is the caller's current one"
            elif event.session is not None and tab.session in mine:
                assert tab.session == self.before.meant(event.agent, event.session)
        if tab is not None and event.tab is not None:
            assert tab.id == event.tab, "another tab than the one asked for"
        if self.outcome.refusal is not None and event.tab is not None and self.quiet:
            self.refused_tab(event.agent, TabId(event.tab), event.session, mine)

    def refused_tab(
        self, agent: AgentId, tab: TabId, session: str | None, mine: set[SessionId]
    ) -> None:
        row, refusal = self.before.tabs.get(tab), self.outcome.refusal
        assert refusal is not None
        own = row is not None and row.session in mine
        if own and session is None:
            assert refusal.code != "TAB_GONE", "its own tab was denied to an agent"
        if not own and agent != OPERATOR:
            answers = {"TAB_GONE", "SESSION_GONE"}
            if self.settings.reads is Reads.SHARED and row is not None:
                answers |= {"OWNERSHIP", "PAUSED", "TAB_CRASHED", "BROWSER_LOST", "UNAUTHORIZED"}
            assert refusal.code in answers, "a foreign tab is told from an absent one"
