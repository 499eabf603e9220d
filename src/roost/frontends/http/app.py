"""The routes, behind the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from roost.api.door import TokenDoor
from roost.errors import NotFound
from roost.frontends.http import calls
from roost.frontends.http.events import Streams
from roost.frontends.http.gate import Gate
from roost.frontends.http.openapi import description
from roost.frontends.http.replies import refusal, reply


def application(
    door: TokenDoor,
    host: str,
    port: int,
    streams: Streams,
    mounts: Mapping[str, Callable[[], ASGIApp]],
) -> ASGIApp:
    """Return the application with all routes, behind the gate."""
    routes = [
        Route("/session/{session}/tools/{tool}", calls.call_tool, methods=["POST"]),
        Route("/session/{session}/heartbeat", calls.heartbeat, methods=["POST"]),
        Route("/session/{session}/tabs", calls.list_tabs, methods=["GET"]),
        Route("/session/{session}/events", streams.events, methods=["GET"]),
        Route("/session/{session}", calls.dispose_session, methods=["DELETE"]),
        Route("/session", calls.open_session, methods=["POST"]),
        Route("/pages/{name}", calls.close_page, methods=["DELETE"]),
        Route("/pages", calls.open_page, methods=["POST"]),
        Route("/openapi.json", partial(_described, f"http://{host}:{port}"), methods=["GET"]),
        Route("/healthz", calls.health, methods=["GET"]),
        *(_mounted(path, _LazyApplication(make)) for path, make in mounts.items()),
    ]
    router = Router(routes, redirect_slashes=False, default=_nothing_here)
    return Gate(_RouterApplication(router), door, host, port)


def _mounted(path: str, app: ASGIApp) -> BaseRoute:
    """Mount the application at the path.

    A path that ends with a slash includes everything below it, also WebSockets.
    """
    return Mount(path.rstrip("/"), app) if path.endswith("/") else Route(path, app)


class _RouterApplication:
    """Makes the router look like an application to its routes.

    Only inside an application do Starlette's routes raise what they refuse. Elsewhere they answer
    in plain text.
    """

    def __init__(self, router: Router) -> None:
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self._router(scope, receive, send)


class _LazyApplication:
    """An application that is made at its first request."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            self._app = self._make()
        await self._app(scope, receive, send)


async def _described(address: str, request: Request) -> Response:
    return reply(description(address))


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    error = NotFound("There is nothing at that path.", hint="GET /openapi.json says what there is.")
    await refusal(error)(scope, receive, send)
