"""What a fleet's gateway adds to a call, how a fleet grows, and what a lost machine costs.

Gateway, nodes and brokers are processes of their own on one machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import Row
from bench.site import site
from roost.broker.clock import SystemClock
from roost.fleet.authority import client_context, node_host
from roost.fleet.config import GatewayConfig
from roost.fleet.http_heads import Header
from roost.fleet.membership import administer, ask, host_header
from roost.fleet.node import NodeConfig
from roost.fleet.node_door import EPOCH, SESSION
from roost.fleet.streams import Stream, exchange
from roost.vocabulary import MIB
from roost.wire.framing import encode
from tests.support.house import real_home

Connect = Callable[[], Awaitable[Stream]]
CALLS = 1_000
SESSIONS = 10
MANY = 1_000
NODES = 4
OPENED_AT_ONCE = 16
IN_FLIGHT = 64
PICTURES = 40
LOST = 12
BODY = b"{}"


def rows() -> list[Row]:
    """What the gateway adds, with one node."""
    with _machines(1, browser="fake") as (head, nodes):
        measured = asyncio.run(_measured(head / "fleet", nodes[0] / "fleet"))
    with site() as base, _machines(1, browser="chromium") as (head, nodes):
        page = f"{base}/doc/library/functions.html"
        return measured + asyncio.run(_pictures(head / "fleet", nodes[0] / "fleet", page))


def scale_rows() -> list[Row]:
    """Many sessions on several nodes, and the loss of a machine."""
    with _machines(NODES, browser="fake", pool=2 * MANY // NODES) as (head, nodes):
        return asyncio.run(_crowded(head / "fleet", nodes))


@contextmanager
def _machines(count: int, **settings: Any) -> Iterator[tuple[Path, list[Path]]]:
    """Run a gateway and nodes, and yield their folders."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roost-fleet-")))
        head = folder / "head"
        stack.enter_context(real_home(head))
        up = _fleet(head, "up", "--address", "127.0.0.1:0", "--no-ray")
        stack.callback(_fleet, head, "stop")
        token, nodes = up["joinToken"], []
        for number in range(count):
            node = folder / f"node{number}"
            stack.enter_context(real_home(node, **settings))
            _fleet(node, "join", token, "--address", "127.0.0.1:0")
            stack.callback(_fleet, node, "leave", "--force")
            token = _fleet(head, "invite")["token"]
            nodes.append(node)
        yield head, nodes


@dataclass
class _Doors:
    """The gateway, as a user reaches it."""

    head: Path
    config: GatewayConfig
    token: str

    @classmethod
    async def open(cls, head: Path) -> _Doors:
        config = GatewayConfig.read(head)
        assert config is not None
        return cls(head, config, (await administer(head, "users/add", {"name": "ann"}))["token"])

    @property
    def host(self) -> bytes:
        return host_header(self.config.host, self.config.port)

    async def gateway(self) -> Stream:
        context = client_context(self.head / "ca.pem")
        return await Stream.connect(self.config.host, self.config.port, context, self.config.host)

    async def session(self, stream: Stream, name: str) -> dict[str, Any]:
        return await ask(
            stream, self.host, "/session", {"sessionId": name}, self.token, seconds=60.0
        )

    def ping(self, opened: dict[str, Any], tool: str = "ping") -> tuple[bytes, list[Header]]:
        """Return target and headers of a call in a session."""
        bearer = (b"authorization", b"Bearer " + opened["token"].encode())
        target = f"/session/{opened['sessionId']}/tools/{tool}".encode()
        return target, [(b"host", self.host), bearer]

    async def status(self) -> dict[str, Any]:
        return await administer(self.head, "status", {})

    async def node_door(self, node: Path, session: str) -> tuple[list[Header], Connect]:
        """Return the headers of a call at the door of the session's node, and how to connect."""
        joined = NodeConfig.read(node)
        assert joined is not None
        status = await self.status()
        (row,) = (each for each in status["sessions"] if each["id"] == session)
        (seen,) = (each for each in status["nodes"] if each["id"] == joined.id)
        address, _, port = seen["address"].rpartition(":")
        context = client_context(self.head / "ca.pem", self.head / "gateway.pem")
        marks = [(SESSION, row["id"].encode()), (EPOCH, b"%d" % row["epoch"])]

        async def connect() -> Stream:
            return await Stream.connect(address, int(port), context, node_host(joined.id))

        return [(b"host", b"node"), *marks], connect


