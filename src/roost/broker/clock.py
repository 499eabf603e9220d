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
        """Call back once ``now()`` has reached ``at`` and all input that came before is handled."""

    async def wait(self, seconds: float) -> None:
        """Let that much time pass."""


class _Alarm:
    """Fires some turns of the loop after its time. A loop that was held up has connections and data
    waiting, which it would handle after a timer that is due: to accept a connection, to make its
    transport, and to read its first bytes take a turn each."""

    TURNS = 5

    def __init__(self, delay: float, callback: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._callback = callback
        self._handle: asyncio.Handle = self._loop.call_later(delay, self._turn, self.TURNS)

    def cancel(self) -> None:
        self._handle.cancel()

    def _turn(self, left: int) -> None:
        if left:
            self._handle = self._loop.call_soon(self._turn, left - 1)
        else:
            self._callback()


class SystemClock:
    """Wall time when it was made, then the monotonic clock: deadlines survive a restart, and a
    changed system time moves none of them."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset + time.monotonic()

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        return _Alarm(max(0.0, at - self.now()), callback)

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
