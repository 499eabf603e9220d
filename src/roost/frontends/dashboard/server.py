"""The dashboard's files and its WebSocket.

The files are the same for everybody and hold no data, so they need no token. Everything else goes
through the WebSocket, whose first message is the login (``viewer_socket``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from roost.api.dashboard import DashboardDoor
from roost.frontends.dashboard.viewer_socket import ViewerSocket

FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "app.js": ("app.js", "text/javascript; charset=utf-8"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(door: DashboardDoor) -> Starlette:
    async def live(websocket: WebSocket) -> None:
        await ViewerSocket(websocket, door).serve()

    return Starlette(
        routes=[
            *(Route(f"/{path}", _served(*FILES[path]), methods=["GET"]) for path in FILES),
            WebSocketRoute("/live", live),
        ]
    )


def _served(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """Return the function behind the route of one file."""
    body = _read(name)

    async def serve(request: Request) -> Response:
        return Response(body, media_type=media_type, headers=HEADERS)

    return serve


def _read(name: str) -> bytes:
    return files("roost.frontends.dashboard").joinpath("page", name).read_bytes()
