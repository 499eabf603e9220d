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
    """What happens, from the moment this is made: iterate it, and close it when done. Once it is
    closed, by whoever, the iteration ends after what came before."""

    def __init__(self, on_close: Callable[[Notices], object]) -> None:
        self._queue: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._on_close = on_close
        self._is_closed = False

    def put(self, notice: Notice) -> None:
        if self._is_closed:
            return
        if self._queue.qsize() >= NOTICES_KEPT:  # who does not read loses the oldest, and only they
            self._queue.get_nowait()
        self._queue.put_nowait(notice)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._on_close(self)
            self._queue.put_nowait(None)

    def __aiter__(self) -> Notices:
        return self

    async def __anext__(self) -> Notice:
        notice = await self._queue.get()
        if notice is None:
            self._queue.put_nowait(None)  # for whoever asks again
            raise StopAsyncIteration
        return notice

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
