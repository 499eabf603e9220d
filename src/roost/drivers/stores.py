"""The processes in which a browser holds what is in its jars, and whether one of them has died."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Stores:
    """The processes that hold cookies and localStorage, by pid; 0 where none runs. If both are 0,
    the browser did not tell its processes.

    Such a process can die while the browser runs on. Then a new one takes its place, and what the
    old one held is gone from every jar. No event of Chromium says so.
    """

    cookies: int = 0
    storage: int = 0

    def __bool__(self) -> bool:
        return bool(self.cookies or self.storage)

    def lost_by(self, now: Stores) -> Stores:
        """Those of these processes that have died by ``now``; false if none has, or if ``now`` is
        not known."""
        if not now:
            return Stores()
        return Stores(
            self.cookies if self.cookies != now.cookies else 0,
            self.storage if self.storage != now.storage else 0,
        )


@runtime_checkable
class Stored(Protocol):
    """A driver whose browser has such processes."""

    async def stores(self) -> Stores: ...
