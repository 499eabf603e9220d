"""``BrokerApi``: above it every front end, below it the broker (or a client's connection to one).

It knows neither sockets nor MCP nor who is calling: the caller's identity is bound when the object
is handed out, and can never be an argument.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

from roost.api.operations import Answers
from roost.api.views import View

R = TypeVar("R", bound=View)
NOTICES_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened in one of the caller's sessions."""

    session: str
    kind: str
    data: Mapping[str, Any]

    def to_wire(self) -> dict[str, Any]:
        return {"session": self.session, "kind": self.kind, "data": dict(self.data)}

    @staticmethod
    def from_wire(wire: Mapping[str, Any]) -> Notice:
        return Notice(str(wire["session"]), str(wire["kind"]), dict(wire["data"]))


class Notices:
    """What happens, from the moment this is made: iterate it, and close it when done."""

    def __init__(self, on_close: Callable[[Notices], object]) -> None:
        self._queue: asyncio.Queue[Notice] = asyncio.Queue(NOTICES_KEPT)
        self._on_close = on_close

    def put(self, notice: Notice) -> None:
        if self._queue.full():  # who does not read loses the oldest, and only they
            self._queue.get_nowait()
        self._queue.put_nowait(notice)

    def close(self) -> None:
        self._on_close(self)

    def __aiter__(self) -> Notices:
        return self

    async def __anext__(self) -> Notice:
        return await self._queue.get()

    def __enter__(self) -> Notices:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class BrokerApi(Protocol):
    """One caller's way in."""

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        """Do it. Raises a ``RoostError`` when refused, failed, or past ``timeout`` seconds."""

    def watch(self, session: str | None = None) -> Notices:
        """What happens from now on in ``session``, or in all of the caller's."""
