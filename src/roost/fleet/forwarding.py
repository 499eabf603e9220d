"""Pass one request on to another server, and its response back.

The gateway passes requests of clients on to nodes, and a node's door passes them on to its broker.
Only headers on the lists below are passed on. All others (``Forwarded``, ``X-Roost-Epoch``,
``Connection: …``) are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http import HTTPStatus

from roost.errors import BadRequest, Interrupted, RoostError, Timeout
from roost.fleet.http_heads import (
    Body,
    Framing,
    Header,
    Request,
    Response,
    request_head,
    response_head,
)
from roost.fleet.streams import Hangup, Stream
from roost.frontends.http.hints import spell
from roost.frontends.http.replies import HEADERS, JSON, NO_TOKEN, STATUS
from roost.vocabulary import CALL_SECONDS_MAX
from roost.wire.framing import encode

ANSWER_SECONDS = CALL_SECONDS_MAX + 30.0
"""Give up waiting for a server that has not begun to answer after this long."""
_REQUEST = frozenset(
    {
        b"accept",
        b"content-type",
        b"last-event-id",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"sec-websocket-extensions",
        b"sec-websocket-key",
        b"sec-websocket-protocol",
        b"sec-websocket-version",
        b"user-agent",
    }
)
_RESPONSE = frozenset(
    {
        b"allow",
        b"cache-control",
        b"content-disposition",
        b"content-security-policy",
        b"content-type",
        b"date",
        b"mcp-session-id",
        b"referrer-policy",
        b"retry-after",
        b"sec-websocket-accept",
        b"sec-websocket-extensions",
        b"sec-websocket-protocol",
        b"www-authenticate",
        b"x-content-type-options",
        b"x-frame-options",
    }
)


REFUSAL_BYTES = 4096


class Refused(Exception):
    """The server has refused the request without performing it. ``body`` says why."""

    def __init__(self, body: bytes) -> None:
        super().__init__("refused")
        self.body = body


def forwarded_head(request: Request, target: bytes, extra: Iterable[Header], body: Body) -> bytes:
    """Return the head to send on: the listed headers of the request, and the extra ones."""
    headers = [*extra, *(each for each in request.headers if each[0] in _REQUEST)]
    if request.is_upgrade:
        headers += [(b"connection", b"Upgrade"), (b"upgrade", b"websocket")]
    return request_head(request.method, target, [*headers, *_framing(body)])


async def pass_on(
    client: Stream,
    request: Request,
    server: Stream,
    head: bytes,
    body: Body,
    *,
    refused: int | None = None,
) -> Response:
    """Send the head, then the client's body, and give the client the response.

    body: how the body is framed; ``NO_BODY`` if ``head`` has a body that was read already.
    refused: status of a server that has not performed the request. It raises ``Refused`` instead of
        reaching the client.

    Raises ``Hangup`` if one of the two connections ends, or ``Interrupted`` if the server's ends
    when the client has not got a part of the response yet.
    """
    has_begun = False
    try:
        with client.needed():
            await server.forward(client, body, head)
            async with asyncio.timeout(ANSWER_SECONDS):
                response = await server.response(request.method)
        if response.status == refused:
            raise Refused(await server.whole(response.body, REFUSAL_BYTES))
        if response.status == 101:
            await _tunnel(client, server, response)
            return response
        has_begun = True
        framing = response.body
        with client.needed():
            back = response_head(
                response.status, _reason(response.status), _back(response, request)
            )
            await client.forward(server, framing, back, wait=None)
        return response
    except Hangup as hangup:
        if hangup.stream is server and not has_begun:
            raise Interrupted(
                "The machine that has the session went away during the call. Nobody knows whether"
                " the call was done."
            ) from None
        raise
    except (BadRequest, Timeout, TimeoutError):
        if has_begun:
            raise Hangup(server) from None
        raise


async def _tunnel(client: Stream, server: Stream, response: Response) -> None:
    """Carry the bytes of a WebSocket unread until one side ends it."""
    headers = [each for each in response.headers if each[0] in _RESPONSE]
    headers += [(b"connection", b"Upgrade"), (b"upgrade", b"websocket")]
    await client.send(response_head(101, "Switching Protocols", headers))
    async with asyncio.TaskGroup() as group:
        group.create_task(client.relay(server), name="from the client")
        group.create_task(server.relay(client), name="to the client")


def _back(response: Response, request: Request) -> list[Header]:
    headers = [each for each in response.headers if each[0] in _RESPONSE]
    if request.is_last:
        headers.append((b"connection", b"close"))
    if request.method == b"HEAD":
        return headers
    return [*headers, *_framing(response.body)]


def _framing(body: Body) -> list[Header]:
    match body.framing:
        case Framing.LENGTH:
            return [(b"content-length", b"%d" % body.length)]
        case Framing.CHUNKED | Framing.UNTIL_CLOSE:
            return [(b"transfer-encoding", b"chunked")]
    return []


async def refuse(
    client: Stream, error: RoostError, status: int | None = None, *, is_last: bool
) -> None:
    """Answer a request with an error, in the shape of the broker's HTTP front end."""
    headers: list[Header] = []
    if error.retry_after_ms is not None:
        headers.append((b"retry-after", b"%d" % -(-error.retry_after_ms // 1000)))
    if status == NO_TOKEN:
        headers.append((b"www-authenticate", b"Bearer"))
    await answer(
        client,
        encode(error.spelled(spell).to_wire()),
        status=STATUS[type(error)] if status is None else status,
        headers=headers,
        is_last=is_last,
    )


async def answer(
    client: Stream,
    body: bytes,
    *,
    status: int = 200,
    kind: str = JSON,
    headers: Iterable[Header] = (),
    is_last: bool,
) -> None:
    """Answer a request with a whole body."""
    common = {"content-type": kind, **HEADERS, "content-length": str(len(body))}
    if is_last:
        common["connection"] = "close"
    listed = [*headers, *((name.encode(), value.encode()) for name, value in common.items())]
    await client.send(response_head(status, _reason(status), listed), body)


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
