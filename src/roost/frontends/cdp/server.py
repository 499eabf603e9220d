"""The addresses below ``/cdp/{token}/``: the JSON lists of targets and versions, and the WebSocket.

The token is in the path because not every client can send a header.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from roost.api.protocol import Look, ProtocolDoor
from roost.api.sockets import DIRECT
from roost.errors import PolicyDenied, RoostError, Timeout, Unauthorized
from roost.frontends.cdp.client import Client
from roost.frontends.cdp.methods import BROWSER, PAGE, PAGE_DOMAINS, Way
from roost.vocabulary import CALL_SECONDS

WEBKIT = "537.36"
"""The version of WebKit that every Chromium says it is. Chromedriver reads the revision behind."""
NO_TAB = (
    "none (this session has no tab, and chromedriver opens none: run"
    " 'roost session open --session NAME --url about:blank' first)"
)
"""Stands where chromedriver expects the browser's version. Chromedriver stops and shows this text;
otherwise it would look for a tab for a minute."""
GOING, TOO_SLOW = 1001, 1013
LOCAL = ("127.0.0.1", "localhost")


class Addresses:
    """The CDP routes. ``door`` resolves tokens to sessions."""

    def __init__(self, door: ProtocolDoor) -> None:
        self._door = door

    def application(self) -> Starlette:
        """Return the application to mount at ``/cdp``."""
        looks = {
            "json": self.list_,
            "json/list": self.list_,
            "json/version": self.version,
            "json/protocol": self.protocol,
        }
        sockets = ("", "/", "/devtools/browser/{browser}")
        return Starlette(
            routes=[
                *(Route(f"/{{token}}/{path}", look) for path, look in looks.items()),
                # Some clients add a slash at the end.
                *(Route(f"/{{token}}/{path}/", look) for path, look in looks.items()),
                *(WebSocketRoute(f"/{{token}}{path}", self.connect) for path in sockets),
            ]
        )

    async def connect(self, websocket: WebSocket) -> None:
        """Serve one client from the WebSocket handshake to the close."""
        client = Client()
        try:
            await self._serve(client, websocket)
        finally:
            await client.leave()

    async def _serve(self, client: Client, websocket: WebSocket) -> None:
        try:
            _check_local(websocket)
            await client.sit(self._door, websocket.path_params["token"])
        except RoostError as error:
            with suppress(OSError):  # the client disconnected meanwhile
                await websocket.send_denial_response(_refusal(error))
            return
        try:
            await websocket.accept()
        except OSError:
            return  # the client disconnected while its seat was prepared
        await client.run(websocket.scope["extensions"][DIRECT])
        if websocket.client_state is WebSocketState.CONNECTED:
            code, why = (TOO_SLOW, "left too much unread") if client.is_too_slow else (GOING, "")
            try:
                async with asyncio.timeout(1.0):
                    await websocket.close(code, why)
            except (TimeoutError, RuntimeError, WebSocketDisconnect):
                pass  # the client does not read; the connection ends when this call returns

    async def version(self, request: Request) -> Response:
        return await self._looked(request, _version)

    async def list_(self, request: Request) -> Response:
        return await self._looked(request, _targets)

    async def protocol(self, request: Request) -> Response:
        return await self._looked(request, _protocol)

    async def _looked(self, request: Request, asked: _Asked) -> Response:
        try:
            _check_local(request)
            async with asyncio.timeout(CALL_SECONDS):
                look = await self._door.look(request.path_params["token"])
                return JSONResponse(await asked(look, request))
        except TimeoutError:
            return _refusal(Timeout("The browser did not answer in time."))
        except RoostError as error:
            return _refusal(error)


_Asked = Callable[[Look, Request], Awaitable[Any]]


async def _version(look: Look, request: Request) -> Any:
    if request.headers.get("user-agent") == "chromedriver" and not await look.targets():
        return {"Browser": NO_TAB}
    said = await look.version()
    root = request.scope["root_path"]
    base = f"ws://{request.url.netloc}{root}/{request.path_params['token']}"
    return {
        "Browser": said["product"],
        "Protocol-Version": said["protocolVersion"],
        "User-Agent": said["userAgent"],
        "V8-Version": said["jsVersion"],
        "WebKit-Version": f"{WEBKIT} ({said['revision']})",
        "webSocketDebuggerUrl": f"{base}/devtools/browser/session",
    }


async def _targets(look: Look, request: Request) -> Any:
    return [
        {"id": info["targetId"], **{name: info[name] for name in ("type", "title", "url")}}
        for info in await look.targets()
    ]


async def _protocol(look: Look, request: Request) -> Any:
    """List the domains and methods that clients may use here.

    The browser does not describe its protocol over the pipe, so the list is made of our table.
    """
    said = await look.version()
    major, minor = said["protocolVersion"].split(".")
    commands: dict[str, list[dict[str, str]]] = {domain: [] for domain in sorted(PAGE_DOMAINS)}
    for method, rule in {**BROWSER, **PAGE}.items():
        domain, _, name = method.partition(".")
        if rule.way is not Way.REFUSED:
            commands.setdefault(domain, []).append({"name": name})
    domains = [{"domain": domain, "commands": names} for domain, names in commands.items()]
    return {"version": {"major": major, "minor": minor}, "domains": domains}


def _check_local(connection: HTTPConnection) -> None:
    """Refuse web pages: DNS rebinding lets a page reach this port under a host name of its own."""
    host = connection.headers.get("host", "").rpartition(":")[0] or connection.headers.get("host")
    if host not in LOCAL or "origin" in connection.headers:
        raise Unauthorized("Only programs of this machine are served.", hint="Use 127.0.0.1.")


def _refusal(error: RoostError) -> Response:
    status = 403 if isinstance(error, Unauthorized | PolicyDenied) else 503
    return JSONResponse(error.to_wire(), status_code=status)
