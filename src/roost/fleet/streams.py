"""One HTTP/1.1 connection as a stream: heads with limits, and bodies that are never held whole.

Every read and every write waits for the other side, so a slow reader slows its sender down and no
buffer grows. Every wait has a limit.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from roost.errors import BadRequest, BrowserLost, Timeout, TooLarge
from roost.fleet.http_heads import (
    CHUNK_LINE_BYTES,
    HEAD_BYTES,
    Body,
    Framing,
    Header,
    Request,
    Response,
    chunk_length,
    parse_request,
    parse_response,
    request_head,
)
from roost.vocabulary import KIB

PIECE_BYTES = 64 * KIB
"""A body is read and passed on in pieces of at most this size."""
CONNECT_SECONDS = 5.0
BODY_SECONDS = 60.0
"""A body of which no byte came for this long has failed."""
CLOSE_SECONDS = 1.0
LINGER_SECONDS = 2.0


class Hangup(Exception):
    """A connection has ended. ``stream`` says which."""

    def __init__(self, stream: Stream) -> None:
        super().__init__("the connection has ended")
        self.stream = stream


class _Protocol(asyncio.StreamReaderProtocol):
    """Reports at once that the peer has closed the connection, even while no task reads from it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        met: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(reader, met)
        self.is_gone = False
        self.on_gone: Callable[[], object] | None = None

    def eof_received(self) -> bool:
        self._ended()
        super().eof_received()
        return False  # also close our side: like the broker, serve no half-closed connection

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()
        super().connection_lost(exc)

    def _ended(self) -> None:
        self.is_gone = True
        if self.on_gone is not None:
            self.on_gone()
            self.on_gone = None


