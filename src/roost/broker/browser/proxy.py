"""The filtering proxy: it enforces a session's domain lists on all traffic of the session's pages.

Each jar with domain lists has its own listener. Everything the jar's pages fetch passes it:
documents, scripts, redirects, popups, workers, WebSockets (which use CONNECT, like https). The
proxy forwards what the lists allow and refuses the rest with 403. It keeps its port over broker
restarts, because a jar's proxy cannot be changed. While no broker runs, the jar has no network.

The proxy resolves each name once, checks every address against the deny list, and connects only to
the addresses it has checked. If the person uses a proxy of their own (``upstream``), that proxy
resolves names again. Names that resolve here to a denied address are still refused, but the
upstream proxy may resolve the name to another address.

A context that a CDP client made with a proxy of its own also goes through one, without lists. The
client's proxy is then ``upstream``, and this proxy sends the password that the client gives for it:
Chromium itself asks nobody for passwords (``drivers/chromium/passwords.py``).

Only this user's processes are served (``local/tcp_peers.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import urlsplit

from roost.broker.browser.resolver import Resolver
from roost.broker.tasks import Tasks
from roost.core.addresses import LOOPBACK as THIS_MACHINE
from roost.core.addresses import address_denied, host_allowed, host_of, outside
from roost.errors import UrlBlocked
from roost.local.tcp_peers import is_stranger

logger = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
HEAD_BYTES = 64 * 1024
CHUNK = 64 * 1024
BACKLOG = 128
HEAD_SECONDS = 60.0
"""How long a connection may stay without a request: browsers open connections in advance."""
CONNECT_SECONDS = 20.0
ASK_SECONDS = 30.0
"""How long a tunnel waits for the password of the upstream proxy."""
REFUSALS = 64
LAST_SECONDS = 30.0
"""How long a tunnel stays open for the site after the browser has closed its side."""
_HOP_BY_HOP = (b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:")

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Ask = Callable[[str, str], bool]
"""Asks for the password of the upstream proxy. Takes the site (``host:port``) that a tunnel should
lead to and the proxy's challenge. Returns whether somebody will call ``FilteringProxy.answer``."""


class PasswordWanted(OSError):
    """The upstream proxy refused a tunnel because it wants a password.

    ``challenge``: the ``Proxy-Authenticate`` field of its response.
    ``tried``: the ``Proxy-Authorization`` header that it was sent, if any.
    """

    def __init__(self, challenge: str, tried: str | None) -> None:
        super().__init__("the proxy above wants a password")
        self.challenge = challenge
        self.tried = tried


