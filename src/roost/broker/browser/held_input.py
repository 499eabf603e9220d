"""Mouse buttons and keys that a session's input holds down in a tab.

A hold ends with its session: when the session ends or is paused, when its tab moves to another
session, and when the agent that pressed it is gone. Then the button or key is released, so that the
next user of the tab does not find it pressed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from roost.broker.clock import Clock
from roost.core.rows import Tab
from roost.core.state import Change, State
from roost.vocabulary import AgentId, SessionId, TabId


@dataclass(eq=False, slots=True)
class _Hold:
    tab: Tab
    agent: AgentId
    is_member: bool
    """The agent was a member of the session. The operator is not."""
    end: Callable[[], None]
    """Called once the hold must end."""
    held: set[str] = field(default_factory=set)
    """Mouse buttons and keys that stay down after the call that pressed them."""


class HeldInputs:
    """The buttons and keys that agents hold in the tabs of one broker.

    let_go: releases everything that input holds in that tab.
    """

    def __init__(
        self, state: Callable[[], State], clock: Clock, let_go: Callable[[TabId], None]
    ) -> None:
        self._state = state
        self._clock = clock
        self._let_go = let_go
        self._holds: set[_Hold] = set()

    def pressed(self, tab: Tab, agent: AgentId, what: str) -> None:
        """Note that the agent presses a mouse button or key and will not release it soon."""
        hold = self._pressed(tab.id) or self._begin(tab, agent, lambda: self._let_go(tab.id))
        hold.held.add(what)

    def released(self, tab: TabId, what: str) -> None:
        hold = self._pressed(tab)
        if hold is not None:
            hold.held.discard(what)
            if not hold.held:
                self._holds.discard(hold)

    async def key_held(self, tab: Tab, agent: AgentId, seconds: float) -> bool:
        """Wait that long while the agent holds a key. Return True if the hold had to end early."""
        ended = asyncio.Event()
        hold = self._begin(tab, agent, ended.set)
        timer = self._clock.call_at(self._clock.now() + seconds, ended.set)
        try:
            self.review()
            await ended.wait()
            return hold not in self._holds
        finally:
            timer.cancel()
            self._holds.discard(hold)

    def rows_changed(self, changes: Sequence[Change]) -> None:
        """End the holds that the changed rows forbid."""
        if self._holds:
            self.review()

    def review(self) -> None:
        """End the holds that may not go on."""
        for hold in [hold for hold in self._holds if not self._may_go_on(hold)]:
            self._holds.discard(hold)
            hold.end()

    def _begin(self, tab: Tab, agent: AgentId, end: Callable[[], None]) -> _Hold:
        tab = self._state().tabs.get(tab.id, tab)
        hold = _Hold(tab, agent, self._is_member(tab.session, agent), end)
        self._holds.add(hold)
        return hold

    def _pressed(self, tab: TabId) -> _Hold | None:
        return next((hold for hold in self._holds if hold.held and hold.tab.id == tab), None)

    def _may_go_on(self, hold: _Hold) -> bool:
        state = self._state()
        row, session = (
            state.tabs.get(hold.tab.id),
            state.sessions.get(hold.tab.session or SessionId("")),
        )
        if row is None or row.session != hold.tab.session or row.handle != hold.tab.handle:
            return False
        if session is None or session.paused:
            return False
        return self._is_member(row.session, hold.agent) or not hold.is_member

    def _is_member(self, session: SessionId | None, agent: AgentId) -> bool:
        return session is not None and self._state().member(agent, session) is not None
