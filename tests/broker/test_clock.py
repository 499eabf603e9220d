from __future__ import annotations

import asyncio

from roost.broker.clock import SystemClock


async def test_time_goes_on_and_never_back() -> None:
    clock = SystemClock()
    times = [clock.now() for _ in range(100)]
    assert times == sorted(times)


async def test_a_time_that_has_come_calls_back_soon_and_not_at_once() -> None:
    clock = SystemClock()
    called = asyncio.Event()
    clock.call_at(clock.now() - 10, called.set)
    assert not called.is_set()
    async with asyncio.timeout(5):
        await called.wait()


async def test_a_cancelled_timer_is_silent() -> None:
    clock = SystemClock()
    called: list[str] = []
    clock.call_at(clock.now(), lambda: called.append("cancelled")).cancel()
    clock.call_at(clock.now(), lambda: called.append("kept"))
    async with asyncio.timeout(5):
        await clock.wait(0.001)
    assert called == ["kept"]
