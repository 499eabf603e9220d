"""The browser processes that store the contents of jars. Their pids show whether one has died."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Stores:
    """The pids of the processes that hold cookies and localStorage. 0: no such process runs. If
    both are 0, the browser did not name its processes.

    Such a process can die while the browser continues. The browser then starts a new process, and
    every jar has lost what the old process held. Chromium sends no event about this.
    """

    cookies: int = 0
    storage: int = 0

    def __bool__(self) -> bool:
        return bool(self.cookies or self.storage)

    def lost_by(self, now: Stores) -> Stores:
        """Return the processes of ``self`` that have died by ``now``. The result is false if none
        has died or ``now`` is unknown."""
        if not now:
            return Stores()
        return Stores(
            self.cookies if self.cookies != now.cookies else 0,
            self.storage if self.storage != now.storage else 0,
        )


@runtime_checkable
class StoreDriver(Protocol):
    """A driver that can name its browser's storage processes."""

    async def stores(self) -> Stores: ...
