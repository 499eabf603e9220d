"""``roost mcp --fleet URL``: the relay between an MCP client's stdio and a fleet.

The relay opens a session with the user's token when the client first speaks, and sends each message
to the gateway's ``/mcp`` with that session's token. A session without a name ends with the relay.
If the relay is killed, the gateway ends the session two minutes later.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from roost.broker.clock import SystemClock
from roost.broker.tasks import Tasks
from roost.errors import BadRequest, BrowserLost, Interrupted, RoostError
from roost.fleet.authority import client_context
from roost.fleet.config import PORT, fleet_folder
from roost.fleet.connection_pool import ConnectionPool
from roost.fleet.http_heads import Framing, Response, request_head, values
from roost.fleet.membership import ask, host_header, verified_authority
from roost.fleet.streams import Hangup, Stream
from roost.fleet.tokens import authority_of
from roost.local.home import Home, read_secret
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import encode

TOKEN_VARIABLE = "ROOST_FLEET_TOKEN"
TOKEN_FILE = "user-token"
BEAT_SECONDS = 40.0
REACH_SECONDS = 20.0
RETRY_SECONDS = 0.5
LINE_BYTES = 16 * 1024 * 1024
FAILED = -32000
"""JSON-RPC's code of a server's own errors."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the client was started with.

    session: name of a session that stays; None: one that ends with the client.
    """

    url: str
    session: str | None = None
    name: str | None = None
    browser: str | None = None
    jar: str | None = None
    profile: str | None = None
    names: str | None = None
    tools: tuple[str, ...] = ()


def user_token(home: Home, environ: Mapping[str, str]) -> str:
    """Return the user's token from the environment, or from a file that only this user can read."""
    given = environ.get(TOKEN_VARIABLE)
    if given:
        return given.strip()
    file = fleet_folder(home) / TOKEN_FILE
    kept = read_secret(file)
    if kept is None:
        raise BadRequest(
            "There is no user token for the fleet.",
            hint=f"Set {TOKEN_VARIABLE}, or write the token to {file} with mode 600.",
        )
    return kept.decode("ascii", "replace").strip()


