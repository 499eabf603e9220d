"""The gate checks every request before any route: is it meant for us, and who sends it?

A web page in the person's browser can reach 127.0.0.1 too, and by DNS rebinding under a host name
of its own. It cannot forge Host or Origin. Every other caller must show a token, or be a process
that was started for a session (``/json`` only). The gate cannot be switched off. Only ``/healthz``
and the dashboard need no token here; the dashboard's WebSocket asks for its own.
"""

from __future__ import annotations

import asyncio
import logging
import secrets

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roost.api.door import TokenDoor
from roost.errors import BadRequest, Internal, Interrupted, RoostError, Unauthorized
from roost.frontends.http.replies import NO_TOKEN, refusal

FORBIDDEN = 403
OPEN = frozenset({"/healthz"})
DASHBOARD = "/dashboard/"
"""The page's files hold no data. Its WebSocket asks for a login before it says anything."""
TOKEN_IN_PATH = "/cdp/"
DEVTOOLS = "/json"
"""The path where DevTools clients look first, whatever the rest of their address is."""
CHROMEDRIVER = {
    b"user-agent": b"chromedriver",
    b"sec-fetch-site": b"none",
    b"sec-fetch-mode": b"no-cors",
    b"sec-fetch-dest": b"empty",
}
"""The headers by which Selenium's chromedriver is known. No page can send them: requests of pages
have another Sec-Fetch-Site, and navigations that a person begins have another Sec-Fetch-Mode."""
NO_SESSION = (
    "none (Roost serves chromedriver only if it is started with ROOST_SESSION=NAME in the"
    " environment: first run 'roost session open --session NAME --url about:blank')"
)
"""Stands where the browser's version is expected. Chromedriver stops at once and shows the text of
a version that it does not know. It would retry any other refusal for a minute."""
logger = logging.getLogger(__name__)


class Gate:
    """Wraps the application. Requests that pass carry ``scope["visit"]`` and ``scope["token"]``."""

    def __init__(self, app: ASGIApp, door: TokenDoor, host: str, port: int) -> None:
        self._app = app
        self._door = door
        names = (host, "localhost")
        self._hosts = {f"{name}:{port}".encode() for name in names}
        self._origins = {f"http://{name}:{port}".encode() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            found = _headers(scope)
            refused = self._misdirected(scope, found)
            if refused is None:
                refused = await self._unknown(scope, found[b"authorization"])
            if refused is None:
                await self._app(scope, receive, watched)
                return
        except RoostError as error:
            refused = refusal(error)
        except HTTPException as error:  # starlette raises it for a method that the route lacks
            wrong = BadRequest(f"method: {scope['method']} is not for this.", field="method")
            refused = refusal(wrong, error.status_code, error.headers)
        except asyncio.CancelledError:  # only the server's end cancels requests
            refused = refusal(Interrupted("The broker stopped before the answer."))
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("a request failed [%s]", reference)
            refused = refusal(Internal("The request failed inside Roost.", reference=reference))
        if not has_begun:
            await refused(scope, receive, send)

    def _misdirected(self, scope: Scope, found: _Found) -> Response | None:
        """Return a refusal if the request is not for this server or is a web page's."""
        hosts = self._hosts
        if scope["type"] == "websocket" and scope["path"].startswith(TOKEN_IN_PATH):
            # Chromedriver leaves the port out. Browsers never do.
            hosts = hosts | {host.rpartition(b":")[0] for host in hosts}
        if len(found[b"host"]) != 1 or found[b"host"][0].lower() not in hosts:
            return refusal(Unauthorized("Host: not an address of this server."), FORBIDDEN)
        if not self._origins.issuperset(found[b"origin"]):
            return refusal(Unauthorized("Origin: web pages are not served."), FORBIDDEN)
        return None

    async def _find_token(self, scope: Scope) -> None:
        """Find the token of a DevTools client by its process, and put it into the path.

        Puppeteer and other clients drop the path of an address, and with it the token. So at
        ``/json`` the broker identifies the process by the session it was started for.

        A browser's process acts for its pages, so it must not be identified like this. All browsers
        send Sec-Fetch-Site to loopback, so requests with that header are refused, but for
        chromedriver's. Node sends other Sec-Fetch headers, but not this one.
        """
        is_page = any(name == b"sec-fetch-site" for name, _ in scope["headers"])
        if is_page and not _is_chromedriver(scope):
            raise Unauthorized("Sec-Fetch-Site: web pages are not served.")
        token = await self._door.token_beside(tuple(scope["server"]), tuple(scope["client"]))
        scope["path"] = f"{TOKEN_IN_PATH}{token}{scope['path']}"
        scope["raw_path"] = scope["path"].encode()

    async def _unknown(self, scope: Scope, authorization: list[bytes]) -> Response | None:
        """Return a refusal if the caller shows no valid token, else None."""
        if scope["path"] in OPEN or scope["path"].startswith(DASHBOARD):
            return None
        is_tokenless = _is_tokenless(scope["path"])
        try:
            if is_tokenless:
                await self._find_token(scope)
            scope["token"] = _token(scope["path"], authorization)
            scope["visit"] = self._door.visit(scope["token"])
        except Unauthorized as error:
            if is_tokenless and _is_chromedriver(scope):
                return JSONResponse({"Browser": NO_SESSION})
            return refusal(error, NO_TOKEN)
        is_operator = scope["visit"].session is None
        if scope["state"]["admitted"](is_operator=is_operator):
            await self._door.note_operator(tuple(scope["server"]), tuple(scope["client"]))
        return None


_Found = dict[bytes, list[bytes]]


def _headers(scope: Scope) -> _Found:
    found: _Found = {b"host": [], b"origin": [], b"authorization": []}
    for name, value in scope["headers"]:
        if name in found:
            found[name].append(value)
    return found


def _is_tokenless(path: str) -> bool:
    return path == DEVTOOLS or path.startswith(f"{DEVTOOLS}/")


def _is_chromedriver(scope: Scope) -> bool:
    told = [(name, value) for name, value in scope["headers"] if name in CHROMEDRIVER]
    return len(told) == len(CHROMEDRIVER) and dict(told) == CHROMEDRIVER


def _token(path: str, authorization: list[bytes]) -> str:
    """Return the token from the header, or below ``/cdp/`` from the path.

    Not every DevTools client can send a header.
    """
    if path.startswith(TOKEN_IN_PATH):
        return path.removeprefix(TOKEN_IN_PATH).partition("/")[0]
    return _bearer(authorization)


def _bearer(values: list[bytes]) -> str:
    scheme, _, token = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
    if scheme.lower() != b"bearer":
        raise Unauthorized(
            "Authorization: a bearer token is needed.",
            hint="Send Authorization: Bearer followed by what the token file in ROOST_HOME says,"
            " or by the token POST /session answered.",
        )
    return token.strip().decode("latin-1")
