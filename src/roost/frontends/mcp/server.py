"""The official SDK's server over a ``BrokerApi`` and a ``Toolset``. Import it late: it is heavy.

``make_server`` serves both transports; ``guest_of`` identifies the caller of a request. On a shim's
stream the caller is the shim's agent. On Streamable HTTP it is the owner of the request's token.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from roost import __version__
from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.errors import Internal, RoostError, TooLarge
from roost.frontends.mcp.answer_lengths import with_default_length
from roost.frontends.mcp.elicitation import call_showing_questions
from roost.frontends.mcp.replies import refusal
from roost.frontends.mcp.toolset import Reply, Tool, Toolset
from roost.vocabulary import AGENT_FRAME_BYTES
from roost.wire.weight import AGENT_VALUES, is_light

logger = logging.getLogger(__name__)
# The manager lives as long as one request and would log a line for each.
logging.getLogger("mcp.server.streamable_http_manager").setLevel(logging.WARNING)
Context: TypeAlias = ServerRequestContext[Any, Any]
FIRST_PROGRESS_SECONDS = 0.5
PROGRESS_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Guest:
    """The caller of a request: the broker API bound to the caller, and the tools it is shown."""

    api: BrokerApi
    toolset: Toolset


def make_server(guest_of: Callable[[Context], Guest], instructions: str) -> Server[Any]:
    """Make a server for all callers that ``guest_of`` identifies."""

    async def list_tools(
        ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in guest_of(ctx).toolset.tools])

    async def call_tool(
        ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        guest = guest_of(ctx)
        arguments = with_default_length(_program_name(ctx), params.name, params.arguments or {})
        try:
            async with _progress(ctx, guest, params.name) as notes:
                spell = guest.toolset.spelling(params.name)
                reply = await call_showing_questions(
                    ctx,
                    params,
                    guest.api,
                    guest.toolset.call(guest.api, params.name, arguments),
                    may_repeat=guest.toolset.only_reads(params.name, arguments),
                    keep=lambda view: notes.extend(view.spelled(spell).notes or ()),
                )
            if isinstance(reply, types.InputRequiredResult):
                return reply
        except RoostError as error:
            return result_of(refusal(error.spelled(guest.toolset.spelling(params.name))))
        except Exception:  # a bug is answered like any error and logged with its traceback
            logger.exception("%s has an answer that cannot be told", params.name)
            return result_of(refusal(Internal(f"{params.name[:64]} failed inside Roost.")))
        return result_of(reply, notes)

    server: Server[Any] = Server(
        "roost",
        version=__version__,
        title="Roost",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # it would trace every call, and there is no collector here
    return server


def _program_name(ctx: Context) -> str | None:
    """Return the name in the client's ``clientInfo``. Streamable HTTP keeps no state, so it is
    unknown there."""
    about = ctx.session.client_params
    return None if about is None else about.client_info.name


async def serve_request(guest: Guest, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request of Streamable HTTP. No state remains after the answer."""
    if scope["method"] != "POST":
        # The server sends nothing outside of answers, so there is no stream to open or to delete.
        raise HTTPException(405, headers={"allow": "POST"})
    receive = await _light(receive)
    manager = StreamableHTTPSessionManager(
        make_server(lambda _: guest, guest.toolset.instructions),
        stateless=True,
        max_request_body_size=AGENT_FRAME_BYTES,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)


async def _light(receive: Receive) -> Receive:
    """Read the request's body and return a ``receive`` that gives it to the SDK.

    Raise ``TooLarge`` if the body has so many values that the SDK would take too long to read it.
    """
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False) and len(body) <= AGENT_FRAME_BYTES
    if not is_light(bytes(body), AGENT_VALUES):
        raise TooLarge(f"body: it holds more than {AGENT_VALUES} values.", limitValues=AGENT_VALUES)
    whole = [{"type": "http.request", "body": bytes(body), "more_body": more}]

    async def given() -> Message:
        return whole.pop() if whole else await receive()

    return given


def result_of(reply: Reply, notes: Sequence[str] = ()) -> types.CallToolResult:
    """Return the reply as the SDK's result.

    ``notes``: lines for the caller, besides the reply's own.
    """
    text = "\n".join([reply.text, *(f"Note: {note}" for note in notes)])
    structured = None if reply.structured is None else dict(reply.structured)
    if structured is not None and notes:
        structured["notes"] = [*structured.get("notes", ()), *notes]
    return types.CallToolResult(
        content=[
            *(types.ImageContent(data=one.data, mime_type=one.mime_type) for one in reply.images),
            types.TextContent(text=text),
        ],
        structured_content=structured,
        is_error=reply.is_error,
    )