class Stream:
    """A connection to a client, a node or a broker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        protocol = writer.transport.get_protocol()
        assert isinstance(protocol, _Protocol)
        self._protocol = protocol
        writer.transport.set_write_buffer_limits(high=2 * PIECE_BYTES)

    @classmethod
    async def connect(
        cls, host: str, port: int, context: ssl.SSLContext | None, server_name: str | None = None
    ) -> Stream:
        """Connect, or raise ``OSError`` (also for a certificate that is not valid)."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=HEAD_BYTES)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                transport, protocol = await loop.create_connection(
                    lambda: _Protocol(reader),
                    host,
                    port,
                    ssl=context,
                    server_hostname=(server_name or host) if context is not None else None,
                )
        except TimeoutError:
            raise OSError(f"no connection to {host}:{port} within {CONNECT_SECONDS:g} s") from None
        return cls(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    @classmethod
    async def listen(
        cls,
        met: Callable[[Stream], Awaitable[None]],
        listening: socket.socket,
        context: ssl.SSLContext | None,
    ) -> asyncio.Server:
        """Serve the listening socket. ``met`` serves one connection to its end."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await met(cls(reader, writer))

        def protocol() -> _Protocol:
            return _Protocol(asyncio.StreamReader(limit=HEAD_BYTES), serve)

        return await asyncio.get_running_loop().create_server(
            protocol,
            sock=listening,
            ssl=context,
            ssl_handshake_timeout=CONNECT_SECONDS if context is not None else None,
        )

    @property
    def is_gone(self) -> bool:
        """The peer has closed the connection."""
        return self._protocol.is_gone

    @property
    def peer(self) -> str:
        """The address at the other end."""
        found = self.writer.get_extra_info("peername")
        return str(found[0]) if found else "unknown"

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Raise ``Hangup`` in the block as soon as this connection ends."""
        task = asyncio.current_task()
        assert task is not None
        if self.is_gone:
            raise Hangup(self)
        is_cut = False

        def cut() -> None:
            nonlocal is_cut
            is_cut = True
            task.cancel()

        self._protocol.on_gone = cut
        try:
            yield
        except asyncio.CancelledError:
            if not is_cut or task.uncancel():
                raise
            raise Hangup(self) from None
        finally:
            self._protocol.on_gone = None

    async def request(self) -> Request | None:
        """Return the next request's head, or None if the peer has closed the connection."""
        head = await self._head()
        return None if head is None else parse_request(head)

    async def response(self, method: bytes) -> Response:
        """Return the response to a request with that method. Raises ``Hangup`` without one."""
        while True:
            head = await self._head()
            if head is None:
                raise Hangup(self)
            found = parse_response(head, method)
            if found.status >= 200 or found.status == 101:
                return found

    async def pieces(self, body: Body, wait: float | None = BODY_SECONDS) -> AsyncIterator[bytes]:
        """Yield the body in pieces. Raises ``Hangup`` if it ends too early.

        wait: how long the next piece may take.
        """
        match body.framing:
            case Framing.NONE:
                return
            case Framing.LENGTH:
                left = body.length
                while left:
                    piece = await self._some(min(left, PIECE_BYTES), wait)
                    left -= len(piece)
                    yield piece
            case Framing.CHUNKED:
                while left := chunk_length(await self._line(wait)):
                    while left:
                        piece = await self._some(min(left, PIECE_BYTES), wait)
                        left -= len(piece)
                        yield piece
                    await self._empty_line()
                await self._empty_line()  # trailers are refused
            case Framing.UNTIL_CLOSE:
                with suppress(Hangup):
                    while True:
                        yield await self._some(PIECE_BYTES, wait)

    async def whole(self, body: Body, limit: int) -> bytes:
        """Return the whole body, which must not be larger than ``limit``."""
        if body.length > limit:
            raise TooLarge(f"body: it is larger than {limit} bytes.", limitBytes=limit)
        data = bytearray()
        async for piece in self.pieces(body):
            data += piece
            if len(data) > limit:
                raise TooLarge(f"body: it is larger than {limit} bytes.", limitBytes=limit)
        return bytes(data)

    async def send(self, *parts: bytes) -> None:
        """Write, and wait until the peer has read most of what was written before."""
        if self.writer.is_closing():
            raise Hangup(self)
        try:
            self.writer.write(b"".join(parts))
            async with asyncio.timeout(BODY_SECONDS):
                await self.writer.drain()
        except (ConnectionError, TimeoutError, ssl.SSLError):
            raise Hangup(self) from None

    async def forward(
        self, source: Stream, body: Body, head: bytes, wait: float | None = BODY_SECONDS
    ) -> None:
        """Send the head and the body that ``source`` delivers, framed anew.

        A body until the close of the connection is sent in chunks; its head must say so.
        """
        waiting = head
        is_chunked = body.framing in (Framing.CHUNKED, Framing.UNTIL_CLOSE)
        async for piece in source.pieces(body, wait):
            framed = (b"%x\r\n" % len(piece), piece, b"\r\n") if is_chunked else (piece,)
            await self.send(waiting, *framed)
            waiting = b""
        await self.send(waiting, b"0\r\n\r\n" if is_chunked else b"")

    async def relay(self, other: Stream) -> None:
        """Pass all further bytes on until this side ends, then end the other side."""
        try:
            while data := await self._read(PIECE_BYTES):
                await other.send(data)
        except Hangup:
            pass
        finally:
            other.writer.close()

    async def linger(self) -> None:
        """Read and drop what the peer still sends, for a moment.

        Closing a connection with unread bytes resets it, and the peer would lose the answer.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while await self._read(PIECE_BYTES):
                    pass

    def close(self) -> None:
        self.writer.close()

    def abort(self) -> None:
        self.writer.transport.abort()

    async def aclose(self) -> None:
        """Close the connection, and wait a moment until it is closed."""
        self.writer.close()
        with suppress(OSError, TimeoutError, ssl.SSLError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.writer.wait_closed()

    async def _head(self) -> bytes | None:
        """Return the next head with the empty line behind it, or None at the connection's end."""
        try:
            return await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise BadRequest("The connection ended within a head.", field="request") from None
            return None
        except asyncio.LimitOverrunError:
            raise TooLarge(
                f"A head is at most {HEAD_BYTES} bytes.", limitBytes=HEAD_BYTES
            ) from None
        except (ConnectionError, ssl.SSLError):
            return None

    async def _line(self, wait: float | None = BODY_SECONDS) -> bytes:
        """Return the next line of a chunked body."""
        try:
            async with asyncio.timeout(wait):
                line = await self.reader.readuntil(b"\r\n")
        except TimeoutError:
            raise _silent() from None
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            raise Hangup(self) from None
        except asyncio.LimitOverrunError:
            line = bytes(CHUNK_LINE_BYTES)
        if len(line) > CHUNK_LINE_BYTES:
            raise BadRequest("A chunk's length is not valid.", field="body")
        return line[:-2]

    async def _empty_line(self) -> None:
        if await self._line():
            raise BadRequest("A chunk does not end where it says.", field="body")

    async def _some(self, most: int, wait: float | None) -> bytes:
        """Return some bytes. Raises ``Hangup`` at the end, ``Timeout`` if nothing comes."""
        try:
            async with asyncio.timeout(wait):
                data = await self._read(most)
        except TimeoutError:
            raise _silent() from None
        if not data:
            raise Hangup(self)
        return data

    async def _read(self, most: int) -> bytes:
        try:
            return await self.reader.read(most)
        except (ConnectionError, ssl.SSLError):
            return b""


def _silent() -> Timeout:
    return Timeout(f"body: nothing came for {BODY_SECONDS:.0f} s.")


async def exchange(
    stream: Stream,
    method: bytes,
    target: bytes,
    headers: Iterable[Header],
    body: bytes,
    *,
    limit: int,
    timeout: float,
) -> tuple[Response, bytes]:
    """Send one small request and return the response with its whole body.

    Raises ``BrowserLost`` if the other side does not answer as it should within the timeout.
    """
    length = (b"content-length", b"%d" % len(body))
    try:
        async with asyncio.timeout(timeout):
            await stream.send(request_head(method, target, (*headers, length)), body)
            response = await stream.response(method)
            return response, await stream.whole(response.body, limit)
    except TimeoutError:
        raise BrowserLost(f"The other machine did not answer within {timeout:g} s.") from None
    except (Hangup, BadRequest, TooLarge, Timeout):
        raise BrowserLost("The other machine did not answer as it should.") from None
