from __future__ import annotations

import asyncio

from roost.broker.change_signal import ChangeSignal
from roost.testing.waits import answer_of, started


async def test_every_waiter_is_woken_once() -> None:
    signal = ChangeSignal()
    signal.tell()  # to nobody, and not kept
    waiting = [await started(signal.wait()) for _ in range(2)]
    assert not any(task.done() for task in waiting)
    signal.tell()
    for task in waiting:
        await answer_of(task)
    late = await started(signal.wait())
    assert not late.done()
    signal.tell()
    await answer_of(late)


async def test_a_waiter_that_gives_up_does_not_wake_the_others() -> None:
    signal = ChangeSignal()
    impatient, patient = [await started(signal.wait()) for _ in range(2)]
    impatient.cancel()
    await asyncio.wait({impatient})
    assert not patient.done()
    signal.tell()
    await answer_of(patient)