async def _measured(head: Path, node: Path) -> list[Row]:
    doors = await _Doors.open(head)
    gateway = await doors.gateway()
    opened, took = {}, []
    for number in range(SESSIONS):
        began = time.perf_counter()
        opened = await doors.session(gateway, f"s{number}")
        took.append((time.perf_counter() - began) * 1000)
    target, headers = doors.ping(opened)
    own_headers, connect = await doors.node_door(node, opened["sessionId"])
    door = await connect()
    own = await _latency(door, target, own_headers)
    before = _processor_seconds(head)
    through = await _latency(gateway, target, headers)
    spent = (_processor_seconds(head) - before) * 1000 / CALLS
    own_rate = await _rate(connect, target, own_headers)
    rate = await _rate(doors.gateway, target, headers)
    await gateway.aclose()
    await door.aclose()
    return [
        Row("call at a node's door", own, "ms p50"),
        Row("gateway: added to a call", through - own, "ms p50", 1.5),
        Row("gateway: processor time of a call", spent, "ms", 0.6),
        Row("gateway: open a session", statistics.median(took[1:]), "ms p50", 50.0),
        Row(f"node's door: calls, {IN_FLIGHT} in flight", own_rate, "a second"),
        Row(
            f"gateway: calls, {IN_FLIGHT} in flight",
            rate / own_rate,
            "x of the node's door",
            0.6,
            at_least=True,
        ),
    ]


async def _pictures(head: Path, node: Path, page: str) -> list[Row]:
    """A screenshot of Chromium through the gateway and at the node's door, in turns."""
    doors = await _Doors.open(head)
    gateway = await doors.gateway()
    opened = await doors.session(gateway, "pictures")
    target, headers = doors.ping(opened, "browser_navigate")
    await _call(gateway, target, headers, encode({"url": page}))
    target, headers = doors.ping(opened, "browser_take_screenshot")
    own_headers, connect = await doors.node_door(node, opened["sessionId"])
    door = await connect()
    own: list[float] = []
    through: list[float] = []
    for _ in range(PICTURES):
        for stream, marks, took in ((door, own_headers, own), (gateway, headers, through)):
            began = time.perf_counter()
            await _call(stream, target, marks, BODY)
            took.append((time.perf_counter() - began) * 1000)
    await gateway.aclose()
    await door.aclose()
    floor, middle = statistics.median(own), statistics.median(through)
    return [
        Row("screenshot at a node's door", floor, "ms p50"),
        Row("gateway: screenshot", middle / floor, "x of the node's door", 1.15),
    ]


async def _crowded(head: Path, nodes: list[Path]) -> list[Row]:
    doors = await _Doors.open(head)
    gateway = await doors.gateway()
    first = [await doors.session(gateway, f"s{number}") for number in range(SESSIONS)]
    few = await _latency(gateway, *doors.ping(first[0]))
    before = _processor_seconds(head)
    await _latency(gateway, *doors.ping(first[1]))
    few_spent = _processor_seconds(head) - before
    names = iter(range(SESSIONS, MANY))

    async def open_more() -> None:
        stream = await doors.gateway()
        for number in names:
            await doors.session(stream, f"s{number}")
        await stream.aclose()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(OPENED_AT_ONCE):
            group.create_task(open_more())
    took = time.perf_counter() - began
    status = await doors.status()
    placed = sum(each["node"] is not None for each in status["sessions"])
    many = await _latency(gateway, *doors.ping(first[0]))
    before = _processor_seconds(head)
    await _latency(gateway, *doors.ping(first[1]))
    many_spent = _processor_seconds(head) - before
    rows = [
        Row(f"fleet: sessions placed of {MANY:,}", placed, "sessions", MANY, at_least=True),
        Row("fleet: sessions opened", (MANY - SESSIONS) / took, "a second"),
        Row(f"fleet: call with {MANY:,} sessions", many / few, f"x of {SESSIONS} sessions", 1.2),
        Row(
            f"gateway: processor time with {MANY:,} sessions",
            many_spent / few_spent,
            f"x of {SESSIONS} sessions",
            1.2,
        ),
    ]
    rows += await _lost(doors, gateway, nodes[-1])
    await gateway.aclose()
    return rows


