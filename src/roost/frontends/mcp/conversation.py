"""One agent that speaks MCP over its socket connection, through the shim.

After the door admits the shim, its messages are JSON-RPC. After a broker restart the shim sends
each request that was under way again, as ``{"repeat": message}``. Calls that only read are
performed. All others are answered ``INTERRUPTED``, because nobody knows whether they were done.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from roost.api.broker import BrokerApi
from roost.api.door import Line
from roost.api.interrupted_batch import interrupted_batch
from roost.api.operations import Batch, SubagentReport, parse, parse_for_model
from roost.api.subagents import CallOrigin, SharedConnectionApi
from roost.errors import BadRequest, Interrupted, RoostError, TooLarge
from roost.frontends.mcp.browser_names import browser_names
from roost.frontends.mcp.call_origin import call_origin_of
from roost.frontends.mcp.claudezilla.names import firefox_names
from roost.frontends.mcp.lazy_server import LazyServer
from roost.frontends.mcp.replies import refusal
from roost.frontends.mcp.toolset import Reply, Tool, Toolset
from roost.hints import Spelling, no_way
from roost.wire.hello import Hello

logger = logging.getLogger(__name__)
REQUESTS_AT_ONCE = 64
"""Requests of one client under way at a time. Further requests wait, so a client that floods the
broker delays only itself."""
REQUESTS_WAITING = 256
"""Stop reading from a client when this many requests wait. Up to then read on, so that the client
can cancel requests and its disconnection is noticed."""
NAMES: Mapping[str, Callable[[tuple[str, ...]], Toolset]] = {
    "browser": browser_names,
    "firefox": firefox_names,
}
"""The sets of names that ``roost mcp --names`` accepts."""


def toolset_for(names: str | None, tools: tuple[str, ...]) -> Toolset:
    """Return the tools a client asked for. Raise ``BadRequest`` if there are no such tools."""
    make = NAMES.get(names or "browser")
    if make is None:
        raise BadRequest(
            f"names: there is no set of names {names!r}.",
            hint=f"Give one of: {', '.join(NAMES)}.",
            field="names",
        )
    return make(tools)


class Mcp:
    """MCP as a language of the socket (``api.door.Language``)."""

    def __init__(self, server: LazyServer) -> None:
        self._server = server

    def prepared(self, hello: Hello) -> Callable[[BrokerApi, Line], McpConversation]:
        toolset = toolset_for(hello.names, hello.tools)
        return lambda api, line: McpConversation(self._server, toolset, api, line)


class McpConversation:
    """A client's conversation, which begins when the object is made.

    ``end`` ends the conversation and cancels every call under way.
    """

    def __init__(self, server: LazyServer, toolset: Toolset, api: BrokerApi, line: Line) -> None:
        self._server = server
        self._toolset = toolset
        self._api = api
        self._line = line
        self._said: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._under_way: set[str | int] = set()
        self._waiting: dict[str | int, dict[str, Any]] = {}
        self._interrupted: set[str | int] = set()
        self._origins: dict[str | int, CallOrigin] = {}
        """Who makes each call under way, where the client says so."""
        self._reports: set[asyncio.Task[None]] = set()
        self._is_over = False
        self._serving = asyncio.get_running_loop().create_task(self._serve(), name="mcp")

    def heard(self, message: dict[str, Any]) -> None:
        if "ping" in message and "jsonrpc" not in message:
            self._line.send({"pong": True})  # the shim checks that the broker still responds
            return
        is_repeated = False
        if "jsonrpc" not in message and isinstance(message.get("repeat"), dict):
            message = message["repeat"]
            self._repeated(message)
            is_repeated = True
        request = _request_id(message)
        if request is None:
            self._forget(_cancelled(message))
            self._said.put_nowait(message)
        elif _is_report(message):
            loop = asyncio.get_running_loop()
            self._reports.add(task := loop.create_task(self._report(request, message)))
            task.add_done_callback(self._reports.discard)
        else:
            origin = call_origin_of(message.get("params"), is_repeated=is_repeated)
            if origin is not None and message["method"] == "tools/call":
                self._origins[request] = origin
            self._waiting[request] = message
            self._begin_waiting()

    async def _report(self, request: str | int, message: Mapping[str, Any]) -> None:
        """Take a report of the client's hook, which calls a tool that is not listed.

        The answer is empty, whatever happens: the hook must neither show nor decide anything.
        """
        given = message["params"].get("arguments")
        with contextlib.suppress(RoostError):
            await self._api.call(parse(SubagentReport.op, given))  # type: ignore[arg-type]
        self._line.send({"jsonrpc": "2.0", "id": request, "result": {"content": []}})

    def _api_for(self, request: object) -> BrokerApi:
        """Return the broker for the agent that makes the request."""
        origin = self._origins.get(request) if isinstance(request, str | int) else None
        if origin is None or not isinstance(self._api, SharedConnectionApi):
            return self._api
        return self._api.acting_for(origin)

    def _forget(self, cancelled: str | int | None) -> None:
        """Drop a request that the client cancels while it waits: it gets no answer."""
        if cancelled is not None and self._waiting.pop(cancelled, None) is not None:
            self._interrupted.discard(cancelled)
            self._origins.pop(cancelled, None)

    def _begin_waiting(self) -> None:
        """Start waiting requests, up to the number that may be under way at once."""
        while self._waiting and len(self._under_way) < REQUESTS_AT_ONCE:
            request = next(iter(self._waiting))
            self._said.put_nowait(self._waiting.pop(request))
            self._under_way.add(request)
        if len(self._waiting) >= REQUESTS_WAITING:
            self._line.hold()
        else:
            self._line.let_go()

    def end(self) -> None:
        self._is_over = True
        self._serving.cancel()
        for task in self._reports:
            task.cancel()

    async def _serve(self) -> None:
        try:
            server = await self._server.module()
            told_off = _InterruptedToolset(self._toolset)

            def guest_of(request: object) -> Any:
                toolset = told_off if request in self._interrupted else self._toolset
                return server.Guest(self._api_for(request), toolset)

            await server.serve_stream(
                lambda ctx: guest_of(ctx.request_id),
                self._toolset.instructions,
                self._said.get,
                self._send,
                self._over,
            )
        except Exception:  # a bug in here must cost only this agent its connection
            if not self._is_over:  # when cancelled, the SDK may raise anything
                logger.exception("a conversation in MCP failed")
                self._line.close()

    def _repeated(self, message: Mapping[str, Any]) -> None:
        """Remember a repeated call that must not be performed twice."""
        request, params = _request_id(message), message.get("params")
        if request is None or message["method"] != "tools/call" or not isinstance(params, dict):
            return
        name, arguments = params.get("name"), params.get("arguments")
        if not self._toolset.only_reads(
            str(name), arguments if isinstance(arguments, dict) else {}
        ):
            self._interrupted.add(request)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._line.send(message)
        except TooLarge as error:  # only a tool's result can be that large
            content = [{"type": "text", "text": refusal(error).text}]
            result = {"content": content, "isError": True}
            self._line.send({"jsonrpc": "2.0", "id": message.get("id"), "result": result})
        if "method" not in message:
            self._over(message.get("id"))

    def _over(self, request: object) -> None:
        """The request is answered, or never will be."""
        if isinstance(request, str | int):
            self._under_way.discard(request)
            self._interrupted.discard(request)
            self._origins.pop(request, None)
            self._begin_waiting()


class _InterruptedToolset:
    """Answers every call ``INTERRUPTED``, because it was under way when the broker restarted."""

    def __init__(self, toolset: Toolset) -> None:
        self.tools: Sequence[Tool] = toolset.tools
        self.instructions = toolset.instructions

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        return False

    def spelling(self, name: str) -> Spelling:
        return no_way  # the one error it answers names no step

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        if name == Batch.op:
            given = {key: value for key, value in arguments.items() if value is not None}
            raise await interrupted_batch(api, parse_for_model(name, given))
        raise Interrupted(f"The broker went away during {name}; nobody knows whether it was done.")


def _is_report(message: Mapping[str, Any]) -> bool:
    """Return whether a hook of the client calls, and not the model."""
    params = message.get("params")
    is_call = message.get("method") == "tools/call" and isinstance(params, dict)
    return is_call and params.get("name") == SubagentReport.op  # type: ignore[union-attr]


def _cancelled(message: Mapping[str, Any]) -> str | int | None:
    """Return the id of the request that the client cancels with this message."""
    params = message.get("params")
    if message.get("method") != "notifications/cancelled" or not isinstance(params, dict):
        return None
    request = params.get("requestId")
    return request if isinstance(request, str | int) else None


def _request_id(message: Mapping[str, Any]) -> str | int | None:
    request = message.get("id")
    is_id = isinstance(request, str | int) and not isinstance(request, bool)
    return request if is_id and isinstance(message.get("method"), str) else None
