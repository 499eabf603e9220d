"""One lane per tab: operations on one tab take turns, and different tabs never wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from roost.errors import RoostError, TabGone
from roost.vocabulary import TabId


class _Lane:
    __slots__ = ("ended", "lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()  # wakes its waiters in order
        self.users = 0
        self.ended: RoostError | None = None


class Lanes:
    """The lanes of all tabs. A lane exists while a call holds it or waits for it."""

    def __init__(self) -> None:
        self._lanes: dict[TabId, _Lane] = {}

    def __len__(self) -> int:
        return len(self._lanes)

    @asynccontextmanager
    async def turn(self, tab: TabId) -> AsyncIterator[None]:
        """Wait for the tab's turn and hold it. Raises the tab's error if it ends meanwhile."""
        lane = self._lanes.setdefault(tab, _Lane())
        lane.users += 1
        try:
            async with lane.lock:
                if lane.ended is not None:
                    raise lane.ended
                try:
                    yield
                except TabGone:
                    # The core knows why the tab is gone; the driver does not.
                    raise lane.ended or TabGone(f"Tab {tab} is gone.", tab=tab) from None
        finally:
            lane.users -= 1
            if lane.users == 0 and self._lanes.get(tab) is lane:
                del self._lanes[tab]

    def tabs(self) -> frozenset[TabId]:
        """Return the tabs that a call works on or waits for."""
        return frozenset(self._lanes)

    def end(self, tab: TabId, error: RoostError) -> None:
        """End the lane of a tab that is gone. Calls that wait for the tab raise ``error``. The call
        that works on it raises ``error`` when its driver reports ``TabGone``."""
        lane = self._lanes.pop(tab, None)
        if lane is not None:
            lane.ended = error
