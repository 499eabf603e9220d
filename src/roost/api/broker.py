"""``BrokerApi``: the interface that front ends call and the broker, or a client, implements.

It knows neither sockets nor MCP nor who is calling. The caller's identity is bound to the object
when the broker hands it out, and is never an argument.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

from roost.api.operations import Answers
from roost.api.views import View

R = TypeVar("R", bound=View)
ENDS_WHEN_ASKED: ContextVar[bool] = ContextVar("the call ends when the person is asked")
"""A front end sets this for a call whose client shows questions between two calls.

If the call needs an approval that nobody was asked for yet, the broker asks the person and the call
fails with ``ApprovalPending`` at once, before it has done anything. The repeated call waits."""
NOTICES_KEPT = 1000
"""Maximum number of unread notices; the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened in one of the caller's sessions.

    session: the session's id.
    kind: what happened: a ``NoticeKind``, or a word that only a newer broker knows.
    data: details by kind (``NoticeKind.fields``); may contain page text.
    """

    session: str
    kind: str
    data: Mapping[str, Any]

    def redacted(self, redact: Callable[[Any], Any]) -> Notice:
        """Return the notice with its data as ``redact`` returns it."""
        return Notice(self.session, self.kind, redact(self.data))

    def to_wire(self) -> dict[str, Any]:
        return {"session": self.session, "kind": self.kind, "data": dict(self.data)}

    @staticmethod
    def from_wire(wire: Mapping[str, Any]) -> Notice:
        return Notice(str(wire["session"]), str(wire["kind"]), dict(wire["data"]))


class Notices:
    """An asynchronous iterator of notices, from the moment it is made.

    Close it when done. After closing, the iteration yields what arrived before and ends.
    """

    def __init__(self, on_close: Callable[[Notices], object]) -> None:
        self._queue: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._on_close = on_close
        self._is_closed = False

    def put(self, notice: Notice) -> None:
        """Add a notice. Drops the oldest if the reader is too slow."""
        if self._is_closed:
            return
        # A slow reader loses its own oldest notices and delays nobody.
        if self._queue.qsize() >= NOTICES_KEPT:
            self._queue.get_nowait()
        self._queue.put_nowait(notice)

    def close(self) -> None:
        """End the iteration after what arrived before. Safe to call twice."""
        if not self._is_closed:
            self._is_closed = True
            self._on_close(self)
            self._queue.put_nowait(None)

    def __aiter__(self) -> Notices:
        return self

    async def __anext__(self) -> Notice:
        notice = await self._queue.get()
        if notice is None:
            self._queue.put_nowait(None)  # so that every further iteration ends as well
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
    """The broker as one caller may use it."""

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        """Perform the operation and return its view.

        timeout: seconds until the call fails (None: the default deadline).

        Raises a ``RoostError`` if the call is refused, fails, or takes longer than ``timeout``.
        """

    def watch(self, session: str | None = None) -> Notices:
        """Return the notices of ``session``, or of all the caller's sessions, from now on."""
