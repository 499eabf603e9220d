"""Measure a call over HTTP: a real broker and a bare starlette, each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

from bench.report import Row
from bench.site import browser_home
from bench.sockets import ROUND_SECONDS, ROUNDS
from roost.local.endpoint import read_endpoint
from roost.local.home import Home

CONNECTIONS = 16
CALLS_PER_ROUND = 8_000
SEQUENTIAL_CALLS = 1_000
PATH = "/session/bench/tools/ping"
ANSWER = b"\r\n\r\n{}"


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    token: str

    @property
    def call(self) -> bytes:
        """A call that does nothing, as a client sends it."""
        lines = (
            f"POST {PATH} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.token}",
            "Content-Type: application/json",
            "Content-Length: 2",
        )
        return "\r\n".join([*lines, "", "{}"]).encode()


def rows() -> list[Row]:
    with browser_home("fake") as home, _bare() as bare:
        roost = _served(home)
        # Measure in turns, so that a busy moment of the machine affects both.
        throughput = [(asyncio.run(_throughput(bare)), asyncio.run(_throughput(roost)))]
        throughput += [
            (asyncio.run(_throughput(bare)), asyncio.run(_throughput(roost))) for _ in range(ROUNDS)
        ]
        latencies = _latencies(bare, roost)
    most, ours = (statistics.median(values) for values in zip(*throughput[1:], strict=True))
    floor, ping = (statistics.median(values) for values in zip(*latencies, strict=True))
    return [
        Row("no-op of a bare starlette", most, "/s", note="uvicorn, httptools"),
        Row(
            "no-op over HTTP",
            ours,
            "/s",
            limit=2_000,
            at_least=True,
            note=f"{CONNECTIONS} connections; {ours / most:.0%} of the bare one",
        ),
        Row("p50 of a bare starlette", floor, "ms", note="one call at a time"),
        Row("p50 of a no-op over HTTP", ping, "ms", note=f"{ping / floor:.2f} × the bare one"),
    ]


class Load(asyncio.Protocol):
    """One connection that sends the next call as soon as the last is answered."""

    def __init__(self, server: Server, calls: int) -> None:
        self._call = server.call
        self._left = calls
        self._held = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._call)

    def data_received(self, data: bytes) -> None:
        self._held += data
        if not self._held.endswith(ANSWER):
            return
        self._held = b""
        self._left -= 1
        if self._left:
            self._transport.write(self._call)
        else:
            self.done.set_result(None)
            self._transport.close()


async def _throughput(server: Server) -> float:
    """Return the answers per second."""
    loop = asyncio.get_running_loop()
    share = CALLS_PER_ROUND // CONNECTIONS
    started = time.perf_counter()
    made = [
        await loop.create_connection(lambda: Load(server, share), "127.0.0.1", server.port)
        for _ in range(CONNECTIONS)
    ]
    async with asyncio.timeout(ROUND_SECONDS):
        await asyncio.gather(*(load.done for _, load in made))
    return CALLS_PER_ROUND / (time.perf_counter() - started)


def _latencies(bare: Server, roost: Server) -> list[tuple[float, float]]:
    """Return the p50 of each server per round, in milliseconds."""
    return [(_p50(bare), _p50(roost)) for _ in range(ROUNDS)]


def _p50(server: Server) -> float:
    took = []
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(SEQUENTIAL_CALLS):
            started = time.perf_counter()
            sock.sendall(server.call)
            held = b""
            while not held.endswith(ANSWER):
                held += sock.recv(65_536)
            took.append(time.perf_counter() - started)
    return statistics.median(took) * 1000


def _served(home: Home) -> Server:
    """Open a session in the broker and return its address and token."""
    endpoint = read_endpoint(home)
    assert endpoint is not None
    assert endpoint.http is not None
    request = urllib.request.Request(
        f"{endpoint.http}/session",
        data=b'{"sessionId": "bench"}',
        headers={"Authorization": f"Bearer {home.operator_token()}"},
    )
    with urllib.request.urlopen(request, timeout=ROUND_SECONDS) as answer:
        token = json.load(answer)["token"]
    return Server(int(endpoint.http.rpartition(":")[2]), token)


@contextlib.contextmanager
def _bare() -> Iterator[Server]:
    command = [sys.executable, "-m", "bench.bare_http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(int(process.stdout.readline()), "none")
        finally:
            process.terminate()
