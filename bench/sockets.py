"""Measure a call over the socket: a real broker and a bare echo server, each its own process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.report import Row, median_of
from bench.site import browser_home
from roost.local.broker_start import connect
from roost.local.home import Home
from roost.wire.framing import encode_line
from roost.wire.hello import Hello

CONNECTIONS = 16
IN_FLIGHT = 64
CALLS_PER_ROUND = 16_000
SEQUENTIAL_CALLS = 2_000
ROUNDS = 5
ROUND_SECONDS = 60


def rows() -> list[Row]:
    with browser_home("fake") as home, echo_server() as echo:
        throughput = median_of(ROUNDS, lambda: asyncio.run(_throughput(home)))
        latencies = _latencies(home, echo)
    bare, broker = (statistics.median(values) for values in zip(*latencies, strict=True))
    added = statistics.median(broker - bare for bare, broker in latencies)
    return [
        Row(
            "ping over the socket",
            throughput,
            "/s",
            limit=8_000,
            at_least=True,
            note=f"{IN_FLIGHT} in flight from {CONNECTIONS} connections",
        ),
        Row("p50 of a bare echo server", bare, "ms", note="JSON lines on asyncio"),
        Row("p50 of a ping", broker, "ms", note="one call at a time"),
        Row("p50 added by the broker", added, "ms", limit=0.25),
    ]


# --- throughput ---------------------------------------------------------------------------------


class Load(asyncio.Protocol):
    """One connection that keeps its share of calls in flight until all are answered."""

    def __init__(self, home: Home) -> None:
        self._hello = Hello(token=home.operator_token(), name="bench")
        self.ready = asyncio.get_running_loop().create_future()
        self.done = asyncio.get_running_loop().create_future()
        self._rest = b""
        self._left = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(encode_line({"hello": self._hello.to_wire()}))

    def start(self, calls: int, in_flight: int) -> None:
        self._left = calls
        self._unsent = calls - in_flight
        self.transport.write(b"".join(_ping(number) for number in range(in_flight)))

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        next_calls = []
        for line in lines:
            message = json.loads(line)
            if "welcome" in message:
                self.ready.set_result(None)
                continue
            assert "ok" in message, message
            self._left -= 1
            if self._unsent:
                self._unsent -= 1
                next_calls.append(_ping(message["id"]))
            elif not self._left:
                self.done.set_result(None)
        if next_calls:
            self.transport.write(b"".join(next_calls))


async def _throughput(home: Home) -> float:
    """Return the answers per second."""
    loop = asyncio.get_running_loop()
    loads = []
    for _ in range(CONNECTIONS):
        sock = connect(home)
        sock.setblocking(False)
        _, load = await loop.create_unix_connection(lambda: Load(home), sock=sock)
        await load.ready
        loads.append(load)
    started = time.perf_counter()
    for load in loads:
        load.start(CALLS_PER_ROUND // CONNECTIONS, IN_FLIGHT // CONNECTIONS)
    async with asyncio.timeout(ROUND_SECONDS):
        await asyncio.gather(*(load.done for load in loads))
    seconds = time.perf_counter() - started
    for load in loads:
        load.transport.write(encode_line({"goodbye": True}))
        load.transport.close()
    return CALLS_PER_ROUND / seconds


# --- latency ------------------------------------------------------------------------------------


def _latencies(home: Home, echo: Path) -> list[tuple[float, float]]:
    """Return the p50 of the echo server and of the broker per round, in milliseconds.

    Both are measured in turns, so that a busy moment of the machine affects both.
    """
    with socket.socket(socket.AF_UNIX) as bare, connect(home) as broker:
        bare.connect(str(echo))
        broker.sendall(encode_line({"hello": Hello(token=home.operator_token()).to_wire()}))
        _receive(broker)
        _p50(bare)
        _p50(broker)
        return [(_p50(bare), _p50(broker)) for _ in range(ROUNDS)]


def _p50(sock: socket.socket) -> float:
    took = []
    for number in range(SEQUENTIAL_CALLS):
        call = _ping(number)
        started = time.perf_counter()
        sock.sendall(call)
        _receive(sock)
        took.append(time.perf_counter() - started)
    return statistics.median(took) * 1000


def _receive(sock: socket.socket) -> None:
    data = b""
    while not data.endswith(b"\n"):
        data += sock.recv(65_536)


def _ping(number: int) -> bytes:
    return encode_line({"id": number, "op": "ping", "args": {}})


# --- the processes ------------------------------------------------------------------------------


@contextlib.contextmanager
def echo_server() -> Iterator[Path]:
    """Run the bare server, and yield its socket."""
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        path = Path(folder) / "socket"
        command = [sys.executable, "-m", "bench.echo_server", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            try:
                server.stdout.readline()
                yield path
            finally:
                server.terminate()
