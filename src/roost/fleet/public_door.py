"""The gateway's public door: users, session holders, administrators and machines that join.

The bearer token alone decides who asks. A user's token opens sessions and sees that user's
sessions; a session's token is good for that session. Both work as they do on one machine. Every
other session answers as if it did not exist.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

from roost.api import operations as ops
from roost.api.door import SESSION_HEADER
from roost.errors import (
    BadRequest,
    BrowserLost,
    Internal,
    Interrupted,
    NotFound,
    RoostError,
    SessionGone,
    Timeout,
    TooLarge,
    Unauthorized,
)
from roost.fleet.administration import Administration
from roost.fleet.config import GatewayConfig
from roost.fleet.forwarding import Refused, answer, forwarded_head, pass_on, refuse
from roost.fleet.http_heads import NO_BODY, Body, Framing, Header, Request, values
from roost.fleet.node_door import EPOCH, MISDIRECTED, SESSION, TOKEN
from roost.fleet.registry import Registry
from roost.fleet.rows import Session, User
from roost.fleet.sessions import Sessions
from roost.fleet.streams import Hangup, Stream, exchange
from roost.fleet.tokens import digest, session_token
from roost.frontends.http.replies import NO_TOKEN
from roost.vocabulary import AGENT_FRAME_BYTES, CALL_SECONDS, HELLO_SECONDS, KIB, MIB, NAME_PATTERN
from roost.wire.framing import decode, encode
from roost.wire.weight import AGENT_VALUES

PLACES = 2048
"""Connections at a time. Further ones are closed at once."""
KEEP_ALIVE_SECONDS = 30.0
SMALL_BYTES = 64 * KIB
"""A body up to this size is read before it is sent on, so that it can be sent to another node."""
WAIT_SECONDS = CALL_SECONDS
"""How long a call waits for its session's machine."""
RETRY_SECONDS = 0.2
SALT_BYTES = 16
VIEW_BYTES = 4 * MIB
_NAME = re.compile(NAME_PATTERN)
_WISHES = ("name", "jar", "profile", "browser")
_SESSION_PATH = re.compile(r"/session/([^/]+)(/.*)?")
_CDP_PATH = re.compile(r"/cdp/([^/]+)(/.*)?")
_TOOL = re.compile(r"/tools/([a-z_]+)")
_HEADER = SESSION_HEADER.lower().encode()
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    session: the only session that the caller may use, for a session's token.
    """

    user: str
    session: str | None = None


class PublicDoor:
    """Serves one address. ``connected`` counts the open connections."""

    def __init__(
        self,
        config: GatewayConfig,
        names: frozenset[str],
        registry: Registry,
        sessions: Sessions,
        administration: Administration,
        secret: bytes,
        admin_token: str,
        wait: Callable[[float], Any],
    ) -> None:
        self._config = config
        self._registry = registry
        self._sessions = sessions
        self._administration = administration
        self._secret = secret
        self._admin = digest(admin_token)
        self._wait = wait
        hosts = {f"[{name}]" if ":" in name else name for name in names}
        self._hosts = {f"{host}:{config.port}".encode() for host in hosts}
        self._origins = {b"https://" + host for host in self._hosts}
        self._streams: set[Stream] = set()

    def cut(self) -> None:
        for stream in list(self._streams):
            stream.abort()

    async def serve(self, stream: Stream) -> None:
        """Serve one connection to its end."""
        if len(self._streams) >= PLACES:
            stream.abort()
            return
        self._streams.add(stream)
        seconds = HELLO_SECONDS
        try:
            while True:
                async with asyncio.timeout(seconds):
                    request = await stream.request()
                if request is None or not await self._answered(stream, request):
                    return
                seconds = KEEP_ALIVE_SECONDS
        except (BadRequest, TooLarge) as error:  # the start of the next request is unknown
            await self._last_words(stream, error)
        except (Hangup, TimeoutError, ConnectionError, ssl.SSLError):
            pass
        finally:
            self._streams.discard(stream)
            await stream.aclose()

    async def _last_words(self, stream: Stream, error: RoostError) -> None:
        with suppress(Hangup):
            await refuse(stream, error, is_last=True)
            await stream.linger()

    async def _answered(self, stream: Stream, request: Request) -> bool:
        """Answer one request. Returns whether the connection can be used again."""
        unread = request.body.framing is not Framing.NONE
        status = None
        try:
            reading = _Reading(stream, request)
            if await self._route(reading):
                return not request.is_last
            return False
        except Unauthorized as problem:
            error: RoostError = problem
            status = NO_TOKEN if problem.details.pop("isUnknown", False) else None
            unread = reading.is_unread
        except RoostError as problem:
            error = problem
            unread = reading.is_unread
        except Hangup:
            raise
        except asyncio.CancelledError:
            error = Interrupted("The gateway stopped before the answer.")
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("a request failed [%s]", reference)
            error = Internal("The request failed inside the gateway.", reference=reference)
        is_last = unread or request.is_last
        await refuse(stream, error, status, is_last=is_last)
        if unread:
            await stream.linger()
        return not is_last

    # --- routes --------------------------------------------------------------------------------

    async def _route(self, reading: _Reading) -> bool:
        """Answer the request. Returns whether the connection can be used again."""
        request, path = reading.request, reading.request.path
        self._check_address(request)
        if path == "/healthz":
            return await reading.reply({"ok": True})
        if path == "/fleet/ca.pem":
            return await reading.answer(self._administration.authority, "application/x-pem-file")
        if path == "/fleet/join":
            joined = self._administration.join(await reading.json(), reading.stream.peer)
            return await reading.reply(joined)
        if (found := _CDP_PATH.fullmatch(path)) is not None:
            session = self._session_of(found[1])
            return await self._cdp(reading, session, found[1], found[2] or "")
        token = _bearer(request)
        if path.startswith("/fleet/admin/"):
            if not hmac.compare_digest(digest(token), self._admin):
                raise _unknown()
            order = path.removeprefix("/fleet/admin/")
            return await reading.reply(await self._administration.obey(order, await reading.json()))
        caller = self._caller(token)
        if path == "/session":
            return await self._open(reading, caller)
        if path == "/fleet/sessions":
            return await reading.reply(self._listed(caller))
        if (found := _SESSION_PATH.fullmatch(path)) is not None:
            session = self._own(caller, unquote(found[1]))
            return await self._in_session(reading, session, found[2] or "")
        if path == "/pages" or path.startswith("/pages/"):
            return await self._page(reading, caller)
        if path in ("/mcp", "/openapi.json"):
            session = self._meant(caller, self._named(request))
            return await self._forward(reading, session, request.target)
        raise NotFound("There is nothing at that path.")

    async def _open(self, reading: _Reading, caller: Caller) -> bool:
        """Open a session, or find the one of that name."""
        if reading.request.method != b"POST":
            raise BadRequest("method: a session is opened with POST.", field="method")
        if caller.session is not None:
            raise Unauthorized("A session's token opens no other session.", hint="Use your own.")
        body = await reading.json()
        unknown = sorted(set(body) - {"sessionId", "ephemeral", *_WISHES})
        if unknown:
            raise BadRequest(
                f"{unknown[0][:64]}: there is no such argument.", field=unknown[0][:64]
            )
        named = body.get("sessionId")
        if named is not None and not (isinstance(named, str) and _NAME.fullmatch(named)):
            raise BadRequest("sessionId: not a name for a session.", field="sessionId")
        wish = {name: body[name] for name in _WISHES if body.get(name) is not None}
        if not all(isinstance(value, str) and len(value) <= 80 for value in wish.values()):
            raise BadRequest("name, jar, profile, browser: expected short texts.", field="body")
        try:
            if named is None:
                raise SessionGone("")
            session = self._registry.own(caller.user, named)
            await self._sessions.placed(session.id, WAIT_SECONDS)
        except SessionGone:
            wish.setdefault("name", named or caller.user)
            session = self._new(caller.user, named, wish, body.get("ephemeral") is True)
            with reading.stream.needed():
                await self._sessions.open(session, WAIT_SECONDS)
        view = await self._shown(session.id)
        return await reading.reply(
            {
                "sessionId": session.id,
                "groupId": view.get("group"),
                "groupName": view.get("name"),
                "createdAt": view.get("createdAt"),
                "token": self._token(session),
                "tabs": view.get("tabs", []),
            }
        )

    def _new(self, user: str, named: str | None, wish: dict[str, str], ephemeral: bool) -> Session:
        id = f"{user}.{named or secrets.token_hex(6)}"
        if not _NAME.fullmatch(id):
            raise BadRequest(
                f"sessionId: at most {63 - len(user)} characters for user {user}.",
                field="sessionId",
            )
        salt = secrets.token_hex(SALT_BYTES)
        return Session(
            id=id,
            user=user,
            epoch=0,
            node=None,
            wish=wish,
            salt=salt,
            digest=digest(session_token(self._secret, id, salt)),
            is_ephemeral=ephemeral,
        )

    async def _shown(self, id: str) -> dict[str, Any]:
        """Return the session as its broker shows it."""
        session = await self._sessions.placed(id, WAIT_SECONDS)
        target = f"/session/{id}/tools/{ops.SessionShow.op}".encode()
        return await self._ask_node(session, b"POST", target, [], b"{}", timeout=10.0)

    async def _ask_node(
        self,
        session: Session,
        method: bytes,
        target: bytes,
        headers: list[Header],
        body: bytes,
        timeout: float,
    ) -> dict[str, Any]:
        """Ask the broker of a placed session, and return its answer or raise its refusal."""
        headers = [(b"host", b"node"), *_marks(session), *headers]
        try:
            async with self._sessions.link(session).pool.lend() as lent:
                response, data = await exchange(
                    lent.stream, method, target, headers, body, limit=VIEW_BYTES, timeout=timeout
                )
                lent.finished(response)
        except OSError:
            raise BrowserLost("The session's machine does not answer.") from None
        view = decode(data)
        if response.status != 200 or not isinstance(view, dict):
            raise RoostError.from_wire(view if isinstance(view, dict) else {})
        return view

    async def _in_session(self, reading: _Reading, session: Session, rest: str) -> bool:
        method, tool = reading.request.method, _TOOL.fullmatch(rest)
        is_dispose = tool is not None and tool[1] == ops.SessionDispose.op
        if (rest == "" and method == b"DELETE") or (is_dispose and method == b"POST"):
            await reading.json()
            return await reading.reply(await self._sessions.dispose(session.id))
        if tool is not None and tool[1] == ops.SessionToken.op:
            await reading.json()
            return await reading.reply({"session": session.id, "token": self._token(session)})
        query = reading.request.query
        target = f"/session/{session.id}{rest}" + (f"?{query}" if query else "")
        return await self._forward(reading, session, target.encode(), is_long=rest == "/events")

    async def _page(self, reading: _Reading, caller: Caller) -> bool:
        """Open or close a page by name. The session is named in the body, a query or a header."""
        request = reading.request
        body = await reading.json() if request.method == b"POST" else None
        in_body = body.pop("sessionId", None) if body is not None else None
        session = self._meant(caller, self._named(request, in_body))
        if body is not None:
            reading.replace(encode(body))
        return await self._forward(reading, session, request.path.encode())

    async def _cdp(self, reading: _Reading, session: Session, token: str, rest: str) -> bool:
        if values(reading.request.headers, b"origin"):
            raise Unauthorized("Origin: web pages are not served.")
        target = TOKEN + rest.encode()
        if rest.rstrip("/") != "/json/version":
            return await self._forward(reading, session, target, is_long=True)
        return await self._version(reading, session, token, target)

    async def _version(
        self, reading: _Reading, session: Session, token: str, target: bytes
    ) -> bool:
        """Answer the version of the session's browser, with the WebSocket's address here."""
        host = values(reading.request.headers, b"host")[0].decode("ascii")
        placed = await self._sessions.placed(session.id, WAIT_SECONDS)
        headers = [each for each in reading.request.headers if each[0] == b"user-agent"]
        view = await self._ask_node(placed, b"GET", target, headers, b"", timeout=30.0)
        if "webSocketDebuggerUrl" in view:
            view["webSocketDebuggerUrl"] = f"wss://{host}/cdp/{token}/devtools/browser/session"
        return await reading.reply(view)

    def _listed(self, caller: Caller) -> dict[str, Any]:
        """Return the caller's own sessions."""
        mine = [
            each
            for each in self._registry.sessions.values()
            if each.user == caller.user and caller.session in (None, each.id)
        ]
        return {
            "sessions": [
                {"id": each.id, "name": each.wish.get("name"), "isPlaced": each.node is not None}
                for each in mine
            ]
        }

    # --- forwarding ----------------------------------------------------------------------------

    async def _forward(
        self, reading: _Reading, session: Session, target: bytes, *, is_long: bool = False
    ) -> bool:
        """Send the request to the session's node, and its response back.

        A request that has reached no node is sent to the node that gets the session next. A request
        that may have reached a node is never sent twice.
        """
        stream, request = reading.stream, reading.request
        data, body = await reading.prepared()
        with self._sessions.call(session, stream, is_long=is_long or request.is_upgrade):
            loop = asyncio.get_running_loop()
            deadline = loop.time() + WAIT_SECONDS
            while True:
                with stream.needed():
                    session = await self._sessions.placed(session.id, deadline - loop.time())
                extra = [(b"host", b"node"), *_marks(session)]
                framed = body if data is None else Body(Framing.LENGTH, len(data))
                head = forwarded_head(request, target, extra, framed)
                try:
                    async with self._sessions.link(session).pool.lend() as lent:
                        response = await pass_on(
                            stream,
                            request,
                            lent.stream,
                            head + (data or b""),
                            NO_BODY if data is not None else body,
                            refused=MISDIRECTED,
                        )
                        lent.finished(response)
                    reading.is_unread = False
                    return response.status != 101
                except OSError as problem:
                    logger.info("node %s cannot be reached: %s", session.node, problem)
                except Refused as refused:
                    if b"true" in refused.body:
                        self._sessions.missing(session)
                    if data is None and body.framing is not Framing.NONE:
                        raise BrowserLost(
                            "The session is being moved to another machine. Nothing was done.",
                            retry_after_ms=1000,
                        ) from None
                if loop.time() >= deadline:
                    raise Timeout(
                        "The session's machine does not answer.",
                        hint="Nothing was done. Try again; the session is kept.",
                        retry_after_ms=2000,
                    )
                await self._wait(RETRY_SECONDS)

    # --- who asks, and for which session -------------------------------------------------------

    def _check_address(self, request: Request) -> None:
        """Refuse requests that are not meant for this server, and those of web pages."""
        if values(request.headers, b"host")[0].lower() not in self._hosts:
            raise Unauthorized(
                "Host: not an address of this gateway.",
                hint=f"Use {self._config.address}, or name the host with `roost fleet up`.",
            )
        if not self._origins.issuperset(values(request.headers, b"origin")):
            raise Unauthorized("Origin: web pages are not served.")

    def _caller(self, token: str) -> Caller:
        found = digest(token)
        user: User | None = self._registry.user_with(found)
        if user is not None:
            return Caller(user.name)
        session = self._registry.session_with(found)
        if session is not None:
            return Caller(session.user, session.id)
        raise _unknown()

    def _session_of(self, token: str) -> Session:
        """Return the session whose token stands in the path."""
        session = self._registry.session_with(digest(token))
        if session is None:
            raise _unknown()
        return session

    def _own(self, caller: Caller, named: str) -> Session:
        session = self._registry.own(caller.user, named)
        if caller.session not in (None, session.id):
            raise SessionGone(f"There is no session {named[:64]}.")
        return session

    def _named(self, request: Request, in_body: object = None) -> str | None:
        """Return the session that a request names in its body, its query or its header."""
        names = {value.decode("latin-1") for value in values(request.headers, _HEADER)}
        names |= set(parse_qs(request.query).get("sessionId", ()))
        if isinstance(in_body, str):
            names.add(in_body)
        if len(names) > 1:
            raise BadRequest("sessionId: it is named twice, and not alike.", field="sessionId")
        return names.pop() if names else None

    def _meant(self, caller: Caller, named: str | None) -> Session:
        if named is not None:
            return self._own(caller, named)
        if caller.session is not None:
            return self._registry.sessions[caller.session]
        raise BadRequest(
            "session: a user's token is good for several sessions, so name one.",
            hint=f"Send the header {SESSION_HEADER}, or that session's own token.",
            field="session",
        )

    def _token(self, session: Session) -> str:
        return session_token(self._secret, session.id, session.salt)


