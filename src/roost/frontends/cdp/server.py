"""The addresses below ``/cdp/{token}/``: what there is, as JSON, and the WebSocket.

The token stands in the path because not every client can send a header.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from roost.api.protocol import ProtocolDoor, Seat
from roost.errors import BrowserLost, RoostError, Timeout, Unauthorized
from roost.frontends.cdp.client import Client
from roost.frontends.cdp.methods import BROWSER, PAGE, PAGE_DOMAINS, Way
from roost.vocabulary import CALL_SECONDS

GOING, TOO_SLOW = 1001, 1013
LOCAL = ("127.0.0.1", "localhost")


class Addresses:
    """``door`` is where tokens are known."""

    def __init__(self, door: ProtocolDoor) -> None:
        self._door = door

    def application(self) -> Starlette:
        """To be mounted at ``/cdp``."""
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
                # Some clients write a slash at the end.
                *(Route(f"/{{token}}/{path}/", look) for path, look in looks.items()),
                *(WebSocketRoute(f"/{{token}}{path}", self.connect) for path in sockets),
            ]
        )

    async def connect(self, websocket: WebSocket) -> None:
        """A client, from handshake to goodbye."""
        client = Client()
        try:
            _check_local(websocket)
            await client.sit(self._door, websocket.path_params["token"])
        except RoostError as error:
            await client.leave()
            await websocket.send_denial_response(_refusal(error))
            return
        await websocket.accept()
        await client.run(_Socket(websocket))
        if websocket.client_state is WebSocketState.CONNECTED:
            code, why = (TOO_SLOW, "left too much unread") if client.is_too_slow else (GOING, "")
            try:
                async with asyncio.timeout(1.0):
                    await websocket.close(code, why)
            except (TimeoutError, RuntimeError, WebSocketDisconnect):
                pass  # it does not listen; the connection ends with this call

    async def version(self, request: Request) -> Response:
        return await self._looked(request, _version)

    async def list_(self, request: Request) -> Response:
        return await self._looked(request, _targets)

    async def protocol(self, request: Request) -> Response:
        return await self._looked(request, _protocol)

    async def _looked(
        self, request: Request, asked: Callable[[_Look, Request], Awaitable[Any]]
    ) -> Response:
        look = _Look()
        try:
            _check_local(request)
            async with asyncio.timeout(CALL_SECONDS):
                look.seat = await self._door.take_seat(request.path_params["token"], look)
                look.seat.show_tabs()
                return JSONResponse(await asked(look, request))
        except TimeoutError:
            return _refusal(Timeout("The browser did not answer in time."))
        except RoostError as error:
            return _refusal(error)
        finally:
            if look.seat is not None:
                await look.seat.close()


async def _version(look: _Look, request: Request) -> Any:
    said = await look.ask("Browser.getVersion")
    root = request.scope["root_path"]
    base = f"ws://{request.url.netloc}{root}/{request.path_params['token']}"
    return {
        "Browser": said["product"],
        "Protocol-Version": said["protocolVersion"],
        "User-Agent": said["userAgent"],
        "V8-Version": said["jsVersion"],
        "webSocketDebuggerUrl": f"{base}/devtools/browser/session",
    }


async def _targets(look: _Look, request: Request) -> Any:
    infos = (await look.ask("Target.getTargets"))["targetInfos"]
    return [
        {"id": info["targetId"], **{name: info[name] for name in ("type", "title", "url")}}
        for info in infos
        if info["targetId"] in look.tabs
    ]


async def _protocol(look: _Look, request: Request) -> Any:
    """The domains and methods that are to be had here: the browser tells no more over its pipe."""
    said = await look.ask("Browser.getVersion")
    major, minor = said["protocolVersion"].split(".")
    commands: dict[str, list[dict[str, str]]] = {domain: [] for domain in sorted(PAGE_DOMAINS)}
    for method, rule in {**BROWSER, **PAGE}.items():
        domain, _, name = method.partition(".")
        if rule.way is not Way.REFUSED:
            commands.setdefault(domain, []).append({"name": name})
    domains = [{"domain": domain, "commands": names} for domain, names in commands.items()]
    return {"version": {"major": major, "minor": minor}, "domains": domains}


class _Look:
    """A ``SeatEar`` that asks one thing and goes."""

    def __init__(self) -> None:
        self.seat: Seat | None = None
        self.tabs: set[str] = set()
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def ask(self, method: str) -> dict[str, Any]:
        assert self.seat is not None
        self.seat.send(method, method, {})
        found: dict[str, Any] = json.loads(await self._answer)["result"]
        return found

    def answered(self, key: Hashable, frame: bytes) -> None:
        if not self._answer.done():
            self._answer.set_result(frame)

    def heard(self, session: str, frame: bytes) -> None: ...

    def tab_came(self, target: str) -> bool:
        self.tabs.add(target)
        return False

    def tab_went(self, target: str) -> None:
        self.tabs.discard(target)

    def paused(self, is_paused: bool) -> None: ...

    def ended(self) -> None:
        if not self._answer.done():
            self._answer.set_exception(BrowserLost("The browser ended."))


class _Socket:
    """Starlette's WebSocket as a ``client.Socket``."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> str | bytes | None:
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        return text if text is not None else message["bytes"]

    async def send(self, text: str) -> None:
        await self._websocket.send_text(text)


def _check_local(connection: HTTPConnection) -> None:
    """A web page must not get in, whatever name it gave this machine."""
    host = connection.headers.get("host", "").rpartition(":")[0] or connection.headers.get("host")
    if host not in LOCAL or "origin" in connection.headers:
        raise Unauthorized("Only programs of this machine are served.", hint="Use 127.0.0.1.")


def _refusal(error: RoostError) -> Response:
    status = 403 if isinstance(error, Unauthorized) else 503
    return JSONResponse(error.to_wire(), status_code=status)
