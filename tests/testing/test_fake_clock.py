from __future__ import annotations

import asyncio

from roost.testing.clock import START, FakeClock
from roost.testing.waits import started, turn


async def test_time_moves_only_when_the_test_advances_it() -> None:
    clock = FakeClock()
    called: list[float] = []
    clock.call_at(START + 5, lambda: called.append(clock.now()))
    clock.advance(4.5)
    assert (called, clock.now()) == ([], START + 4.5)
    clock.advance(0.5)
    assert called == [START + 5]


async def test_due_callbacks_run_in_order_at_their_own_time() -> None:
    clock = FakeClock()
    called: list[tuple[str, float]] = []

    def again() -> None:
        called.append(("first", clock.now()))
        clock.call_at(START + 3, lambda: called.append(("asked for meanwhile", clock.now())))

    clock.call_at(START + 4, lambda: called.append(("last", clock.now())))
    clock.call_at(START + 2, again)
    clock.call_at(START + 2, lambda: called.append(("as asked", clock.now())))
    clock.advance(10)
    assert called == [
        ("first", START + 2),
        ("as asked", START + 2),
        ("asked for meanwhile", START + 3),
        ("last", START + 4),
    ]
    assert clock.now() == START + 10


async def test_an_overdue_callback_runs_in_a_later_turn_of_the_loop() -> None:
    clock = FakeClock()
    called: list[str] = []
    clock.call_at(START - 1, lambda: called.append("late"))
    clock.call_at(START, lambda: called.append("cancelled")).cancel()
    assert called == []
    await turn()
    assert called == ["late"]


async def test_a_wait_is_recorded_and_ends_at_its_time() -> None:
    clock = FakeClock()
    task = await started(clock.wait(7))
    assert clock.waits.get_nowait()[1] == 7
    clock.advance(6)
    await turn()
    assert not task.done()
    clock.advance(1)
    await task


async def test_a_cancelled_wait_ends_as_cancelled() -> None:
    clock = FakeClock()
    task = await started(clock.wait(7))
    task.cancel()
    clock.advance(10)
    await asyncio.wait({task})
    assert task.cancelled()


async def test_waits_are_distinguished_by_the_name_of_the_waiting_task() -> None:
    clock = FakeClock()
    async with asyncio.TaskGroup() as group:
        for name, seconds in (("hasty", 1), ("patient", 7), ("hasty", 2)):
            group.create_task(clock.wait(seconds), name=name)
        assert await clock.waited("patient") == 7
        assert await clock.waited("hasty") == 2
        clock.advance(7)
