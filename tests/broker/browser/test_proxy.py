"""The filtering proxy forwards what the lists allow, byte for byte, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from roost.broker.browser import proxy as proxy_module
from roost.broker.browser import resolver
from roost.broker.browser.proxy import FilteringProxy, PasswordWanted
from roost.broker.browser.resolver import Resolver
from roost.testing.waits import answer_of, turn, until
from tests.support.other_user import AS_NOBODY, needs_another_user


@asynccontextmanager
async def site(answer: bytes = b"") -> AsyncIterator[tuple[int, list[bytes]]]:
    """Start a server that records its requests. Without an answer it echoes, for tunnels."""
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


class Names(Resolver):
    """A resolver that answers as the test says, and counts its look-ups."""

    def __init__(self, **known: list[str]) -> None:
        super().__init__()
        self.known = known
        self.asked: list[str] = []

    async def addresses(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.known:
            raise OSError("no such name")
        return self.known[host]


@asynccontextmanager
async def proxied(
    *allow: str, deny: tuple[str, ...] = (), **more: Any
) -> AsyncIterator[FilteringProxy]:
    proxy = FilteringProxy(allow, deny, **more)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.aclose()


async def asked(proxy: FilteringProxy, request: bytes) -> bytes:
    """Return everything that comes back on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(request)
    try:
        return await reader.read(-1)
    finally:
        writer.close()


def get(host: str, port: int, path: str = "/a?b=c") -> bytes:
    return f"GET http://{host}:{port}{path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi"