class FilteringProxy:
    """The filtering proxy of one jar.

    allow, deny: the domain lists.
    upstream: the proxy of the person or of the CDP client (``host:port`` or a URL), if any.
    own_ports: returns the local ports where Roost itself listens; pages may not connect there.
    """

    def __init__(
        self,
        allow: tuple[str, ...],
        deny: tuple[str, ...],
        upstream: str | None = None,
        *,
        own_ports: Callable[[], frozenset[int]] = frozenset,
        resolver: Resolver | None = None,
    ) -> None:
        self._allow, self._deny = allow, deny
        self.upstream = upstream
        self._own_ports = own_ports
        self._resolver = resolver or Resolver()
        self._refusals: deque[UrlBlocked] = deque(maxlen=REFUSALS)
        self._refused = 0
        self.on_refused: Callable[[str], None] = lambda host: None
        """Called with each host that the lists refuse."""
        self.ask: Ask = lambda site, challenge: False
        self._password: str | None = None
        self._asking: asyncio.Future[bool] | None = None
        self._server: asyncio.Server | None = None
        self._tasks = Tasks()
        self.port = 0

    async def start(self, port: int = 0) -> None:
        """Listen on the port; 0 picks a free one, for a new jar."""
        self._server = await asyncio.start_server(
            self._accepted, LOOPBACK, port, limit=HEAD_BYTES, backlog=BACKLOG
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._tasks.aclose()

    @property
    def refused(self) -> int:
        """How many requests the lists have refused so far."""
        return self._refused

    def refused_since(self, count: int) -> list[UrlBlocked]:
        """Return the errors of the refusals after the first ``count``, at most the last
        ``REFUSALS``. Each error names its host."""
        new = min(self._refused - count, len(self._refusals))
        return list(self._refusals)[len(self._refusals) - new :]

    def answer(self, password: str | None) -> None:
        """Send this ``Proxy-Authorization`` header to ``upstream`` from now on.

        None: the client has no password, so tunnels that wait for one are refused.
        """
        self._password = password or self._password
        if self._asking is not None and not self._asking.done():
            self._asking.set_result(password is not None)

    async def _given(self, site: str, wanted: PasswordWanted) -> bool:
        """Ask for the password of ``upstream``. Return whether there is another one to try.

        The browser's request waits meanwhile: a request that failed cannot be repeated in all
        cases. Tunnels that want a password at the same time share one question.
        """
        if self._password != wanted.tried:
            return True
        if self._asking is None:
            if not self.ask(site, wanted.challenge):
                return False
            self._asking = asyncio.get_running_loop().create_future()
        asking = self._asking
        try:
            async with asyncio.timeout(ASK_SECONDS):
                return await asyncio.shield(asking)
        except TimeoutError:
            return False
        finally:
            if self._asking is asking:
                self._asking = None

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here, there = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        if there is None or is_stranger(here, there):
            writer.transport.abort()
            return
        self._tasks.spawn(self._serve(reader, writer), name="proxy connection")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._forward(head, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the browser or the site closed the connection, so no response can be sent
        finally:
            writer.close()

    async def _forward(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Check one request against the lists, then tunnel or forward it, or refuse it."""
        try:
            method, target, version = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            host, port = _destination(method, target)
            length = _length(head)
        except ValueError:
            return _answer(writer, "400 Bad Request", "Not a request a proxy can forward.")
        if _field(head, b"transfer-encoding") is not None:
            return _answer(writer, "411 Length Required", "Send the body's length.")
        try:
            addresses = await self._checked(host, port)
            site_reader, site = await self._reached_with_password(
                host, port, addresses, tunnel=method == "CONNECT"
            )
        except UrlBlocked as error:
            logger.info("proxy: refused %s", host)
            self._refused += 1
            self._refusals.append(error)
            self.on_refused(host)
            return _answer(writer, "403 Forbidden", error.message)
        except (OSError, TimeoutError) as error:
            return _answer(writer, "502 Bad Gateway", f"{host} cannot be reached: {error}")
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _tunnelled(reader, writer, site_reader, site)
            else:
                whole = self.upstream is not None
                password = self._password if whole else None
                site.write(_request(head, method, target, version, password, whole=whole))
                await _exchanged(length, reader, writer, site_reader, site)
        finally:
            site.close()

    async def _checked(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses to connect to, in order. Raises ``UrlBlocked`` if the lists refuse
        the host or an address. Returns none if only the upstream proxy can resolve the host."""
        if self.upstream is not None and not self._allow and not self._deny:
            return ()  # there is nothing to check, and the upstream proxy resolves names itself
        if not host_allowed(host, self._allow, self._deny):
            raise outside(host)
        try:
            addresses = await self._resolver.addresses(host)
        except (OSError, TimeoutError):
            if self.upstream is None:
                raise
            return ()
        if any(address_denied(address, self._deny) for address in addresses):
            raise outside(host)
        if port in self._own_ports() and any(map(_is_this_machine, addresses)):
            raise UrlBlocked(
                f"Port {port} of this machine is Roost's own.",
                hint="Use Roost's tools; its HTTP interface is not for pages.",
                host=host,
            )
        return addresses

    async def connection(self, host: str, port: int, *, tunnel: bool) -> Stream:
        """Connect to a site as a page would. Raises ``UrlBlocked`` if the lists refuse it.

        tunnel: the connection carries TLS, so that an upstream proxy must not read it.
        """
        addresses = await self._checked(host, port)
        return await self._reached(host, port, addresses, tunnel=tunnel)

    async def _reached_with_password(
        self, host: str, port: int, addresses: Sequence[str], *, tunnel: bool
    ) -> Stream:
        """Connect as ``_reached`` does. Ask for the upstream proxy's password if it wants one."""
        while True:
            try:
                return await self._reached(host, port, addresses, tunnel=tunnel)
            except PasswordWanted as wanted:
                if not await self._given(f"{host}:{port}", wanted):
                    raise

    async def _reached(
        self, host: str, port: int, addresses: Sequence[str], *, tunnel: bool
    ) -> Stream:
        """Connect to the site, or to the upstream proxy, and there ask for a tunnel if wanted."""
        async with asyncio.timeout(CONNECT_SECONDS):
            if self.upstream is None:
                return await _connected(addresses, port)
            above = urlsplit(self.upstream if "//" in self.upstream else f"//{self.upstream}")
            reader, writer = await asyncio.open_connection(above.hostname, above.port or 80)
            try:
                if tunnel:
                    await _tunnel_above(host, port, reader, writer, self._password)
            except BaseException:  # also on timeout, which cancels
                writer.close()
                raise
            return reader, writer


async def _connected(addresses: Sequence[str], port: int) -> Stream:
    """Connect to the first address that accepts. These are checked addresses, not names, because a
    second look-up of the name could return an address that was not checked."""
    *others, last = addresses
    for address in others:
        with contextlib.suppress(OSError):
            return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(last, port)


async def _tunnel_above(
    host: str,
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    password: str | None,
) -> None:
    """Ask the upstream proxy for a tunnel to the site."""
    named = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    more = "" if password is None else f"Proxy-Authorization: {password}\r\n"
    writer.write(f"CONNECT {named} HTTP/1.1\r\nHost: {named}\r\n{more}\r\n".encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    first = answer.split(b"\r\n", 1)[0]
    if b" 407" in first:
        wanted = _field(answer, b"proxy-authenticate") or b""
        raise PasswordWanted(wanted.decode("latin-1"), password)
    if b" 200" not in first:
        raise OSError("the proxy above refused")


def _is_this_machine(address: str) -> bool:
    return address_denied(address, (THIS_MACHINE,))


def _destination(method: str, target: str) -> tuple[str, int]:
    """Return the host, in the form the lists use, and the port. Raises ``ValueError`` if the
    target is not one that a proxy can forward."""
    is_tunnel = method == "CONNECT"
    parts = urlsplit(f"//{target}/" if is_tunnel else target)
    host, port = host_of(f"//{parts.netloc}/"), parts.port or (0 if is_tunnel else 80)
    if parts.scheme not in (("",) if is_tunnel else ("http", "ws")) or not host or not port:
        raise ValueError(target)
    return host, port


def _length(head: bytes) -> int:
    """Return the length of the request's body. Raises ``ValueError`` if it is not a number."""
    text = _field(head, b"content-length") or b"0"
    if not text.isdigit():
        raise ValueError(text)
    return int(text)


def _request(
    head: bytes, method: str, target: str, version: str, password: str | None, *, whole: bool
) -> bytes:
    """Return the request head to send to the site. Its Host field names the host that was checked,
    whatever the browser's Host field said.

    password: the ``Proxy-Authorization`` header for the upstream proxy.
    whole: keep the full URL in the request line, as an upstream proxy expects.
    """
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    first = f"{method} {target if whole else path} {version}".encode()
    first += b"\r\nHost: " + parts.netloc.rpartition("@")[2].encode()
    if password is not None:
        first += b"\r\nProxy-Authorization: " + password.encode()
    dropped = (*_HOP_BY_HOP, b"host:")
    return _with_connection(first, head, dropped, upgrade=_field(head, b"upgrade") is not None)


def _with_connection(
    first: bytes, head: bytes, dropped: tuple[bytes, ...] = _HOP_BY_HOP, *, upgrade: bool
) -> bytes:
    """Return the head with ``Connection: close`` (or ``Upgrade``), because the browser's next
    request may be for another site."""
    _, *lines = head.rstrip(b"\r\n").split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(dropped)]
    connection = b"Connection: Upgrade" if upgrade else b"Connection: close"
    return b"\r\n".join([first, *kept, connection, b"", b""])


def _field(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


async def _exchanged(
    length: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    site_reader: asyncio.StreamReader,
    site: asyncio.StreamWriter,
) -> None:
    """Copy one request body to the site and one response back. Copy no byte more, because the
    browser's next request may be for another site."""
    await _copied(reader, site, length)
    upgrade = await _unless_left(reader, _answered(site_reader, writer))
    if upgrade is not None:
        # Forward the 101 only now, after ``_unless_left`` has stopped reading from the browser: it
        # would swallow the first byte that the browser sends in the new protocol.
        writer.write(upgrade)
        await _tunnelled(reader, writer, site_reader, site)


async def _answered(
    site_reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bytes | None:
    """Copy the site's response to the browser and return None. If the site switches protocols
    (101), return that response instead; the caller must forward it."""
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
    """Run ``work``, but cancel it and return None if the browser closes the connection: the site
    may never answer."""
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
    """Copy bytes both ways until the site closes its side, or for ``LAST_SECONDS`` after the
    browser has closed its own."""
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
    """Copy everything until EOF and pass the EOF on, or copy at most ``count`` bytes."""
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
