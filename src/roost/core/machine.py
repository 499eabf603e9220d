"""``Machine`` makes every decision of the core, one at a time.

A decision works in three steps. It first expires everything that is due and gives freed slots to
the queue, so a late or missing wake-up changes nothing (``TimePassed`` names the two exceptions).
Then it runs the request, the query or the event's handler. Then it serves the queues again.

A request refuses by raising a ``RoostError`` before it has taken anything from anybody; the machine
returns the refusal as data. Any other exception is a bug: the machine undoes what the decision had
changed and lets the exception out.

The caller's duties: write ``changes`` to the journal, or call ``roll_back`` if that fails. Perform
``effects`` in order. Raise the ``refusal`` if there is one. Report ``TimePassed`` at
``next_deadline()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Generic, NamedTuple, TypeVar, assert_never

from roost.core import (
    agents,
    browsers,
    captures,
    consent,
    groups,
    jars,
    loops,
    policy,
    pool,
    questions,
    sessions,
    tabs,
)
from roost.core import events as ev
from roost.core.effects import Effect
from roost.core.rows import Agent, Approval, Loop, Question, Reservation, Row, Session, SlotRequest
from roost.core.settings import CoreSettings
from roost.core.state import Change, State, restored
from roost.errors import RoostError
from roost.vocabulary import SessionId

T = TypeVar("T")


class Decision(NamedTuple, Generic[T]):
    """The result of one request, query or event: an answer or a refusal."""

    answered: T | None
    refusal: RoostError | None
    effects: list[Effect]
    changes: list[Change]

    @property
    def answer(self) -> T:
        """The answer. Raises the refusal if there is one."""
        if self.refusal is not None:
            raise self.refusal
        return self.answered  # type: ignore[return-value]  # T itself may be None


class Machine:
    """Make all decisions, without I/O. The same calls at the same times give the same decisions."""

    def __init__(self, settings: CoreSettings, rows: Iterable[Row] = ()) -> None:
        self.state = restored(settings, rows)

    def decide(
        self, now: float, ask: Callable[[State], T], *, woken: ev.TimePassed | None = None
    ) -> Decision[T]:
        """Decide about one request or query. Returns a refusal instead of raising it.

        woken: the wake-up, if the decision is about one.
        """
        state = self.state
        state.begin(now)
        answered: T | None = None
        refusal: RoostError | None = None
        try:
            self._expire(woken)
            try:
                answered = ask(state)
            except RoostError as error:
                refusal = error
            pool.serve_queues(state)
        except BaseException:
            state.roll_back()
            raise
        return Decision(answered, refusal, state.effects, state.changes)

    def hear(self, now: float, event: ev.Event) -> Decision[None]:
        """Decide about one event."""
        woken = event if isinstance(event, ev.TimePassed) else None
        return self.decide(now, partial(happened, event=event), woken=woken)

    def roll_back(self) -> None:
        """Undo the last decision, because its changes could not be written."""
        self.state.roll_back()

    def next_deadline(self) -> float | None:
        """Return when to report ``TimePassed`` if nothing happens before (None: never)."""
        times = (self.state.next_deadline(), captures.next_deadline(self.state))
        return min((at for at in times if at is not None), default=None)

    def _expire(self, woken: ev.TimePassed | None) -> None:
        """Handle all deadlines up to now, before the request or event itself."""
        state = self.state
        later: list[Agent | SlotRequest] = []
        waiting: dict[SessionId, SlotRequest] = {}
        for row in state.due():
            if isinstance(row, Agent | SlotRequest) and woken is None:
                later.append(row)
            elif isinstance(row, Agent):
                agents.expired(state, row)
            elif isinstance(row, SlotRequest):
                waiting[row.session] = row
            elif isinstance(row, Reservation):
                pool.reservation_expired(state, row)
            elif isinstance(row, Session):
                agents.kept_expired(state, row)
            elif isinstance(row, Question):
                questions.expired(state, row)
            elif isinstance(row, Approval):
                state.drop(row)
            else:
                assert isinstance(row, Loop)  # nothing else has a deadline
                loops.end(state, row, why="time limit")
        if state.captures:
            captures.expire(state)
        # Serve the queues before the request: a freed slot belongs to the queue, not to the next
        # caller.
        pool.serve_queues(state)
        if woken is not None:
            pool.enforce_shares(state, list(waiting.values()), woken.busy)
        for row in later:
            state.remind(row, row.deadline or state.now)


def happened(state: State, event: ev.Event) -> None:
    """Call the event's handler."""
    match event:
        case ev.TabReady():
            tabs.tab_ready(state, event)
        case ev.AgentDisconnected():
            agents.disconnected(state, event)
        case ev.AgentLeft():
            agents.left(state, event)
        case ev.SubagentEnded():
            agents.subagent_ended(state, event)
        case ev.CallEnded():
            agents.call_ended(state, event)
        case ev.JarReleased():
            jars.release_jar(state, event)
        case ev.TabOpenAbandoned():
            sessions.tab_open_abandoned(state, event.tab)
        case ev.CaptureEnded():
            captures.end_capture(state, event)
        case ev.BrowserUp():
            browsers.browser_up(state, event)
        case ev.BrowserDown():
            browsers.browser_down(state, event)
        case ev.JarMade():
            jars.jar_made(state, event)
        case ev.JarRemoved():
            jars.jar_removed(state, event)
        case ev.TabOpenFailed():
            sessions.tab_open_failed(state, event.tab)
        case ev.TabOpened():
            pool.tab_opened(state, event)
        case ev.TabClosed():
            tabs.tab_closed(state, event)
        case ev.TabNavigated():
            tabs.tab_navigated(state, event)
        case ev.TabRead():
            tabs.tab_read(state, event)
        case ev.SecretFilled():
            tabs.secret_filled(state, event)
        case ev.DownloadAdmitted():
            policy.download_admitted(state, event)
        case ev.TabCrashed():
            tabs.tab_crashed(state, event)
        case ev.TabMoved():
            groups.tab_moved(state, event)
        case ev.GroupClosed():
            groups.group_closed(state, event)
        case ev.PersonSaid():
            consent.said(state, event)
        case ev.PersonAnswered():
            consent.answered(state, event)
        case ev.BrokerRestarted():
            agents.broker_restarted(state)
        case ev.BrokerListens():
            agents.broker_listens(state)
        case ev.TimePassed():
            pass  # everything that is due has been handled before
        case _:
            assert_never(event)