async def test_an_allowed_request_is_forwarded_unchanged() -> None:
    async with site(OK) as (port, seen), proxied("127.0.0.1") as proxy:
        reply = await asked(proxy, get("127.0.0.1", port))

    assert reply.endswith(b"\r\n\r\nhi")
    assert seen[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")


async def test_a_site_outside_the_lists_gets_no_request() -> None:
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
    """The browser answers the protocol change at once, so the proxy must not read further frames
    itself."""
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


async def test_a_restarted_proxy_listens_on_the_same_port() -> None:
    async with proxied("a.test") as first:
        port = first.port
    again = FilteringProxy(("a.test",), ())
    await again.start(port)
    await again.aclose()

    assert again.port == port


@pytest.mark.parametrize("is_tunnel", [False, True])
async def test_the_connection_to_a_site_ends_when_the_browser_disconnects(
    is_tunnel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.broker.browser.proxy.LAST_SECONDS", 0.0)
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


def tunnel(host: str, port: int) -> bytes:
    return f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode()


@pytest.mark.parametrize("ask", [get, tunnel])
@pytest.mark.parametrize(
    "host",
    ["0", "0.0.0.0", "127.1", "0x7f.1", "2130706433", "127.0.0.1.", "[::ffff:127.0.0.1]",
     "[::ffff:7f00:1]", "[::7f00:1]", "[64:ff9b::7f00:1]", "[::]", "LOCALHOST", "x.localhost."],
)  # fmt: skip
async def test_a_denied_address_is_not_reached_in_any_spelling(host: str, ask: Any) -> None:
    async with site(OK) as (port, seen), proxied(deny=("127.0.0.1",)) as proxy:
        reply = await asked(proxy, ask(host, port))

    assert reply.startswith(b"HTTP/1.1 403 ")
    assert seen == []


@pytest.mark.parametrize("ask", [get, tunnel])
async def test_a_name_that_resolves_to_a_denied_address_is_refused(ask: Any) -> None:
    names = Names(**{"trap.test": ["203.0.113.1", "127.0.0.1"]})
    async with site(OK) as (port, seen), proxied(deny=("loopback",), resolver=names) as proxy:
        reply = await asked(proxy, ask("trap.test", port))
        hosts = [error.details["host"] for error in proxy.refused_since(0)]

    assert reply.startswith(b"HTTP/1.1 403 ")
    assert seen == []
    assert hosts == ["trap.test"]


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name may resolve to another address the second time, so it is looked up once."""
    names = Names(**{"a.test": ["127.0.0.1"]})
    async with site(OK) as (port, seen), proxied("a.test", resolver=names) as proxy:
        reply = await asked(proxy, get("a.test", port))

    assert reply.endswith(b"hi")
    assert names.asked == ["a.test"]
    assert f"Host: a.test:{port}".encode() in seen[0]


async def test_the_next_address_is_tried_if_one_refuses_the_connection() -> None:
    names = Names(**{"a.test": ["::1", "127.0.0.1"]})
    async with site(OK) as (port, _), proxied("a.test", resolver=names) as proxy:
        assert (await asked(proxy, get("a.test", port))).endswith(b"hi")


async def test_a_request_names_the_host_that_was_checked() -> None:
    request = "GET http://127.0.0.1:%d/ HTTP/1.1\r\nhost: other.test\r\nHost: b.test\r\n\r\n"
    async with site(OK) as (port, seen), proxied("127.0.0.1") as proxy:
        await asked(proxy, (request % port).encode())

    assert seen[0].lower().count(b"host:") == 1
    assert f"Host: 127.0.0.1:{port}\r\n".encode() in seen[0]


async def test_pages_do_not_reach_roosts_own_ports() -> None:
    async with site(OK) as (port, seen):
        async with proxied(deny=("a.test",), own_ports=lambda: frozenset({port})) as proxy:
            for host in ("127.0.0.1", "localhost", "0", "[::ffff:127.0.0.1]"):
                assert b" 403 " in await asked(proxy, get(host, port))

    assert seen == []


async def test_an_upstream_proxy_gets_names_that_only_it_can_resolve() -> None:
    async with site(OK) as (port, seen):
        above = f"http://127.0.0.1:{port}"
        names = Names(**{"trap.test": ["127.0.0.1"]})
        async with proxied(deny=("loopback",), upstream=above, resolver=names) as proxy:
            assert (await asked(proxy, get("far.test", 80))).endswith(b"hi")
            for host in ("trap.test", "127.1", "localhost"):
                assert b" 403 " in await asked(proxy, get(host, 80))

    assert [line.split(b"\r\n")[0] for line in seen] == [b"GET http://far.test:80/a?b=c HTTP/1.1"]


@asynccontextmanager
async def asking_proxy(password: str) -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that wants that password before it opens a tunnel; it then echoes."""
    given: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        given.append(lines.get("Proxy-Authorization", ""))
        if given[-1] != password:
            writer.write(b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="way"\r\n\r\n')
        else:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            writer.write(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", given


async def tunnelled(proxy: FilteringProxy) -> bytes:
    return await asked(proxy, b"CONNECT far.test:443 HTTP/1.1\r\n\r\nping")


async def test_tunnels_wait_until_the_proxy_aboves_password_is_given() -> None:
    questions: list[tuple[str, str]] = []
    async with asking_proxy("Basic ada") as (above, given), proxied(upstream=above) as proxy:

        def ask(site: str, challenge: str) -> bool:
            questions.append((site, challenge))
            return True

        proxy.ask = ask
        replies = asyncio.gather(tunnelled(proxy), tunnelled(proxy))
        await until(lambda: len(given) == 2 and len(questions) == 1)
        proxy.answer("Basic wrong")
        await until(lambda: len(questions) == 2)
        proxy.answer("Basic ada")
        assert all(reply.endswith(b"established\r\n\r\nping") for reply in await replies)
        assert (await tunnelled(proxy)).endswith(b"ping")
        assert given[-1] == "Basic ada"
        assert len(questions) == 2
    assert set(questions) == {("far.test:443", 'Basic realm="way"')}


async def test_a_tunnel_refused_before_the_password_came_is_tried_again_without_a_question() -> (
    None
):
    async with proxied(upstream="127.0.0.1:9") as proxy:
        proxy.ask = lambda site, challenge: pytest.fail("nobody needs to be asked")
        refused = PasswordWanted("Basic", tried=None)
        proxy.answer("Basic ada")
        assert await proxy._given("far.test:443", refused)


@pytest.mark.parametrize("answers", [True, False])
async def test_a_tunnel_is_refused_if_nobody_has_the_password(answers: bool) -> None:
    async with asking_proxy("Basic ada") as (above, _), proxied(upstream=above) as proxy:
        if answers:

            def ask(site: str, challenge: str) -> bool:
                asyncio.get_running_loop().call_soon(proxy.answer, None)
                return True

            proxy.ask = ask
        assert (await tunnelled(proxy)).startswith(b"HTTP/1.1 502 ")


async def test_a_tunnel_does_not_wait_forever_for_a_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proxy_module, "ASK_SECONDS", 0.01)
    async with asking_proxy("Basic ada") as (above, _), proxied(upstream=above) as proxy:
        proxy.ask = lambda site, challenge: True
        assert (await tunnelled(proxy)).startswith(b"HTTP/1.1 502 ")
        assert (await tunnelled(proxy)).startswith(b"HTTP/1.1 502 ")


async def test_the_proxy_above_gets_its_password_and_a_site_never_does() -> None:
    async with site(OK) as (port, seen):
        async with proxied(upstream=f"127.0.0.1:{port}") as proxy:
            proxy.answer("Basic ada")
            await asked(proxy, get("far.test", 80))
        async with proxied("127.0.0.1") as direct:
            direct.answer("Basic ada")
            await asked(direct, get("127.0.0.1", port))
    assert [b"Proxy-Authorization: Basic ada" in head for head in seen] == [True, False]


async def test_names_that_never_resolve_do_not_block_other_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = threading.Event()

    def never(host: str, *_: object, **__: object) -> object:
        answer.wait(20)
        raise OSError("too late")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    monkeypatch.setattr(resolver, "LOOK_UPS", 2)
    monkeypatch.setattr(resolver, "LOOK_UP_SECONDS", 0.05)
    try:
        async with proxied("never.test") as proxy:
            replies = [await asked(proxy, get("never.test", 80)) for _ in range(4)]
            threads = [one for one in threading.enumerate() if one.name == "look up never.test"]
            assert all(reply.startswith(b"HTTP/1.1 502 ") for reply in replies)
            assert len(threads) == 2
            await answer_of(asyncio.to_thread(lambda: None))
            answer.set()
            await until(lambda: not any(one.is_alive() for one in threads))
            await turn()
    finally:
        answer.set()


@pytest.mark.parametrize(
    "head",
    [b"GET http://127.0.0.1/ HTTP/1.1\r\nContent-Length: x\r\n\r\n",
     b"GET http://127.0.0.1/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
     b"CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n",
     b"CONNECT [fe80::1%25lo]:80 HTTP/1.1\r\n\r\n"],
)  # fmt: skip
async def test_inconsistent_request_heads_are_bad_requests(head: bytes) -> None:
    async with proxied("127.0.0.1") as proxy:
        assert (await asked(proxy, head)).startswith(b"HTTP/1.1 400 ")


async def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "HEAD_SECONDS", 0.05)
    async with proxied("127.0.0.1") as proxy:
        assert await answer_of(asked(proxy, b"GET http://127.0.0.1/ HTTP/1.1\r\n")) == b""


@needs_another_user
async def test_another_user_of_the_machine_is_not_served() -> None:
    async with site(OK) as (port, seen), proxied("127.0.0.1") as proxy:
        program = AS_NOBODY + (
            "import socket\n"
            "try:\n"
            "    peer = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20)\n"
            "    peer.sendall(sys.argv[2].encode())\n"
            "    print(len(peer.recv(100)))\n"
            "except ConnectionError:\n"
            "    print(0)\n"
        )
        asking = [sys.executable, "-c", program, str(proxy.port), get("127.0.0.1", port).decode()]
        child = await asyncio.create_subprocess_exec(*asking, stdout=subprocess.PIPE)
        out, _ = await answer_of(child.communicate())
        own = await asked(proxy, get("127.0.0.1", port))

    assert (child.returncode, out.strip()) == (0, b"0")
    assert len(seen) == 1
    assert own.endswith(b"hi")
