"""``FakeClock``: time that moves only when a test advances it."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

from roost.broker.clock import Timer

START = 1_000_000_000.0


class FakeTimer:
    """A callback that ``advance`` will make, unless it is cancelled first."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self._callback = None

    def fire(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class FakeClock:
    """A ``broker.clock.Clock`` whose time a test controls."""

    def __init__(self, now: float = START) -> None:
        self._now = now
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._numbers = count()
        self.waits: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
        """Each ``wait`` as it begins: the task's name and the seconds. ``waited`` reads them."""

    def now(self) -> float:
        return self._now

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        timer = FakeTimer(callback)
        if at <= self._now:
            # Like the real clock: call it soon, but never from within this call.
            asyncio.get_running_loop().call_soon(timer.fire)
        else:
            heapq.heappush(self._timers, (at, next(self._numbers), timer))
        return timer

    async def wait(self, seconds: float) -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not over.done():  # the waiting task may have been cancelled already
                over.set_result(None)

        timer = self.call_at(self._now + seconds, end)
        task = asyncio.current_task()
        self.waits.put_nowait(("" if task is None else task.get_name(), seconds))
        try:
            await over
        finally:
            timer.cancel()

    async def waited(self, name: str) -> float:
        """Wait until the task of that name begins a wait, and return the seconds of that wait."""
        while True:
            task, seconds = await self.waits.get()
            if task == name:
                return seconds

    def advance(self, seconds: float) -> None:
        """Let time pass, and make the callbacks that fall due, each at its own time.

        Callbacks that an earlier one adds are included.
        """
        until = self._now + seconds
        while self._timers and self._timers[0][0] <= until:
            at, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, at)
            timer.fire()
        self._now = until
