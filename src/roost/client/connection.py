"""One connection to the broker: one hello, then many calls at a time.

When the connection ends, every waiting call raises ``ConnectionLost``. ``client.py`` decides
whether to repeat it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from roost.api.broker import Notice
from roost.errors import BadRequest, RoostError, Timeout
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.correlator import Correlator
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import Hello, Welcome, parse_welcome

WELCOME_SECONDS = 10.0


class ConnectionLost(Exception):
    """The connection ended before the answer came."""


class BrokerConnection(asyncio.Protocol):
    """A connection to the broker. ``open`` makes it; ``ended`` is done when it is over."""

    def __init__(self, on_notice: Callable[[Notice], None]) -> None:
        loop = asyncio.get_running_loop()
        self._on_notice = on_notice
        self.was_stopped = False
        """True if the broker said that it stops on purpose."""
        self._frames = JsonLines(LINK_FRAME_BYTES)
        self._pending: Correlator[asyncio.Future[dict[str, Any]]] = Correlator()
        self._welcome: asyncio.Future[Welcome] = loop.create_future()
        self._transport: asyncio.Transport
        self.ended: asyncio.Future[None] = loop.create_future()

    @classmethod
    async def open(
        cls, sock: socket.socket, hello: Hello, on_notice: Callable[[Notice], None]
    ) -> tuple[BrokerConnection, Welcome]:
        """Say hello on a connected socket and return the connection and the broker's welcome.

        Raises the error that the broker answers. Raises ``ConnectionLost`` if the broker is being
        killed: it accepts connections for a moment longer. Raises ``Timeout`` if the broker's
        process is stopped: the kernel accepts connections for it.
        """
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_unix_connection(lambda: cls(on_notice), sock=sock)
        connection.send({"hello": hello.to_wire()})
        try:
            async with asyncio.timeout(WELCOME_SECONDS):
                return connection, await connection._welcome
        except TimeoutError:
            await connection.aclose()
            raise Timeout(
                "The broker took the connection and says nothing.",
                hint="It hangs or is stopped; see `roost doctor`.",
            ) from None
        except BaseException:  # refused, lost or cancelled: the caller has no connection to close
            await connection.aclose()
            raise

    async def call(self, op: str, args: dict[str, Any], timeout_ms: float | None) -> dict[str, Any]:
        """Send a call and return the reply's data.

        Cancelling this cancels the call in the broker.
        """
        if self.ended.done():
            raise ConnectionLost
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        call = self._pending.start(answer, label=op)
        message: dict[str, Any] = {"id": call, "op": op, "args": args}
        if timeout_ms is not None:
            message["timeoutMs"] = timeout_ms
        self.send(message)
        try:
            return await answer
        except asyncio.CancelledError:
            if self._pending.resolve(call) is not None:
                self.send({"cancel": call})
            raise

    def send(self, message: dict[str, Any]) -> None:
        if not self._transport.is_closing():
            self._transport.write(encode_line(message))

    async def aclose(self) -> None:
        self._transport.abort()
        await asyncio.wait({self.ended})

    # --- asyncio.Protocol ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._frames.feed(data):
                self._received(message)
        except RoostError:
            self._transport.abort()  # nothing after an unreadable frame can be trusted

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(ConnectionLost())
        for answer in self._pending.fail_all():
            if not answer.done():
                answer.set_exception(ConnectionLost())
        self.ended.set_result(None)

    # --- messages ------------------------------------------------------------------------------

    def _received(self, message: object) -> None:
        match message:
            case {"id": call, "ok": dict(reply)}:
                self._answer(call, reply)
            case {"id": call, "error": dict(error)}:
                self._answer(call, RoostError.from_wire(error))
            case {"event": {"session": str(), "kind": str(), "data": dict()} as event}:
                self._on_notice(Notice.from_wire(event))
            case {"stopping": _}:
                self.was_stopped = True
            case {"welcome": welcome}:
                self._welcome.set_result(parse_welcome(welcome))
            case {"error": dict(error)}:
                self._fail(RoostError.from_wire(error))
            case _:  # the message's call is unknown, so all waiting calls fail
                raise BadRequest("The broker sent something that is not a message.")

    def _answer(self, call: object, reply: dict[str, Any] | RoostError) -> None:
        answer = self._pending.resolve(call)
        if answer is None or answer.done():
            return  # the call was cancelled meanwhile
        if isinstance(reply, RoostError):
            answer.set_exception(reply)
        else:
            answer.set_result(reply)

    def _fail(self, error: RoostError | ConnectionLost) -> None:
        if not self._welcome.done():
            self._welcome.set_exception(error)
