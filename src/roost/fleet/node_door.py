"""A node's door: TLS towards the gateway, and the broker's HTTP front end behind it.

Only a certificate of the fleet's authority that names the gateway's role is let in. The door adds
the session's own token of this machine's broker, which never leaves the machine. So even a request
that the gateway sends to the wrong session's address reaches that session only.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from roost.broker.tasks import Tasks
from roost.errors import BadRequest, BrowserLost, RoostError, TooLarge
from roost.fleet.authority import GATEWAY, role_of
from roost.fleet.forwarding import answer, forwarded_head, pass_on, refuse
from roost.fleet.http_heads import Request, values
from roost.fleet.local_broker import LocalBroker
from roost.fleet.streams import Hangup, Stream
from roost.vocabulary import MIB
from roost.wire.framing import decode, encode

SESSION, EPOCH = b"x-roost-session", b"x-roost-epoch"
ORDERS = "/node/"
"""Paths of orders to the node itself. Requests of users are never sent here."""
ORDER_BYTES = 64 * MIB
MISDIRECTED = 421
"""HTTP status of a node that may not answer for the session now."""
TOKEN = b"/cdp/-"
"""Placeholder for the session's token in the path of a CDP request."""
logger = logging.getLogger(__name__)
Order = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Misdirected(Exception):
    """This node may not answer for that session now.

    is_lasting: the node does not have the session under that epoch. False: its lease has run out,
        and it may answer again when the lease is renewed.
    """

    def __init__(self, *, is_lasting: bool) -> None:
        super().__init__("not this node's session")
        self.is_lasting = is_lasting


class NodeDoor:
    """Serves the gateway.

    check: raises ``Misdirected`` if this node may not answer for the session under the epoch now.
    used: called when a request for the session has been let in.
    orders: the orders of the gateway, by path.
    """

    def __init__(
        self,
        broker: LocalBroker,
        *,
        check: Callable[[str, int], None],
        used: Callable[[str], None],
        orders: dict[str, Order],
    ) -> None:
        self._broker = broker
        self._check = check
        self._used = used
        self._orders = orders
        self._streams: set[Stream] = set()
        self._tasks = Tasks()
        self._server: asyncio.Server | None = None

    async def start(self, listening: socket.socket, context: ssl.SSLContext) -> None:
        self._server = await Stream.listen(self._serve, listening, context)

    def cut(self) -> None:
        """End all connections, because the node's lease has run out."""
        for stream in list(self._streams):
            stream.abort()

    async def aclose(self) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()
        await self._tasks.aclose()

    async def _serve(self, stream: Stream) -> None:
        if role_of(stream.writer.transport) != GATEWAY:
            logger.warning("a connection without the gateway's certificate was refused")
            stream.abort()
            return
        self._streams.add(stream)
        try:
            while (request := await stream.request()) is not None:
                if not await self._answer(stream, request):
                    break
        except (Hangup, RoostError):
            pass  # the connection has ended, or the start of the next request is unknown
        finally:
            self._streams.discard(stream)
            stream.abort()

    async def _answer(self, stream: Stream, request: Request) -> bool:
        """Answer one request. Returns whether the connection can be used again."""
        if request.path.startswith(ORDERS):
            return await self._obey(stream, request)
        try:
            session = self._session(request)
        except Misdirected as foreign:
            await _send_away(stream, foreign)
            return False
        self._used(session)
        try:
            return await self._forward(stream, request, session)
        except OSError:
            error: RoostError = BrowserLost("The machine's broker does not answer.")
        except RoostError as refused:
            error = refused
        await refuse(stream, error, is_last=True)
        return False

    def _session(self, request: Request) -> str:
        session, epoch = values(request.headers, SESSION), values(request.headers, EPOCH)
        if len(session) != 1 or len(epoch) != 1 or not epoch[0].isdigit():
            raise Misdirected(is_lasting=True)
        name = session[0].decode("latin-1")
        self._check(name, int(epoch[0]))
        return name

    async def _forward(self, stream: Stream, request: Request, session: str) -> bool:
        token = (await self._broker.token(session)).encode()
        target = request.target
        if target.startswith(TOKEN):
            target = b"/cdp/" + token + target.removeprefix(TOKEN)
        extra = [(b"host", self._broker.host), (b"authorization", b"Bearer " + token)]
        head = forwarded_head(request, target, extra, request.body)
        async with self._broker.pool.lend() as lent:
            response = await pass_on(stream, request, lent.stream, head, request.body)
            lent.finished(response)
        return response.status != 101

    async def _obey(self, stream: Stream, request: Request) -> bool:
        try:
            body = decode(await stream.whole(request.body, ORDER_BYTES))
            order = self._orders.get(request.path)
            if order is None or not isinstance(body, dict):
                raise BadRequest("This is not an order to a node.", field="path")
            reply = await order(body)
        except Misdirected as error:
            await _send_away(stream, error)
            return False
        except TooLarge as error:
            await refuse(stream, error, is_last=True)
            return False
        except RoostError as error:
            await refuse(stream, error, is_last=False)
            return True
        with suppress(Hangup):
            await answer(stream, encode(reply), is_last=False)
        return True


async def _send_away(stream: Stream, error: Misdirected) -> None:
    body = encode({"isLasting": error.is_lasting})
    await answer(stream, body, status=MISDIRECTED, is_last=True)
