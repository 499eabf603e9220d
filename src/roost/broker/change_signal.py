"""A signal that wakes all tasks that wait for a change. Cancelled waiters leave nothing behind."""

from __future__ import annotations

import asyncio


class ChangeSignal:
    """Wake the waiting tasks each time one thing changes."""

    def __init__(self) -> None:
        self._next: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        """Wait until the next ``tell``."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._next)  # one cancelled waiter must not cancel the others

    def tell(self) -> None:
        told, self._next = self._next, None
        if told is not None:
            told.set_result(None)
