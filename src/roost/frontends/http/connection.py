"""One peer: uvicorn's protocol, bounded.

A port on loopback can be reached by every user of the machine. So whoever has not shown a token may
keep a connection for some seconds, a few of them at a time, and send a small head.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from roost.errors import BadRequest, RoostError, TooLarge
from roost.frontends.http.replies import head_of
from roost.vocabulary import HELLO_SECONDS, KIB
from roost.wire.framing import encode

HEAD_BYTES = 64 * KIB
STRANGERS = 128


class Strangers:
    """Connections on which nobody has shown a token yet; the oldest makes way for the next."""

    def __init__(self) -> None:
        self._here: dict[Connection, None] = {}

    def add(self, connection: Connection) -> None:
        self._here[connection] = None
        if len(self._here) > STRANGERS:
            oldest = next(iter(self._here))
            del self._here[oldest]
            oldest.transport.abort()

    def remove(self, connection: Connection) -> None:
        self._here.pop(connection, None)


class _Together:
    """A transport where what one turn of the loop writes leaves in one piece: a head and its body
    are one system call, and the peer wakes up once."""

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
    """Tells the gate how to say that the peer has shown a token: ``scope["state"]["admitted"]``."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        strangers: Strangers,
    ) -> None:
        super().__init__(config, server_state, app_state | {"admitted": self._admitted})
        self._strangers = strangers
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, _Together(transport, self.loop)))
        self._timer = self.loop.call_later(HELLO_SECONDS, transport.abort)
        self._strangers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._admitted()
        super().connection_lost(exc)

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
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        cast(_Together, self.transport).flush()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, BadRequest("That is no HTTP request.", field="request"))

    def _refuse(self, status: int, error: RoostError) -> None:
        body = encode(error.to_wire())
        self.transport.write(head_of(status, len(body)) + body)
        self.transport.close()

    def _admitted(self) -> None:
        self._strangers.remove(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
