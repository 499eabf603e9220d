"""Waiting without sleeping: for a call to be under way, for a refusal, for something to be true."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from roost.errors import RoostError

T = TypeVar("T")
E = TypeVar("E", bound=RoostError)
SECONDS = 20.0
"""No wait in a test is longer. Nothing waits this long in a run that passes."""


async def error_of(kind: type[E], call: Awaitable[object]) -> E:
    """The error the call is answered with, which must be of exactly that class."""
    try:
        async with asyncio.timeout(SECONDS):
            answer = await call
    except RoostError as error:
        if type(error) is not kind:
            raise AssertionError(f"expected {kind.code}, got {error.to_wire()}") from error
        return error
    raise AssertionError(f"expected {kind.code}, was answered {answer!r}")


async def started(call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """The call as a task that has run up to its first wait."""
    task = asyncio.get_running_loop().create_task(call)
    await turn()
    return task


async def turn() -> None:
    """One turn of the loop: whatever was ready when this was called has run."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    loop.call_soon(over.set_result, None)
    await over


async def until(condition: Callable[[], object]) -> None:
    """Go on once the condition holds. Only for what happens in this process's own loop."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await turn()


async def answer_of(call: Awaitable[T]) -> T:
    """The call's answer, in time."""
    async with asyncio.timeout(SECONDS):
        return await call
