"""The filtering proxy: what the lists allow gets through, byte for byte; nothing else does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from roost.broker.proxy import FilteringProxy
from roost.testing.waiting import answer_of, turn


@asynccontextmanager
async def site(answer: bytes = b"") -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that notes what it is asked. Without an answer it echoes, for tunnels."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            asked.append(data)
            writer.write(answer or data)
            if answer:
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


@asynccontextmanager
async def proxied(*allow: str, deny: tuple[str, ...] = ()) -> AsyncIterator[FilteringProxy]:
    proxy = FilteringProxy(allow, deny)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.aclose()


async def asked(proxy: FilteringProxy, request: bytes) -> bytes:
    """All that comes back on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(request)
    try:
        return await reader.read(-1)
    finally:
        writer.close()


def get(host: str, port: int, path: str = "/a?b=c") -> bytes:
    return f"GET http://{host}:{port}{path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi"


async def test_an_allowed_site_is_asked_as_if_directly() -> None:
    async with site(OK) as (port, seen), proxied("127.0.0.1") as proxy:
        reply = await asked(proxy, get("127.0.0.1", port))

    assert reply.endswith(b"\r\n\r\nhi")
    assert seen[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")


async def test_a_site_outside_the_lists_is_never_asked() -> None:
    async with site(OK) as (port, seen), proxied("example.com") as proxy:
        reply = await asked(proxy, get("127.0.0.1", port))

    assert reply.startswith(b"HTTP/1.1 403 ")
    assert seen == []


async def test_deny_wins_over_allow() -> None:
    async with site(OK) as (port, seen), proxied("127.0.0.1", deny=("127.0.0.1",)) as proxy:
        reply = await asked(proxy, get("127.0.0.1", port))

    assert reply.startswith(b"HTTP/1.1 403 ")
    assert seen == []


async def test_a_tunnel_carries_bytes_both_ways_and_only_to_allowed_hosts() -> None:
    async with site() as (port, _), proxied("127.0.0.1") as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\x16\x03\x00 anything")
        assert await reader.readexactly(12) == b"\x16\x03\x00 anything"
        writer.close()
        refused = await asked(proxy, b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")

    assert refused.startswith(b"HTTP/1.1 403 ")


async def test_a_site_that_changes_the_protocol_hears_every_byte_from_then_on() -> None:
    """The browser answers the change at once: nobody else may read there any more by then."""
    changed = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(changed)
        writer.write(await reader.readexactly(5))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    head = get("127.0.0.1", port)[:-2] + b"Connection: Upgrade\r\nUpgrade: x\r\n\r\n"
    async with server, proxied("127.0.0.1") as proxy:
        for _ in range(50):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(head)
            assert await reader.readuntil(b"\r\n\r\n") == changed
            writer.write(b"12345")
            assert await reader.read(-1) == b"12345"
            writer.close()


async def test_a_second_request_on_the_connection_does_not_reach_the_first_site() -> None:
    """A browser may reuse its connection to a proxy for another site, cookies and all."""
    async with site(OK) as (port, seen), proxied("127.0.0.1", "other.test") as proxy:
        both = get("127.0.0.1", port) + get("other.test", 80, "/secret")
        reply = await asked(proxy, both)

    assert b"/secret" not in b"".join(seen)
    assert b"Connection: close" in reply
    assert b"keep-alive" not in reply


async def test_a_body_is_carried_whole() -> None:
    body = b"x" * 200_000
    head = f"Content-Length: {len(body)}\r\n\r\n".encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(len(body)) == body
        writer.write(OK)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, proxied("127.0.0.1") as proxy:
        port = server.sockets[0].getsockname()[1]
        first = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\n".encode()
        assert (await asked(proxy, first + head + body)).endswith(b"hi")


@pytest.mark.parametrize(
    "request_head",
    [
        b"\x00\x01garbage\r\n\r\n",
        b"GET /path-only HTTP/1.1\r\n\r\n",
        b"GET ftp://127.0.0.1/ HTTP/1.1\r\n\r\n",
        b"CONNECT nonsense HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
async def test_what_cannot_be_forwarded_is_refused(request_head: bytes) -> None:
    async with proxied("127.0.0.1") as proxy:
        reply = await asked(proxy, request_head)

    assert reply.startswith(b"HTTP/1.1 4")


async def test_a_dead_site_is_a_bad_gateway() -> None:
    async with site() as (port, _):
        pass
    async with proxied("127.0.0.1") as proxy:
        reply = await asked(proxy, get("127.0.0.1", port))

    assert reply.startswith(b"HTTP/1.1 502 ")


async def test_it_comes_back_on_the_port_it_had() -> None:
    async with proxied("a.test") as first:
        port = first.port
    again = FilteringProxy(("a.test",), ())
    await again.start(port)
    await again.aclose()

    assert again.port == port


@pytest.mark.parametrize("is_tunnel", [False, True])
async def test_a_browser_that_hangs_up_is_not_waited_for_by_a_site_that_never_ends(
    is_tunnel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.broker.proxy.LAST_SECONDS", 0.0)
    came, left = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        came.set()
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
            # It goes on although nobody says anything any more: only a lost connection ends it.
            while not writer.transport.is_closing():
                writer.write(b"x")
                await turn()
        left.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, proxied("127.0.0.1") as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        if is_tunnel:
            writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
            await answer_of(reader.readuntil(b"\r\n\r\n"))
            writer.write(b"x")
        else:
            writer.write(get("127.0.0.1", port))
        await answer_of(came.wait())
        writer.close()
        await answer_of(left.wait())