async def _lost(doors: _Doors, gateway: Stream, node: Path) -> list[Row]:
    """Kill all processes of a node, and wait until its sessions are elsewhere."""
    joined = NodeConfig.read(node / "fleet")
    assert joined is not None
    status = await doors.status()
    there = [each["id"] for each in status["sessions"] if each["node"] == joined.id]
    for id in there[LOST:]:
        target, headers = doors.ping({"sessionId": id, "token": doors.token}, "session_dispose")
        await _call(gateway, target, headers, BODY)
    for pid in _pids(node):
        os.kill(pid, signal.SIGKILL)
    began = time.perf_counter()
    noticed = back = 0.0
    while not back:
        status = await doors.status()
        is_lost = any(
            each["id"] == joined.id and each["state"] == "lost" for each in status["nodes"]
        )
        if is_lost and not noticed:
            noticed = time.perf_counter() - began
        elsewhere = {
            each["id"] for each in status["sessions"] if each["node"] not in (None, joined.id)
        }
        if elsewhere.issuperset(there[:LOST]):
            for id in there[:LOST]:
                call = doors.ping({"sessionId": id, "token": doors.token})
                await _call(gateway, *call, BODY)
            back = time.perf_counter() - began
        await SystemClock().wait(0.05)
    return [
        Row("fleet: a lost machine is noticed after", noticed, "s", 6.0),
        Row(f"fleet: its {LOST} sessions answer again after", back, "s", 15.0),
    ]


def _pids(node: Path) -> list[int]:
    """Return the processes of a node and of its broker."""
    mark = f"ROOST_HOME={node}".encode()
    found = []
    for entry in os.listdir("/proc"):
        with suppress(OSError):
            if entry.isdigit() and mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                found.append(int(entry))
    return found


async def _rate(connect: Connect, target: bytes, headers: list[Header]) -> float:
    """Return how many calls a second are answered with ``IN_FLIGHT`` calls under way."""
    streams = [await connect() for _ in range(IN_FLIGHT)]
    calls = iter(range(4 * CALLS))

    async def work(stream: Stream) -> None:
        for _ in calls:
            await _call(stream, target, headers, BODY)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(work(stream))
    took = time.perf_counter() - began
    for stream in streams:
        await stream.aclose()
    return 4 * CALLS / took


async def _latency(stream: Stream, target: bytes, headers: list[Header]) -> float:
    """Return the median of sequential calls, in milliseconds."""
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await _call(stream, target, headers, BODY)
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


async def _call(stream: Stream, target: bytes, headers: list[Header], body: bytes) -> None:
    response, answer = await exchange(
        stream, b"POST", target, headers, body, limit=16 * MIB, timeout=60.0
    )
    assert response.status == 200, answer[:300]


def _processor_seconds(folder: Path) -> float:
    """Return the processor time that the gateway's process has used."""
    supervisor = json.loads((folder / "gateway-supervisor.json").read_text())["pid"]
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    fields = Path(f"/proc/{children[0]}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _fleet(home: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "roost", "fleet", *words, "--json"],
        env=os.environ | {"ROOST_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    reply: dict[str, Any] = json.loads(done.stdout)
    if done.returncode:
        raise RuntimeError(f"roost fleet {words[0]}: {reply}")
    return reply