def _listed(tool: Tool) -> types.Tool:
    # A client that does not find a hint assumes the worst, so each tool has the hints that apply:
    # two of them have a meaning only for tools that change something.
    if tool.read_only:
        annotations = types.ToolAnnotations(read_only_hint=True, open_world_hint=tool.open_world)
    else:
        annotations = types.ToolAnnotations(
            destructive_hint=tool.destructive, open_world_hint=tool.open_world
        )
        if tool.idempotent:  # absent means false
            annotations.idempotent_hint = True
    listed = types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=annotations,
    )
    if tool.output_schema is not None:  # a field that is set is sent, also if it is null
        listed.output_schema = dict(tool.output_schema)
    return listed


# --- progress -----------------------------------------------------------------------------------


@asynccontextmanager
async def _progress(ctx: Context, guest: Guest, tool: str) -> AsyncIterator[list[str]]:
    """Report progress while the call lasts, if the client asked for it.

    Yield a list of notes for the caller. Status calls made for the reports add their notes to it.
    """
    notes: list[str] = []
    if not ctx.meta or "progress_token" not in ctx.meta:
        yield notes
        return
    over = asyncio.Event()
    told = asyncio.get_running_loop().create_task(
        _tell(ctx, guest, tool, over, notes), name=f"progress of {tool}"
    )
    try:
        yield notes
    finally:
        over.set()
        told.cancel()
        await asyncio.gather(told, return_exceptions=True)


async def _tell(
    ctx: Context, guest: Guest, tool: str, over: asyncio.Event, notes: list[str]
) -> None:
    seconds, pause = 0.0, FIRST_PROGRESS_SECONDS
    while not over.is_set():
        try:
            async with asyncio.timeout(pause):
                await over.wait()
        except TimeoutError:
            seconds, pause = seconds + pause, PROGRESS_SECONDS
            message = await _what_takes_so_long(guest, tool, notes)
            await ctx.session.report_progress(seconds, message=message)


async def _what_takes_so_long(guest: Guest, tool: str, notes: list[str]) -> str:
    try:
        status = await guest.api.call(ops.Status())
    except RoostError:
        return f"{tool} is under way"
    notes += status.spelled(guest.toolset.spelling(tool)).notes or ()
    return f"{tool} is under way" if status.browsers else "Starting the browser"


# --- a stream -----------------------------------------------------------------------------------


async def serve_stream(
    guest_of: Callable[[Context], Guest],
    instructions: str,
    receive: Callable[[], Awaitable[dict[str, Any] | None]],
    send: Callable[[dict[str, Any]], None],
    unanswered: Callable[[str | int], None],
) -> None:
    """Serve one client until ``receive`` returns None.

    ``guest_of``: identifies the caller of a request.
    ``instructions``: what a model should know before it uses the tools.
    ``receive``: returns the client's next message.
    ``send``: sends a message to the client.
    ``unanswered``: called with the id of a request that gets no answer because the client cancelled
        it.
    """
    server = make_server(guest_of, instructions)
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    outgoing = _Outgoing(send)
    await server.run(_Incoming(receive, outgoing, unanswered), outgoing, options)


class _Stream:
    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass


class _Outgoing(_Stream):
    """Writes the server's messages to the connection."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self.write = send

    async def send(self, item: SessionMessage) -> None:
        self.write(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))


class _Incoming(_Stream):
    """Reads the client's messages.

    Messages that are not JSON-RPC are answered here, because the SDK would drop them silently.
    """

    def __init__(
        self,
        receive: Callable[[], Awaitable[dict[str, Any] | None]],
        outgoing: _Outgoing,
        unanswered: Callable[[str | int], None],
    ) -> None:
        self._receive = receive
        self._outgoing = outgoing
        self._unanswered = unanswered

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> SessionMessage:
        while (message := await self._receive()) is not None:
            try:
                parsed = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            except ValidationError:
                self._outgoing.write(_invalid(message))
                continue
            return SessionMessage(parsed, self._metadata(parsed))
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage:
        return await self.__anext__()

    def _metadata(self, message: types.JSONRPCMessage) -> ServerMessageMetadata | None:
        if not isinstance(message, types.JSONRPCRequest):
            return None
        request = message.id

        async def unanswered() -> None:
            self._unanswered(request)

        return ServerMessageMetadata(on_request_unanswered=unanswered)


def _invalid(message: dict[str, Any]) -> dict[str, Any]:
    request = message.get("id")
    is_id = isinstance(request, str | int) and not isinstance(request, bool)
    return {
        "jsonrpc": "2.0",
        "id": request if is_id else None,
        "error": {"code": types.INVALID_REQUEST, "message": "This is no JSON-RPC 2.0 message."},
    }
