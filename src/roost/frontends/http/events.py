"""Server-sent events: report what happens in one session to callers that may see the session.

A reader that is too slow loses the oldest events. A reader that disconnects frees its stream at
once. The stream ends with its session, its token, or the broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from roost.api import operations as ops
from roost.api.broker import Notice, Notices
from roost.api.door import TokenDoor
from roost.errors import RoostError
from roost.frontends.http.bodies import asked, gone_away
from roost.frontends.http.replies import HEADERS
from roost.vocabulary import NoticeKind
from roost.wire.framing import encode

BEAT_SECONDS = 15.0
"""A quiet stream sends a comment this often, which also renews the lease of the session's agent."""


class Streams:
    """The open event streams, so that the server can end them when it stops."""

    def __init__(self, door: TokenDoor) -> None:
        self._door = door
        self._open: set[Notices] = set()

    def close(self) -> None:
        for notices in list(self._open):
            notices.close()

    async def events(self, request: Request) -> Response:
        """Serve the route. A session that is not the caller's answers as if it did not exist."""
        api, session = request.scope["visit"].api, request.path_params["session"]
        view = await api.call(asked(ops.SessionShow, session=session))
        notices = api.watch(view.id)
        self._open.add(notices)
        token = request.scope["token"]
        return _Stream(notices, lambda: self._door.visit(token), lambda: self._over(notices))

    def _over(self, notices: Notices) -> None:
        self._open.discard(notices)
        notices.close()


class _Stream(Response):
    """The stream of one reader.

    ``beat``: renews the agent's lease; raises ``RoostError`` if the token is no longer valid.
    ``over``: called when the stream ends.
    """

    def __init__(
        self, notices: Notices, beat: Callable[[], object], over: Callable[[], None]
    ) -> None:
        super().__init__(media_type="text/event-stream", headers=HEADERS)
        del self.headers["content-length"]
        self._notices = notices
        self._beat = beat
        self._over = over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        telling = loop.create_task(self._tell(send), name="tell events")
        gone = loop.create_task(gone_away(receive), name="gone")
        try:
            await asyncio.wait({telling, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._over()
            gone.cancel()
            telling.cancel()
            await asyncio.gather(telling, gone, return_exceptions=True)

    async def _tell(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        part = b": from here on\n\n"
        while part:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            part = await self._next()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self) -> bytes:
        """Return the next event, a comment after a quiet while, or nothing at the end."""
        try:
            async with asyncio.timeout(BEAT_SECONDS):
                notice = await anext(self._notices)
        except StopAsyncIteration:
            return b""
        except TimeoutError:
            try:
                self._beat()
            except RoostError:  # the token is no longer valid, so the session is gone
                return b""
            return b": still here\n\n"
        if notice.kind == NoticeKind.SESSION_ENDED:
            self._notices.close()  # the stream has sent everything before this, and nothing follows
        return _event(notice)


def _event(notice: Notice) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (notice.kind.encode(), encode(notice.to_wire()))