class FleetRelay:
    """One MCP client's conversation with a fleet. ``write`` sends the client one line."""

    def __init__(self, wanted: Wanted, token: str, write: Callable[[bytes], None]) -> None:
        address = urlsplit(wanted.url if "://" in wanted.url else f"https://{wanted.url}")
        if address.scheme != "https" or not address.hostname:
            raise BadRequest("fleet: expected an address like https://HOST:8877.", field="fleet")
        self._host, self._port = address.hostname, address.port or PORT
        self._wanted = wanted
        self._token = token
        self._write = write
        self._clock = SystemClock()
        self._tasks = Tasks()
        self._opening = asyncio.Lock()
        self._pool: ConnectionPool | None = None
        self._session: Json | None = None
        self._calls: dict[object, asyncio.Task[None]] = {}
        self._version: str | None = None
        query = {
            "names": wanted.names or "",
            "tools": ",".join(wanted.tools),
        }
        chosen = urlencode({name: value for name, value in query.items() if value})
        self._target = f"/mcp?{chosen}" if chosen else "/mcp"

    def heard(self, line: bytes) -> None:
        """Send one message of the client to the fleet."""
        try:
            message = json.loads(line)
        except ValueError:
            return  # not JSON: ignore this line
        if not isinstance(message, dict):
            return
        if message.get("method") == "notifications/cancelled":
            call = self._calls.pop((message.get("params") or {}).get("requestId"), None)
            if call is not None:
                call.cancel()
        task = self._tasks.spawn(self._send(message), name="message to the fleet")
        if "id" in message and "method" in message:
            self._calls[message["id"]] = task
            task.add_done_callback(lambda _: self._calls.pop(message["id"], None))

    async def aclose(self) -> None:
        """End all calls, and also the session if it has no name."""
        await self._tasks.aclose()
        if self._session is not None and self._wanted.session is None and self._pool is not None:
            try:
                async with asyncio.timeout(5):
                    await self._exchanged(b"DELETE", f"/session/{self._session['sessionId']}", b"")
            except (RoostError, OSError, Hangup, TimeoutError):
                pass  # the gateway ends it two minutes later
        if self._pool is not None:
            self._pool.cut()

    async def _send(self, message: Json) -> None:
        try:
            await self._opened()
            await self._passed(message)
        except (OSError, Hangup):
            self._refuse(message, Interrupted("The gateway went away during the call."))
        except RoostError as error:
            self._refuse(message, error)

    async def _opened(self) -> None:
        """Open the session at the first message."""
        async with self._opening:
            if self._session is not None:
                return
            pem = await self._reached()
            context = client_context(pem)
            self._pool = ConnectionPool(
                lambda: Stream.connect(self._host, self._port, context, self._host)
            )
            wish = {
                "sessionId": self._wanted.session,
                "name": self._wanted.name,
                "browser": self._wanted.browser,
                "jar": self._wanted.jar,
                "profile": self._wanted.profile,
                "ephemeral": self._wanted.session is None,
            }
            given = {name: value for name, value in wish.items() if value is not None}
            async with self._pool.lend() as lent:
                self._session = await ask(
                    lent.stream, self._header, "/session", given, self._token, seconds=60.0
                )
            self._tasks.spawn(self._beat(), name="heartbeat")

    async def _reached(self) -> str:
        """Return the fleet's authority, once the gateway can be reached."""
        until = self._clock.now() + REACH_SECONDS
        while True:
            try:
                return await verified_authority(self._host, self._port, authority_of(self._token))
            except BrowserLost:
                if self._clock.now() >= until:
                    raise
                await self._clock.wait(RETRY_SECONDS)

    @property
    def _header(self) -> bytes:
        return host_header(self._host, self._port)

    async def _beat(self) -> None:
        assert self._session is not None
        while True:
            await self._clock.wait(BEAT_SECONDS)
            try:
                await self._exchanged(
                    b"POST", f"/session/{self._session['sessionId']}/heartbeat", b"{}"
                )
            except (RoostError, OSError, Hangup):
                pass  # the next call says what is wrong

    async def _passed(self, message: Json) -> None:
        """Send the message, and give the client whatever comes back."""
        assert self._pool is not None
        async with self._pool.lend() as lent:
            stream = lent.stream
            response = await self._asked(stream, b"POST", self._target, encode(message))
            if values(response.headers, b"content-type")[:1] == [b"text/event-stream"]:
                async for data in _events(stream, response):
                    self._tell(message, data)
            else:
                body = await stream.whole(response.body, LINK_FRAME_BYTES)
                if response.status >= 400:
                    raise _refusal(body)
                if body.strip():
                    self._tell(message, body)
            lent.finished(response)

    async def _exchanged(self, method: bytes, target: str, body: bytes) -> None:
        assert self._pool is not None
        async with self._pool.lend() as lent:
            response = await self._asked(lent.stream, method, target, body)
            data = await lent.stream.whole(response.body, LINK_FRAME_BYTES)
            lent.finished(response)
        if response.status >= 400:
            raise _refusal(data)

    async def _asked(self, stream: Stream, method: bytes, target: str, body: bytes) -> Response:
        assert self._session is not None
        headers = [
            (b"host", self._header),
            (b"authorization", b"Bearer " + self._session["token"].encode()),
            (b"accept", b"application/json, text/event-stream"),
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        if self._version is not None:
            headers.append((b"mcp-protocol-version", self._version.encode()))
        await stream.send(request_head(method, target.encode(), headers), body)
        return await stream.response(method)

    def _tell(self, message: Json, data: bytes) -> None:
        """Give the client one message, and note which version of MCP the two agreed on."""
        if message.get("method") == "initialize":
            found = json.loads(data).get("result") or {}
            self._version = found.get("protocolVersion", self._version)
        self._write(data.replace(b"\n", b" ").replace(b"\r", b" "))

    def _refuse(self, message: Json, error: RoostError) -> None:
        if "id" not in message or "method" not in message:
            return
        told = error.spelled(lambda named: None)
        text = f"{told.code}: {told.message}\nhint: {told.hint}"
        reply = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": FAILED, "message": text}}
        self._write(encode(reply))


async def _events(stream: Stream, response: Response) -> AsyncIterator[bytes]:
    """Yield the data of each server-sent event."""
    assert response.body.framing is not Framing.NONE
    waiting = b""
    async for piece in stream.pieces(response.body, None):
        waiting += piece.replace(b"\r\n", b"\n")
        if len(waiting) > LINK_FRAME_BYTES:
            raise Hangup(stream)
        *events, waiting = waiting.split(b"\n\n")
        for event in events:
            lines = [line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:")]
            if data := b"".join(lines):
                yield data


def _refusal(body: bytes) -> RoostError:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    return RoostError.from_wire(found if isinstance(found, dict) else {})


async def _run(wanted: Wanted, token: str) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    relay = FleetRelay(wanted, token, write)
    try:
        while line := await reader.readline():
            relay.heard(line)
    finally:
        await relay.aclose()


def main() -> int:
    """Relay until the client closes stdin."""
    try:
        fields = json.loads(sys.argv[1])
        wanted = Wanted(**{**fields, "tools": tuple(fields.get("tools", ()))})
        token = user_token(Home.find(), os.environ)
        authority_of(token)
        asyncio.run(_run(wanted, token))
    except RoostError as error:
        sys.stderr.write(f"{error}\nhint: {error.hint}\n")
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
