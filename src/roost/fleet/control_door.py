"""Where nodes report to the gateway: renewals of their leases, and what sessions would need."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from roost.errors import BadRequest, NotFound, RoostError, Unauthorized
from roost.fleet.authority import NODE, role_of
from roost.fleet.forwarding import answer, refuse
from roost.fleet.http_heads import Request
from roost.fleet.placement import Capacity
from roost.fleet.registry import Registry
from roost.fleet.sessions import Sessions
from roost.fleet.streams import Hangup, Stream
from roost.vocabulary import MIB
from roost.wire.framing import decode, encode

MESSAGE_BYTES = 32 * MIB
IDLE_SECONDS = 30.0
PROBLEM_CHARS = 300
logger = logging.getLogger(__name__)
_CAPACITY = TypeAdapter(Capacity)


class ControlDoor:
    """Serves nodes. Each must show the certificate that it got when it joined.

    problems: why a node cannot take sessions, by node. The administrator's status shows them.
    """

    def __init__(
        self,
        registry: Registry,
        sessions: Sessions,
        monotonic: Callable[[], float],
        problems: dict[str, str],
    ) -> None:
        self._registry = registry
        self._sessions = sessions
        self._now = monotonic
        self._problems = problems
        self._streams: set[Stream] = set()

    def cut(self) -> None:
        for stream in list(self._streams):
            stream.abort()

    async def serve(self, stream: Stream) -> None:
        """Serve one node's connection to its end."""
        role = role_of(stream.writer.transport)
        if not role.startswith(NODE):
            logger.warning("a connection without a node's certificate was refused")
            stream.abort()
            return
        self._streams.add(stream)
        try:
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    request = await stream.request()
                if request is None:
                    return
                await self._answer(stream, request, role.removeprefix(NODE))
        except (Hangup, RoostError, TimeoutError, ConnectionError, ssl.SSLError):
            pass
        finally:
            self._streams.discard(stream)
            stream.abort()

    async def _answer(self, stream: Stream, request: Request, node: str) -> None:
        message = decode(await stream.whole(request.body, MESSAGE_BYTES))
        try:
            if node not in self._registry.nodes:
                raise Unauthorized("This machine is not in the fleet.", hint="Join it again.")
            match request.path, message:
                case "/renew", dict():
                    reply = self._renew(node, message)
                case "/luggage", {
                    "session": str(session),
                    "epoch": int(epoch),
                    "luggage": dict(luggage),
                }:
                    self._sessions.pack(session, epoch, node, luggage)
                    reply = {}
                case "/leave", _:
                    reply = self._leave(node)
                case _:
                    raise NotFound("Nodes may not send this.")
        except RoostError as error:
            await refuse(stream, error, is_last=False)
            return
        await answer(stream, encode(reply), is_last=False)

    def _renew(self, node: str, message: dict[str, Any]) -> dict[str, Any]:
        match message:
            case {
                "host": str(host),
                "port": int(port),
                "version": int(version),
                "problem": str() | None as problem,
                "report": dict(report),
                "gone": list(gone),
            }:
                pass
            case _:
                raise BadRequest("body: this is not a renewal.", field="body")
        try:
            capacity = _CAPACITY.validate_python(report | {"node": node})
        except ValidationError:
            raise BadRequest("report: not valid.", field="report") from None
        self._sessions.write(self._registry.hear(node, host, port, capacity, self._now()))
        if problem is None:
            self._problems.pop(node, None)
        else:
            self._problems[node] = problem[:PROBLEM_CHARS]
        for each in gone:
            match each:
                case [str(session), int(epoch), bool(is_ended)]:
                    self._sessions.gone(session, epoch, is_ended=is_ended, node=node)
        return {
            "version": self._registry.version,
            "epochs": self._registry.assignment(node, version),
        }

    def _leave(self, node: str) -> dict[str, Any]:
        """Let a machine leave. Its sessions are moved first, as far as others have room."""
        row = self._registry.nodes[node]
        if not row.is_draining:
            self._sessions.write(self._registry.drain(node))
        left = sum(each.node == node for each in self._registry.sessions.values())
        if not left:
            self._sessions.write(self._registry.remove_node(node))
            self._sessions.note("fleet node left", node=row.name)
        return {"sessionsLeft": left}
