"""What a fleet's gateway adds to a call. Gateway and node are processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.report import Row
from roost.fleet.authority import client_context, node_host
from roost.fleet.config import GatewayConfig
from roost.fleet.http_heads import Header
from roost.fleet.membership import administer, ask, host_header
from roost.fleet.node import NodeConfig
from roost.fleet.node_door import EPOCH, SESSION
from roost.fleet.streams import Stream, exchange
from tests.support.house import real_home

CALLS = 1_000
SESSIONS = 10
BODY = b"{}"


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="roost-fleet-") as folder:
        head, node = Path(folder) / "head", Path(folder) / "node"
        with real_home(head), real_home(node):
            up = _fleet(head, "up", "--address", "127.0.0.1:0")
            try:
                _fleet(node, "join", up["joinToken"], "--address", "127.0.0.1:0")
                return asyncio.run(_measured(head / "fleet", node / "fleet"))
            finally:
                _fleet(node, "leave", "--force")
                _fleet(head, "stop")


async def _measured(head: Path, node: Path) -> list[Row]:
    config, joined = GatewayConfig.read(head), NodeConfig.read(node)
    assert config is not None
    assert joined is not None
    token = (await administer(head, "users/add", {"name": "ann"}))["token"]
    host = host_header(config.host, config.port)
    gateway = await Stream.connect(
        config.host, config.port, client_context(head / "ca.pem"), config.host
    )
    opened, took = {}, []
    for number in range(SESSIONS):
        began = time.perf_counter()
        wish = {"sessionId": f"s{number}"}
        opened = await ask(gateway, host, "/session", wish, token, seconds=60.0)
        took.append((time.perf_counter() - began) * 1000)
    status = await administer(head, "status", {})
    (row,) = (each for each in status["sessions"] if each["id"] == opened["sessionId"])
    address, _, port = status["nodes"][0]["address"].rpartition(":")
    context = client_context(head / "ca.pem", head / "gateway.pem")
    door = await Stream.connect(address, int(port), context, node_host(joined.id))
    target = f"/session/{opened['sessionId']}/tools/ping".encode()
    bearer = (b"authorization", b"Bearer " + opened["token"].encode())
    marks = [(SESSION, row["id"].encode()), (EPOCH, b"%d" % row["epoch"])]
    own = await _latency(door, target, [(b"host", b"node"), *marks])
    before = _processor_seconds(head)
    through = await _latency(gateway, target, [(b"host", host), bearer])
    spent = (_processor_seconds(head) - before) * 1000 / CALLS
    await gateway.aclose()
    await door.aclose()
    return [
        Row("call at a node's door", own, "ms p50"),
        Row("gateway: added to a call", through - own, "ms p50", 1.5),
        Row("gateway: processor time of a call", spent, "ms", 0.6),
        Row("gateway: open a session", statistics.median(took[1:]), "ms p50", 50.0),
    ]


async def _latency(stream: Stream, target: bytes, headers: list[Header]) -> float:
    """Return the median of sequential calls, in milliseconds."""
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        response, _ = await exchange(
            stream, b"POST", target, headers, BODY, limit=65536, timeout=30.0
        )
        assert response.status == 200, response
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


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
