from __future__ import annotations

import asyncio

from roost.broker.change_signal import News
from roost.testing.waits import answer_of, started


async def test_all_who_wait_are_told_once() -> None:
    news = News()
    news.tell()  # to nobody, and not kept
    waiting = [await started(news.wait()) for _ in range(2)]
    assert not any(task.done() for task in waiting)
    news.tell()
    for task in waiting:
        await answer_of(task)
    late = await started(news.wait())
    assert not late.done()
    news.tell()
    await answer_of(late)


async def test_one_who_gives_up_takes_nobody_along() -> None:
    news = News()
    impatient, patient = [await started(news.wait()) for _ in range(2)]
    impatient.cancel()
    await asyncio.wait({impatient})
    assert not patient.done()
    news.tell()
    await answer_of(patient)
