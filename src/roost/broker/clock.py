"""The clock. Only this file reads the time; other code is given ``now`` or a ``Clock``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """Seconds since the epoch. The value never goes backwards while the process lives."""

    def now(self) -> float: ...

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        """Call back once ``now()`` has reached ``at`` and all earlier input is handled."""

    async def wait(self, seconds: float) -> None:
        """Sleep for that many seconds."""


class _Alarm:
    """Call back some turns of the loop after the time is reached.

    A loop that was blocked runs due timers before it handles the connections and data that arrived
    meanwhile. Accepting a connection, making its transport and reading its first bytes take one
    turn each. Without the delay, a grace period could expire although its agent has reconnected.
    """

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
    """Wall time at creation, advanced by the monotonic clock.

    Deadlines stay valid after a restart of the broker, and a changed system time moves none.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset + time.monotonic()

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        return _Alarm(max(0.0, at - self.now()), callback)

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
