"""Time. The one file that reads the clock; everybody else is given ``now`` or a ``Clock``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """Seconds since the epoch that never go backwards while a process lives."""

    def now(self) -> float: ...

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        """Call back once ``now()`` has reached ``at``."""

    async def wait(self, seconds: float) -> None:
        """Let that much time pass."""


class SystemClock:
    """Wall time when it was made, then the monotonic clock: deadlines survive a restart, and a
    changed system time moves none of them."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset + time.monotonic()

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        delay = max(0.0, at - self.now())
        return asyncio.get_running_loop().call_later(delay, callback)

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
