"""Captures of one tab take turns; different tabs never wait for each other.

Turns go first come, first served. A capture that has waited three seconds behind another agent's is
refused with an error that names the holder. A holder that fails or ends frees the turn. The journal
stores no captures, because they end with the broker.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from roost.core import rules
from roost.core.effects import Effect, RefuseCapture, StartCapture
from roost.core.events import CaptureEnded, CaptureRequested
from roost.core.state import State
from roost.errors import MutexBusy
from roost.vocabulary import (
    CAPTURE_RETRY_MS,
    CAPTURE_WAIT_SECONDS,
    AgentId,
    TabId,
    shown,
)


@dataclass(slots=True)
class _Turn:
    capture: int
    agent: AgentId
    asked_at: float
    started_at: float | None = None


class Captures:
    """The queues of captures, one per tab. The first capture of each queue has its turn."""

    def __init__(self) -> None:
        self._lines: dict[TabId, deque[_Turn]] = {}

    def request(self, state: State, event: CaptureRequested, now: float, out: list[Effect]) -> None:
        """Queue a capture. Refuses tabs that are gone and agents that have ended."""
        if event.tab not in state.tabs:
            raise rules.no_tab(event.tab)
        rules.check_alive(state, event.agent)
        line = self._lines.setdefault(event.tab, deque())
        line.append(_Turn(event.capture, event.agent, now))
        self._serve(event.tab, now, out)

    def end(self, event: CaptureEnded, now: float, out: list[Effect]) -> None:
        line = self._lines.get(event.tab)
        if line is None:
            return
        self._lines[event.tab] = deque(turn for turn in line if turn.capture != event.capture)
        self._serve(event.tab, now, out)

    def withdraw(self, agent: AgentId, now: float, out: list[Effect]) -> None:
        """Drop an ended agent's captures, and start the next ones."""
        for tab, line in list(self._lines.items()):
            self._lines[tab] = deque(turn for turn in line if turn.agent != agent)
            self._serve(tab, now, out)

    def expire(self, state: State, now: float, out: list[Effect]) -> None:
        """Refuse captures that have waited too long behind another agent's."""
        for tab, line in self._lines.items():
            holder = line[0]
            for turn in [turn for turn in line if self._is_overdue(turn, holder, now)]:
                line.remove(turn)
                out.append(RefuseCapture(turn.capture, _busy(state, tab, holder, now)))

    def next_deadline(self) -> float | None:
        """Return when the next waiting capture is to be refused."""
        waits = [
            turn.asked_at + CAPTURE_WAIT_SECONDS
            for line in self._lines.values()
            for turn in line
            if turn.started_at is None and turn.agent != line[0].agent
        ]
        return min(waits, default=None)

    def _serve(self, tab: TabId, now: float, out: list[Effect]) -> None:
        line = self._lines[tab]
        if not line:
            del self._lines[tab]
        elif line[0].started_at is None:
            line[0].started_at = now
            out.append(StartCapture(line[0].capture))

    @staticmethod
    def _is_overdue(turn: _Turn, holder: _Turn, now: float) -> bool:
        waited = now - turn.asked_at
        return turn.agent != holder.agent and waited >= CAPTURE_WAIT_SECONDS


def _busy(state: State, tab: TabId, holder: _Turn, now: float) -> MutexBusy:
    row = state.tabs.get(tab)
    started = holder.started_at if holder.started_at is not None else now
    return MutexBusy(
        f"Tab {tab} is being captured by {shown(holder.agent)}.",
        retry_after_ms=CAPTURE_RETRY_MS,
        holder=shown(holder.agent),
        heldForMs=int((now - started) * 1000),
        tabPool=state.pool(row.browser).shown if row is not None else "",
    )
