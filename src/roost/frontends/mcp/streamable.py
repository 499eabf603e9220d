"""MCP over Streamable HTTP: an application behind HTTP's gate, which has checked the token.

There is no connection to bind an identity to, so the server keeps no state. Every request brings
its token and is served by itself, as the agent of that token's session. A request with the
operator's token names the session in the header ``X-DevBrowser-Session``. As with ``roost mcp``,
``?tools=`` and ``?names=`` choose the tools. A token gives access to one session, so the tool that
opens others is not among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from roost.api.door import TokenDoor
from roost.errors import BadRequest
from roost.frontends.mcp.conversation import toolset_for
from roost.frontends.mcp.lazy_server import LazyServer
from roost.frontends.mcp.toolset import Toolset

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SESSION_HEADER = b"x-devbrowser-session"
SESSION_OPEN = "session_open"


def streamable(server: LazyServer, door: TokenDoor) -> Callable[[], ASGIApp]:
    """Return a factory of the application that HTTP mounts.

    The application raises a ``RoostError`` for a request that names a wrong session or tool.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        visit = door.visit_as(scope["token"], _session(scope))
        toolset = _toolset(scope)
        module = await server.module()
        await module.serve_request(module.Guest(visit.api, toolset), scope, receive, send)

    return lambda: answer


def _session(scope: Scope) -> str | None:
    named = [value for name, value in scope["headers"] if name == SESSION_HEADER]
    return named[0].decode("latin-1") if named else None


def _toolset(scope: Scope) -> Toolset:
    asked = parse_qs(scope["query_string"].decode("latin-1"))
    tools = [tool for text in asked.get("tools", ()) for tool in text.split(",")]
    names = asked.get("names", [None])[0]
    if SESSION_OPEN in tools:
        raise BadRequest(
            f"tools: {SESSION_OPEN} does not work over HTTP.",
            hint="A token is good for one session. Open others with POST /session.",
            field="tools",
        )
    chosen = [tool.name for tool in toolset_for(names, tuple(tools)).tools]
    return toolset_for(names, tuple(name for name in chosen if name != SESSION_OPEN))
