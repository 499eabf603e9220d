"""One HTTP connection: uvicorn's protocol with limits.

A peer that shows no token within some seconds is disconnected. The head of a request is limited. A
request that has arrived is answered, however long that takes.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from roost.errors import BadRequest, RoostError, Timeout, TooLarge
from roost.frontends.http.reception import PATIENCE_SECONDS, PLACES, Reception
from roost.frontends.http.replies import head_of, refusal
from roost.vocabulary import HELLO_SECONDS, KIB
from roost.wire.framing import encode

HEAD_BYTES = 64 * KIB
BUSY = 503


class _WriteBatcher:
    """A transport that sends what one turn of the loop writes as one piece.

    A head and its body become one system call, and the peer wakes up once.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._unsent: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._unsent:
            self._loop.call_soon(self.flush)
        self._unsent.append(data)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if unsent and not self._transport.is_closing():
            self._transport.write(b"".join(unsent))


class Connection(HttpToolsProtocol):
    """One HTTP connection.

    The gate reports the token the peer has shown by calling ``scope["state"]["admitted"]``.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        reception: Reception,
        is_put_off: bool,
    ) -> None:
        super().__init__(config, server_state, app_state | {"admitted": self._admitted})
        self._is_put_off = is_put_off
        if is_put_off:
            self.app = _put_off
        self._reception = reception
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = None
        self._is_operators = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, _WriteBatcher(transport, self.loop)))
        self._timer = self.loop.call_later(HELLO_SECONDS, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._reception.leave(self)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        super().handle_websocket_upgrade()
        self._reception.leave(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(431, TooLarge(f"A request's head is at most {HEAD_BYTES} bytes."))

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        before = self.cycle
        super().on_headers_complete()
        is_last = self._is_put_off or self._reception.is_crowded
        if is_last and self.cycle is not before:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        cast(_WriteBatcher, self.transport).flush()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, BadRequest("That is no HTTP request.", field="request"))

    def _refuse(self, status: int, error: RoostError) -> None:
        body = encode(error.to_wire())
        self.transport.write(head_of(status, len(body)) + body)
        self.transport.close()

    def _late(self) -> None:
        """Close the connection, because no token came in time. A request under way ends first."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._timer = self.loop.call_later(HELLO_SECONDS, self._late)
        else:
            self.transport.abort()

    def _admitted(self, *, is_operator: bool) -> bool:
        """Note that the peer has shown a token. Return True for its first operator token."""
        self._stop_waiting()
        is_news = is_operator and not self._is_operators
        self._is_operators |= is_operator
        return is_news

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def _put_off(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 503 to a request for which no place was free."""
    error = Timeout(
        f"{PLACES} HTTP connections are open, and none ended within {PATIENCE_SECONDS:.0f} s.",
        hint="Try again when some of the calls under way have been answered.",
        retry_after_ms=int(PATIENCE_SECONDS * 1000),
    )
    await refusal(error, BUSY)(scope, receive, send)
