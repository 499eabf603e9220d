"""``Pool``: the slots of one browser, counted as rows come and go."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass, field
from typing import TypeVar

from roost.core.rows import SlotRequest
from roost.vocabulary import TAB_HEAVY_ABOVE, SessionId

A = TypeVar("A")


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


def _count(tally: Tally[A], what: A, change: int) -> None:
    """Add ``change`` to one count, and remove counts that reach zero."""
    tally[what] += change
    if not tally[what]:
        del tally[what]
