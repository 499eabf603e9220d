"""The filtering proxy: where a session's domain lists are held, for whatever its pages do.

One listener per jar that has lists. Everything the jar's pages fetch comes through it: documents,
scripts, redirects, popups, workers, WebSockets (they ask for a tunnel, like https). It forwards
what the lists allow and answers the rest itself. It keeps its port over broker restarts, because a
jar cannot be given another; while no broker is there, nothing gets through.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit

from roost.broker.tasks import Tasks
from roost.core.addresses import host_allowed

logger = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
HEAD_BYTES = 64 * 1024
CHUNK = 64 * 1024
CONNECT_SECONDS = 20.0
LAST_SECONDS = 30.0
"""What a site may take to finish a tunnel whose browser has said all."""
_HOP_BY_HOP = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:")


class FilteringProxy:
    """Listens for one jar. ``upstream`` is the person's own proxy (``host:port``), if any."""

    def __init__(
        self, allow: tuple[str, ...], deny: tuple[str, ...], upstream: str | None = None
    ) -> None:
        self._allow, self._deny = allow, deny
        self._upstream = upstream
        self._server: asyncio.Server | None = None
        self._tasks = Tasks()
        self.port = 0

    async def start(self, port: int = 0) -> None:
        """Listen, on the port the jar was made with if it has one already."""
        self._server = await asyncio.start_server(self._accepted, LOOPBACK, port, limit=HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._tasks.aclose()

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.spawn(self._serve(reader, writer), name="proxy connection")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            await self._forward(head, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the browser or the site went away; there is nobody to tell
        finally:
            writer.close()

    async def _forward(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            method, target, version = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            host, port = _destination(method, target)
        except ValueError:
            return _answer(writer, "400 Bad Request", "Not a request a proxy can forward.")
        if _field(head, b"transfer-encoding") is not None:
            return _answer(writer, "411 Length Required", "Send the body's length.")
        if not host_allowed(host, self._allow, self._deny):
            logger.info("proxy: refused %s", host)
            return _answer(writer, "403 Forbidden", f"{host} is outside this session's domains.")
        try:
            site_reader, site = await self._reached(host, port, tunnel=method == "CONNECT")
        except (OSError, TimeoutError) as error:
            return _answer(writer, "502 Bad Gateway", f"{host} cannot be reached: {error}")
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _tunnelled(reader, writer, site_reader, site)
            else:
                whole = self._upstream is not None
                request = _request(head, method, target, version, whole=whole)
                site.write(request)
                await _exchanged(head, reader, writer, site_reader, site)
        finally:
            site.close()

    async def _reached(
        self, host: str, port: int, *, tunnel: bool
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(CONNECT_SECONDS):
            if self._upstream is None:
                return await asyncio.open_connection(host, port)
            via, _, via_port = self._upstream.rpartition(":")
            reader, writer = await asyncio.open_connection(via, int(via_port))
            if tunnel:
                writer.write(
                    f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
                )
                answer = await reader.readuntil(b"\r\n\r\n")
                if b" 200" not in answer.split(b"\r\n", 1)[0]:
                    writer.close()
                    raise OSError("the proxy above refused")
            return reader, writer


def _destination(method: str, target: str) -> tuple[str, int]:
    """The host as the lists know it, and the port. ``ValueError`` for anything else."""
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        return host.strip("[]").rstrip(".").lower(), int(port)
    parts = urlsplit(target)
    if parts.scheme not in ("http", "ws") or not parts.hostname:
        raise ValueError(target)
    return parts.hostname.rstrip("."), parts.port or 80


def _request(head: bytes, method: str, target: str, version: str, *, whole: bool) -> bytes:
    """The request as the site expects it, on a connection of its own."""
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    first = f"{method} {target if whole else path} {version}".encode()
    return _with_connection(first, head, upgrade=_field(head, b"upgrade") is not None)


def _with_connection(first: bytes, head: bytes, *, upgrade: bool) -> bytes:
    """A head that ends its connection: the next request may be for another site."""
    _, *lines = head.rstrip(b"\r\n").split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(_HOP_BY_HOP)]
    connection = b"Connection: Upgrade" if upgrade else b"Connection: close"
    return b"\r\n".join([first, *kept, connection, b"", b""])


def _field(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


async def _exchanged(
    head: bytes,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    site_reader: asyncio.StreamReader,
    site: asyncio.StreamWriter,
) -> None:
    """One request's body up, one response down, and no byte more: what the browser sends next is
    not for this site."""
    await _copied(reader, site, int(_field(head, b"content-length") or 0))
    upgrade = await _unless_left(reader, _answered(site_reader, writer))
    if upgrade is not None:
        # Not before nobody reads here any more: what the browser says to it is the tunnel's.
        writer.write(upgrade)
        await _tunnelled(reader, writer, site_reader, site)


async def _answered(
    site_reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bytes | None:
    """The site's answer, to the browser; or that they speak another protocol from here on, which
    the browser is still to be told."""
    while True:
        answer = await site_reader.readuntil(b"\r\n\r\n")
        first = answer.split(b"\r\n", 1)[0]
        status = first.split(b" ")[1]
        if status == b"101":
            return answer
        if not status.startswith(b"1"):
            break
        writer.write(answer)
    writer.write(_with_connection(first, answer, upgrade=False))
    await _copied(site_reader, writer)
    return None


async def _unless_left(
    reader: asyncio.StreamReader, work: Coroutine[Any, Any, bytes | None]
) -> bytes | None:
    """Do it, unless the browser hangs up meanwhile: a site may take for ever to answer nobody."""
    loop = asyncio.get_running_loop()
    working = loop.create_task(work, name="proxy answer")
    leaving = loop.create_task(reader.read(1), name="proxy hang-up")
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done() and not leaving.result():
            return None
        return await working
    finally:
        await _ended(working, leaving)


async def _tunnelled(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    site_reader: asyncio.StreamReader,
    site: asyncio.StreamWriter,
) -> None:
    """Bytes both ways, until the site has said all, or some time after the browser has."""
    loop = asyncio.get_running_loop()
    up = loop.create_task(_copied(reader, site), name="proxy up")
    down = loop.create_task(_copied(site_reader, writer), name="proxy down")
    try:
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({down}, timeout=LAST_SECONDS)
    finally:
        await _ended(up, down)


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _copied(
    source: asyncio.StreamReader, goal: asyncio.StreamWriter, count: int | None = None
) -> None:
    """All there is, or exactly ``count`` bytes."""
    while count is None or count > 0:
        data = await source.read(CHUNK if count is None else min(CHUNK, count))
        if not data:
            break
        count = None if count is None else count - len(data)
        goal.write(data)
        await goal.drain()
    if count is None and goal.can_write_eof():
        with contextlib.suppress(OSError):
            goal.write_eof()


def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode()
    writer.write(
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
