"""Something changed: all who wait are told, and who has stopped waiting leaves nothing behind."""

from __future__ import annotations

import asyncio


class ChangeSignal:
    """Of one thing that changes."""

    def __init__(self) -> None:
        self._next: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        """Until it changes the next time."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._next)  # one who gives up takes nobody along

    def tell(self) -> None:
        told, self._next = self._next, None
        if told is not None:
            told.set_result(None)
