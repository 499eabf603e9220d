"""``Play``: a conversation with the core as a script. Events in at chosen times; effects and
refusals asserted by class and code, never by text."""

from __future__ import annotations

from typing import TypeVar

from roost.core import events as ev
from roost.core.effects import Effect
from roost.core.machine import Machine, Outcome
from roost.core.rows import Row, Tab
from roost.core.state import Rules
from roost.errors import BY_CODE, RoostError
from roost.vocabulary import AgentId, BrowserId, Lifetime, Reads, SessionId, TabHandle

B1, B2 = BrowserId("b1"), BrowserId("b2")
HOME = ev.SessionSpec(lifetime=Lifetime.ANONYMOUS)
URL = "https://example.com/"
E = TypeVar("E", bound=RoostError)
F = TypeVar("F", bound=Effect)


def named(session: str, lifetime: Lifetime = Lifetime.NAMED) -> ev.SessionSpec:
    return ev.SessionSpec(lifetime=lifetime, id=SessionId(session))


def of(outcome: Outcome, kind: type[F]) -> list[F]:
    return [effect for effect in outcome.effects if isinstance(effect, kind)]


class Play:
    """One machine, its clock and its journal. ``do`` expects consent, ``refused`` a refusal."""

    def __init__(self, limit: int = 12, reads: Reads = Reads.PRIVATE) -> None:
        self.rules = Rules(default_browser=B1, pool_limits={B1: limit}, reads=reads)
        self.machine, self.now = Machine(self.rules), 1000.0
        self.state = self.machine.state
        self.journal: dict[tuple[str, str], Row] = {}

    def say(self, event: ev.Event, after: float = 0.0) -> Outcome:
        """``after`` seconds, this happens. Nothing wakes the core in between."""
        self.now += after
        outcome = self.machine.apply(event, self.now)
        for change in outcome.changes:
            self.journal.pop((change.table, change.key), None)
            if change.row is not None:
                self.journal[change.table, change.key] = change.row
        return outcome

    def do(self, event: ev.Event, after: float = 0.0) -> Outcome:
        outcome = self.say(event, after)
        assert outcome.refusal is None, outcome.refusal
        return outcome

    def refused(self, event: ev.Event, error: type[E], after: float = 0.0) -> E:
        refusal = self.say(event, after).refusal
        assert isinstance(refusal, error), refusal
        assert BY_CODE[refusal.code] is error
        assert refusal.message
        assert refusal.hint
        return refusal

    def restart(self, after: float = 0.0) -> Outcome:
        self.machine = Machine(self.rules, self.journal.values())
        self.state = self.machine.state
        outcome = self.do(ev.BrokerRestarted(), after)
        self.do(ev.BrokerListens())
        return outcome

    def agent(self, name: str, spec: ev.SessionSpec = HOME, *, lease: bool = False) -> AgentId:
        agent = AgentId(f"agent_{name.encode().hex():0<32}_7")
        self.do(ev.AgentConnected(agent=agent, pid=7, process_started="1", name=name,
                                  secret_digest="d", session=spec, lease=lease))  # fmt: skip
        return agent

    def tab(self, agent: AgentId, session: str | None = None, *, evict: bool = False) -> Tab:
        """Open a tab and let the browser answer."""
        event = ev.TabOpenRequested(agent=agent, session=session, url=URL, evict=evict)
        tab = self.do(event).subject
        assert isinstance(tab, Tab)
        self.do(ev.TabOpened(tab.id, TabHandle(f"h-{tab.id}")))
        return self.state.tabs[tab.id]
