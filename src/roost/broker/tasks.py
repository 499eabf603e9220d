"""Background tasks with names. References are held until they end, and failures are logged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from roost.errors import RoostError

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Tasks:
    """The background tasks of one owner. ``aclose`` cancels those that run and waits for them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    async def aclose(self) -> None:
        while self._tasks:
            pending = list(self._tasks)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            self._tasks.difference_update(pending)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        # A RoostError is the answer to a caller that awaits the task; any other error is a bug.
        if error is not None and not isinstance(error, RoostError):
            logger.error("task %s failed", task.get_name(), exc_info=error)
