"""Measure what an agent pays for MCP: the shim's memory, the first answer, the tool list."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager

from bench.mcp_client import McpClient, roost_command, server
from bench.report import Row, median_of
from bench.site import browser_home
from roost.client.client import Client
from roost.local.home import Home
from roost.vocabulary import GRACE_SECONDS, KIB
from roost.wire.hello import ClientKind, Hello

STARTS = 9
CALLS = 500
ROUNDS = 5


def rows() -> list[Row]:
    with browser_home("fake") as home:
        first = median_of(STARTS, lambda: _first_answer(home))
        with _shim(home) as agent:
            agent.initialize()
            listed = json.dumps({"tools": agent.tools()}, ensure_ascii=False, separators=(",", ":"))
            call = median_of(ROUNDS, lambda: _call_ms(agent))
            memory = _resident_mib(agent.pid)
        gone = asyncio.run(_gone_after(home))
    return [
        Row("start of a bare interpreter", median_of(STARTS, _bare_start), "s"),
        Row("initialize answered, broker up", first, "s", limit=0.3, note="from the shim's start"),
        Row("call of a tool through the shim", call, "ms", note="session_list, one at a time"),
        Row("shim, resident", memory, "MiB", limit=20, note=f"after {CALLS * ROUNDS} calls"),
        Row("core tool list", len(listed.encode()), "bytes", limit=16_000),
        Row("kill -9 of a shim: its session gone", gone, "s", limit=GRACE_SECONDS + 1),
    ]


def _shim(home: Home) -> AbstractContextManager[McpClient]:
    return server(roost_command(), ROOST_HOME=str(home.path))


def _first_answer(home: Home) -> float:
    started = time.perf_counter()
    with _shim(home) as agent:
        agent.initialize()
        return time.perf_counter() - started


def _call_ms(agent: McpClient) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        agent.call("session_list")
    return (time.perf_counter() - started) / CALLS * 1000


def _resident_mib(pid: int) -> float:
    shown = ["ps", "-o", "rss=", "-p", str(pid)]
    return int(subprocess.run(shown, capture_output=True, check=True).stdout) / KIB


async def _gone_after(home: Home) -> float:
    """Return the seconds from the kill of an agent's shim to the end of its session and tabs."""
    operator = Client(home, Hello(token="", kind=ClientKind.CLI, operator=True), start=False)
    await operator.reach()
    async with operator:
        with operator.watch() as notices, _shim(home) as agent:
            agent.initialize()
            agent.call("browser_navigate", url="http://bench.test/")
            os.kill(agent.pid, signal.SIGKILL)
            started = time.perf_counter()
            async with asyncio.timeout(60):
                async for notice in notices:
                    if notice.kind == "session_ended":
                        break
            return time.perf_counter() - started


def _bare_start() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - started
