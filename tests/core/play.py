"""``Play``: a conversation with the core as a script.

Requests and events go in at chosen times. Tests assert effects and refusals by class and code,
never by text.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec, TypeGuard, TypeVar, overload

from roost import core
from roost.core import events as ev
from roost.core.effects import Effect
from roost.core.machine import Decision, Machine
from roost.core.rows import Row, Tab
from roost.core.settings import CoreSettings
from roost.core.state import State
from roost.errors import BY_CODE, RoostError
from roost.vocabulary import AgentId, BrowserId, Lifetime, Reads, SessionId, TabHandle

B1, B2 = BrowserId("b1"), BrowserId("b2")
HOME = core.SessionSpec(lifetime=Lifetime.ANONYMOUS)
URL = "https://example.com/"
E = TypeVar("E", bound=RoostError)
F = TypeVar("F", bound=Effect)
P = ParamSpec("P")
T = TypeVar("T")


def named(session: str, lifetime: Lifetime = Lifetime.NAMED) -> core.SessionSpec:
    return core.SessionSpec(lifetime=lifetime, id=SessionId(session))


def of(decision: Decision[Any], kind: type[F]) -> list[F]:
    return [effect for effect in decision.effects if isinstance(effect, kind)]


class Ask(Generic[T]):
    """A request or query with its arguments, to be asked at a chosen time.

    The arguments are attributes: ``ask.agent``.
    """

    def __init__(
        self, request: Callable[Concatenate[State, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        self.request: Callable[..., T] = request
        self._args, self._kwargs = args, kwargs
        bound = signature(request).bind(None, *args, **kwargs)
        bound.apply_defaults()
        self._arguments = bound.arguments

    def __call__(self, state: State) -> T:
        return self.request(state, *self._args, **self._kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._arguments[name]
        except KeyError:
            raise AttributeError(name) from None


def asks(event: ev.Event | Ask[Any], *requests: Callable[..., Any]) -> TypeGuard[Ask[Any]]:
    """Return whether the event asks one of those requests."""
    return isinstance(event, Ask) and event.request in requests


class Play:
    """One machine, its clock and its journal. ``do`` expects success, ``refused`` a refusal."""

    def __init__(self, limit: int = 12, reads: Reads = Reads.PRIVATE) -> None:
        self.settings = CoreSettings(default_browser=B1, pool_limits={B1: limit}, reads=reads)
        self.machine, self.now = Machine(self.settings), 1000.0
        self.state = self.machine.state
        self.journal: dict[tuple[str, str], Row] = {}

    @overload
    def say(self, event: Ask[T], after: float = 0.0) -> Decision[T]: ...
    @overload
    def say(self, event: ev.Event, after: float = 0.0) -> Decision[None]: ...
    def say(self, event: ev.Event | Ask[Any], after: float = 0.0) -> Decision[Any]:
        """Let this happen ``after`` seconds. Nothing wakes the core in between."""
        self.now += after
        decision = said(self.machine, self.now, event)
        for change in decision.changes:
            self.journal.pop((change.table, change.key), None)
            if change.row is not None:
                self.journal[change.table, change.key] = change.row
        return decision

    @overload
    def do(self, event: Ask[T], after: float = 0.0) -> Decision[T]: ...
    @overload
    def do(self, event: ev.Event, after: float = 0.0) -> Decision[None]: ...
    def do(self, event: ev.Event | Ask[Any], after: float = 0.0) -> Decision[Any]:
        decision = self.say(event, after)
        assert decision.refusal is None, decision.refusal
        return decision

    def refused(self, event: Ask[Any], error: type[E], after: float = 0.0) -> E:
        refusal = self.say(event, after).refusal
        assert isinstance(refusal, error), refusal
        assert issubclass(error, BY_CODE[refusal.code])
        assert refusal.message
        assert refusal.hint
        return refusal

    def restart(self, after: float = 0.0) -> Decision[Any]:
        self.machine = Machine(self.settings, self.journal.values())
        self.state = self.machine.state
        outcome = self.do(ev.BrokerRestarted(), after)
        self.do(ev.BrokerListens())
        return outcome

    def agent(self, name: str, spec: core.SessionSpec = HOME, *, lease: bool = False) -> AgentId:
        agent = AgentId(f"agent_{name.encode().hex():0<32}_7")
        self.do(Ask(core.connect_agent, agent=agent, pid=7, process_started="1", name=name,
                                  secret_digest="d", session=spec, lease=lease))  # fmt: skip
        return agent

    def tab(self, agent: AgentId, session: str | None = None, *, evict: bool = False) -> Tab:
        """Open a tab and let the browser answer."""
        tab = self.do(Ask(core.open_tab, agent, session, URL, evict=evict)).answer.tab
        self.do(ev.TabReady(tab.id, TabHandle(f"h-{tab.id}")))
        return self.state.tabs[tab.id]


def tab_of(play: Play, event: ev.TabOpened, after: float = 0.0) -> Tab:
    """Let the browser open a tab that nobody ordered, and return its row."""
    play.do(event, after)
    tab = play.state.tab_with(event.browser, event.handle)
    assert tab is not None
    return tab


def said(machine: Machine, now: float, event: ev.Event | Ask[Any]) -> Decision[Any]:
    """Tell the machine about the event, or ask it the request."""
    return machine.decide(now, event) if isinstance(event, Ask) else machine.hear(now, event)
