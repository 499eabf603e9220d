"""Keep new tabs paused until all DevTools clients that want to see their start are ready."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roost.vocabulary import TabHandle


class Holds:
    """The holders of each paused tab. ``let_run`` is called when the last holder releases it."""

    def __init__(self, let_run: Callable[[TabHandle], None]) -> None:
        self._let_run = let_run
        self._holders: dict[TabHandle, set[object]] = {}

    def hold(self, tab: TabHandle, holders: Iterable[object]) -> None:
        self._holders[tab] = set(holders)

    def release(self, tab: TabHandle, holder: object) -> None:
        holders = self._holders.get(tab, set())
        if holder in holders:
            holders.discard(holder)
            if not holders:
                del self._holders[tab]
                self._let_run(tab)

    def leave(self, holder: object) -> None:
        """Release all tabs of a holder that is gone."""
        for tab in [tab for tab, holders in self._holders.items() if holder in holders]:
            self.release(tab, holder)

    def forget(self, tab: TabHandle) -> None:
        """Forget the holders of a tab that is gone."""
        self._holders.pop(tab, None)
