"""Captures of one tab take turns; different tabs never wait for each other.

Turns go first come, first served. A capture that has waited three seconds behind another agent's is
refused with an error that names the holder. A holder that fails or ends frees the turn. The journal
stores no captures, because they end with the broker.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from roost.core import rules
from roost.core.effects import RefuseCapture, StartCapture
from roost.core.events import CaptureEnded
from roost.core.rows import CaptureTurn
from roost.core.state import State
from roost.errors import MutexBusy
from roost.vocabulary import CAPTURE_RETRY_MS, CAPTURE_WAIT_SECONDS, AgentId, TabId, shown


def request_capture(state: State, agent: AgentId, tab: TabId, capture: int) -> None:
    """Queue a capture. Refuses tabs that are gone and agents that have ended."""
    if tab not in state.tabs:
        raise rules.no_tab(tab)
    rules.check_alive(state, agent)
    turn = CaptureTurn(capture=capture, agent=agent, asked_at=state.now)
    _serve(state, tab, [*state.captures.get(tab, ()), turn])


def end_capture(state: State, event: CaptureEnded) -> None:
    line = state.captures.get(event.tab, ())
    _serve(state, event.tab, [turn for turn in line if turn.capture != event.capture])


def withdraw(state: State, agent: AgentId) -> None:
    """Drop an ended agent's captures, and start the next ones."""
    for tab, line in list(state.captures.items()):
        _serve(state, tab, [turn for turn in line if turn.agent != agent])


def expire(state: State) -> None:
    """Refuse captures that have waited too long behind another agent's."""
    for tab, line in list(state.captures.items()):
        overdue = [turn for turn in line if _is_overdue(turn, line[0], state.now)]
        for turn in overdue:
            state.emit(RefuseCapture(turn.capture, _busy(state, tab, line[0])))
        if overdue:
            _serve(state, tab, [turn for turn in line if turn not in overdue])


def next_deadline(state: State) -> float | None:
    """Return when the next waiting capture is to be refused."""
    waits = [
        turn.asked_at + CAPTURE_WAIT_SECONDS
        for line in state.captures.values()
        for turn in line
        if turn.started_at is None and turn.agent != line[0].agent
    ]
    return min(waits, default=None)


def _serve(state: State, tab: TabId, line: Iterable[CaptureTurn]) -> None:
    """Store the tab's line of captures. The first capture starts, if it has not started yet."""
    turns = tuple(line)
    if turns and turns[0].started_at is None:
        turns = (replace(turns[0], started_at=state.now), *turns[1:])
        state.emit(StartCapture(turns[0].capture))
    state.put_captures(tab, turns)


def _is_overdue(turn: CaptureTurn, holder: CaptureTurn, now: float) -> bool:
    waited = now - turn.asked_at
    return turn.agent != holder.agent and waited >= CAPTURE_WAIT_SECONDS


def _busy(state: State, tab: TabId, holder: CaptureTurn) -> MutexBusy:
    row = state.tabs.get(tab)
    started = holder.started_at if holder.started_at is not None else state.now
    return MutexBusy(
        f"Tab {tab} is being captured by {shown(holder.agent)}.",
        retry_after_ms=CAPTURE_RETRY_MS,
        holder=shown(holder.agent),
        heldForMs=int((state.now - started) * 1000),
        tabPool=state.pool(row.browser).shown if row is not None else "",
    )
