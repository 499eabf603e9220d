"""``FakeClock``: time that moves only when a test says so."""

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
    """Implements ``broker.clock.Clock``."""

    def __init__(self, now: float = START) -> None:
        self._now = now
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._numbers = count()
        self.waits: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
        """Each ``wait`` as it begins, by the task's name and the seconds: see ``waited``."""

    def now(self) -> float:
        return self._now

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        timer = FakeTimer(callback)
        if at <= self._now:
            # As the real one: soon, but never from within the call that asked for it.
            asyncio.get_running_loop().call_soon(timer.fire)
        else:
            heapq.heappush(self._timers, (at, next(self._numbers), timer))
        return timer

    async def wait(self, seconds: float) -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not over.done():  # whoever waited was cancelled, and has not run since
                over.set_result(None)

        timer = self.call_at(self._now + seconds, end)
        task = asyncio.current_task()
        self.waits.put_nowait(("" if task is None else task.get_name(), seconds))
        try:
            await over
        finally:
            timer.cancel()

    async def waited(self, name: str) -> float:
        """The seconds that the task of that name waits for; once it does, and no earlier wait."""
        while True:
            task, seconds = await self.waits.get()
            if task == name:
                return seconds

    def advance(self, seconds: float) -> None:
        """Let time pass. What falls due is called in order, each at its own time, also what was
        asked for only by an earlier one."""
        until = self._now + seconds
        while self._timers and self._timers[0][0] <= until:
            at, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, at)
            timer.fire()
        self._now = until
