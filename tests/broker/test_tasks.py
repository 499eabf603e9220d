from __future__ import annotations

import asyncio

import pytest

from roost.broker.tasks import Tasks
from roost.errors import TabGone
from roost.testing.waits import started, turn


async def _never() -> None:
    await asyncio.get_running_loop().create_future()


async def _fail(error: Exception) -> None:
    raise error


async def test_a_task_has_a_name_and_is_kept_until_it_is_done() -> None:
    tasks = Tasks()
    gate = asyncio.Event()
    task = tasks.spawn(gate.wait(), name="wait for it")
    assert (task.get_name(), len(tasks)) == ("wait for it", 1)
    gate.set()
    assert await task
    await turn()
    assert len(tasks) == 0


async def test_a_bug_in_a_task_is_logged_and_a_refusal_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = Tasks()
    for error in (TabGone("an answer"), ValueError("a bug")):
        await asyncio.wait({tasks.spawn(_fail(error), name="the failing one")})
    await turn()
    assert "a bug" in caplog.text
    assert "the failing one" in caplog.text
    assert "an answer" not in caplog.text


async def test_closing_cancels_what_is_left_also_what_it_starts_meanwhile() -> None:
    tasks = Tasks()
    ended: list[str] = []

    async def stubborn() -> None:
        try:
            await _never()
        finally:
            tasks.spawn(last_words(), name="last words")
            ended.append("stubborn")

    async def last_words() -> None:
        try:
            await _never()
        finally:
            ended.append("last words")

    task = tasks.spawn(stubborn(), name="stubborn")
    await (await started(turn()))
    await tasks.aclose()
    assert task.cancelled()
    assert ended == ["stubborn"] or ended == ["stubborn", "last words"]
    assert len(tasks) == 0
