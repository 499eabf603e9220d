"""Wait without sleeping: for a call to begin, for a refusal, for a condition."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from roost.errors import RoostError

T = TypeVar("T")
E = TypeVar("E", bound=RoostError)
SECONDS = 20.0
"""Timeout of every wait in a test. No wait comes near it in a run that passes."""
TURNS = 200
LOOK_AGAIN_SECONDS = 0.005


async def error_of(kind: type[E], call: Awaitable[object]) -> E:
    """Return the error that the call raises. Its class must be exactly ``kind``."""
    try:
        async with asyncio.timeout(SECONDS):
            answer = await call
    except RoostError as error:
        if type(error) is not kind:
            raise AssertionError(f"expected {kind.code}, got {error.to_wire()}") from error
        return error
    raise AssertionError(f"expected {kind.code}, was answered {answer!r}")


async def started(call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start the call as a task, and return the task once it has run up to its first wait."""
    task = asyncio.get_running_loop().create_task(call)
    await turn()
    return task


async def turn() -> None:
    """Wait one turn of the loop: everything that was ready before has run."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    loop.call_soon(over.set_result, None)
    await over


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds.

    What happens in this process's own loop happens within a few turns. If the condition does not
    hold by then, it depends on another process or on time, so look again only now and then: a loop
    that spins would take the processor away from the process it waits for.
    """
    async with asyncio.timeout(SECONDS):
        for _ in range(TURNS):
            if condition():
                return
            await turn()
        while not condition():
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), LOOK_AGAIN_SECONDS)


async def answer_of(call: Awaitable[T]) -> T:
    """Return the call's answer. Raise ``TimeoutError`` if it takes longer than ``SECONDS``."""
    async with asyncio.timeout(SECONDS):
        return await call
