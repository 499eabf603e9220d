"""The core's one entrance is ``Machine.apply(event, now)``.

``apply`` works in three steps. It first expires everything that is due and gives freed slots to the
queue, so a late or missing wake-up changes nothing (``TimePassed`` names the two exceptions). Then
it calls the event's handler. Then it serves the queues again. A handler refuses by raising before
it has taken anything from anybody; ``apply`` returns the refusal as data.

The caller's duties: write ``changes`` to the journal, perform ``effects`` in order, answer the
request with ``refusal`` if there is one, and call again with ``TimePassed`` at ``next_deadline()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from roost.core import agents, browsers, consent, groups, jars, loops, pool, sessions, tabs
from roost.core import events as ev
from roost.core.captures import Captures
from roost.core.effects import Effect
from roost.core.rows import Agent, Jar, Loop, Reservation, Row, Session, SlotRequest, Tab
from roost.core.state import Change, Rules, State, restored
from roost.errors import RoostError
from roost.vocabulary import SessionId

Subject = Session | Tab | Jar | None
"""The session, tab or jar that an event was about."""
Handler = Callable[[State, Any, float, list[Effect]], Subject]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one event. ``subject`` is the session, tab or jar that the event was about."""

    subject: Subject
    effects: list[Effect]
    changes: list[Change]
    refusal: RoostError | None = None


class Machine:
    """Make all decisions, without I/O. The same events at the same times give the same outcomes."""

    def __init__(self, rules: Rules, rows: Iterable[Row] = ()) -> None:
        self.state = restored(rules, rows)
        self.captures = Captures()
        self._handlers: dict[type[ev.Event], Handler] = {
            ev.AgentConnected: agents.connected,
            ev.AgentResumed: agents.resumed,
            ev.AgentDisconnected: agents.disconnected,
            ev.AgentLeft: self._left,
            ev.LeaseRenewed: agents.renewed,
            ev.BrokerRestarted: agents.broker_restarted,
            ev.BrokerListens: agents.broker_listens,
            ev.SessionOpenRequested: sessions.open_session,
            ev.SessionDisposeRequested: sessions.dispose_session,
            ev.SessionTokenIssued: sessions.token_issued,
            ev.SessionPauseRequested: sessions.pause_session,
            ev.JarRequested: jars.request_jar,
            ev.JarReleased: jars.release_jar,
            ev.TabOpenRequested: pool.open_tab,
            ev.TabUseRequested: pool.use_tab,
            ev.TabSpawned: pool.spawned,
            ev.TabSpaceRequested: pool.request_space,
            ev.TabSpaceGranted: pool.grant_space,
            ev.TabSelectRequested: tabs.select_tab,
            ev.TabCloseRequested: tabs.request_close,
            ev.TabOpenAbandoned: sessions.tab_open_abandoned,
            ev.TabOpened: tabs.tab_opened,
            ev.TabOpenFailed: sessions.tab_open_failed,
            ev.TabVanished: tabs.tab_vanished,
            ev.TabMovedOn: tabs.tab_moved_on,
            ev.TabRead: tabs.tab_read,
            ev.TabBroke: tabs.tab_broke,
            ev.JarMade: tabs.jar_made,
            ev.JarRemoved: tabs.jar_removed,
            ev.BrowserUp: browsers.browser_up,
            ev.BrowserDown: browsers.browser_down,
            ev.TabRegrouped: groups.tab_regrouped,
            ev.GroupClosed: groups.group_closed,
            ev.PersonSaid: consent.said,
            ev.PersonAnswered: consent.answered,
            ev.CaptureRequested: self._capture_requested,
            ev.CaptureEnded: self._capture_ended,
            ev.LoopStartRequested: loops.start,
            ev.LoopStopRequested: loops.stop,
            ev.LoopTurnEnded: loops.turn_ended,
            ev.TimePassed: _nothing_more,
        }

    def apply(self, event: ev.Event, now: float) -> Outcome:
        """Decide about one event. Returns a refusal instead of raising it."""
        out: list[Effect] = []
        self._expire(event, now, out)
        subject: Subject = None
        refusal: RoostError | None = None
        try:
            subject = self._handlers[type(event)](self.state, event, now, out)
        except RoostError as error:
            refusal = error
        pool.serve_queues(self.state, now, out)
        return Outcome(subject, out, self.state.take_changes(), refusal)

    def next_deadline(self) -> float | None:
        """Return when to call with ``TimePassed`` if no event comes before (None: never)."""
        times = (self.state.next_deadline(), self.captures.next_deadline())
        return min((at for at in times if at is not None), default=None)

    def _expire(self, event: ev.Event, now: float, out: list[Effect]) -> None:
        """Handle all deadlines up to ``now``, before the event itself."""
        later: list[Agent | SlotRequest] = []
        waiting: dict[SessionId, SlotRequest] = {}
        for row in self.state.due(now):
            if isinstance(row, Agent | SlotRequest) and not isinstance(event, ev.TimePassed):
                later.append(row)
            elif isinstance(row, Agent):
                agents.expired(self.state, self.captures, row, now, out)
            elif isinstance(row, SlotRequest):
                waiting[row.session] = row
            elif isinstance(row, Reservation):
                pool.reservation_expired(self.state, row, out)
            elif isinstance(row, Session):
                sessions.end_session(self.state, row, out, why="nobody came back to it")
            else:
                assert isinstance(row, Loop)  # nothing else has a deadline
                loops.end(self.state, row, out, why="time limit")
        self.captures.expire(self.state, now, out)
        # Serve the queues before the event: a freed slot belongs to the queue, not to the next
        # caller.
        pool.serve_queues(self.state, now, out)
        if isinstance(event, ev.TimePassed):
            pool.enforce_shares(self.state, list(waiting.values()), event.busy, now, out)
        for row in later:
            self.state.remind(row, row.deadline or now)

    def _left(self, state: State, event: ev.AgentLeft, now: float, out: list[Effect]) -> Subject:
        agents.left(state, self.captures, event, now, out)
        return None

    def _capture_requested(
        self, state: State, event: ev.CaptureRequested, now: float, out: list[Effect]
    ) -> Subject:
        self.captures.request(state, event, now, out)
        return None

    def _capture_ended(
        self, state: State, event: ev.CaptureEnded, now: float, out: list[Effect]
    ) -> Subject:
        self.captures.end(event, now, out)
        return None


def _nothing_more(state: State, event: ev.TimePassed, now: float, out: list[Effect]) -> Subject:
    return None