class _Reading:
    """One request, and how much of its body has been read."""

    def __init__(self, stream: Stream, request: Request) -> None:
        self.stream = stream
        self.request = request
        self.is_unread = request.body.framing is not Framing.NONE
        self._data: bytes | None = None

    async def json(self) -> dict[str, Any]:
        """Return the body, which must be a JSON object; nothing counts as an empty one."""
        self._data = await self.stream.whole(self.request.body, AGENT_FRAME_BYTES)
        self.is_unread = False
        value = decode(self._data, AGENT_VALUES) if self._data.strip() else {}
        if not isinstance(value, dict):
            raise BadRequest("body: expected a JSON object.", field="body")
        return value

    def replace(self, data: bytes) -> None:
        self._data = data

    async def prepared(self) -> tuple[bytes | None, Body]:
        """Return the body if it is small or was read before, else None and how it is framed."""
        body = self.request.body
        if self._data is None and body.framing is Framing.LENGTH and body.length <= SMALL_BYTES:
            self._data = await self.stream.whole(body, SMALL_BYTES)
            self.is_unread = False
        return self._data, body

    async def reply(self, value: dict[str, Any]) -> bool:
        return await self.answer(encode(value))

    async def answer(self, data: bytes, kind: str = "application/json") -> bool:
        """Answer. Returns whether the connection can be used again."""
        is_last = self.is_unread or self.request.is_last
        await answer(self.stream, data, kind=kind, is_last=is_last)
        return not is_last


def _marks(session: Session) -> list[tuple[bytes, bytes]]:
    return [(SESSION, session.id.encode()), (EPOCH, b"%d" % session.epoch)]


def _bearer(request: Request) -> str:
    found = values(request.headers, b"authorization")
    scheme, _, token = found[0].partition(b" ") if len(found) == 1 else (b"", b"", b"")
    if scheme.lower() != b"bearer":
        raise Unauthorized(
            "Authorization: a bearer token is needed.",
            hint="Send Authorization: Bearer followed by your user token or a session's token.",
            isUnknown=True,
        )
    return token.strip().decode("latin-1")


def _unknown() -> Unauthorized:
    return Unauthorized(
        "token: wrong or revoked, or its session has ended.",
        hint="An administrator makes user tokens with `roost fleet token add NAME`.",
        isUnknown=True,
    )
