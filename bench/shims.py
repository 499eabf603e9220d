"""What an agent pays to speak MCP: the shim's memory, the first answer, the tool list."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.report import Row, median_of
from bench.sockets import fake_broker
from roost.local.home import Home
from roost.vocabulary import KIB

ROUNDS = 9
CALLS = 500
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def rows() -> list[Row]:
    with fake_broker() as home:
        first = median_of(ROUNDS, lambda: _first_answer(home))
        with _shim(home) as agent:
            agent.initialize()
            listed = len(json.dumps(agent.ask("tools/list"), separators=(",", ":")).encode())
            call = median_of(5, lambda: _call_ms(agent))
            memory = agent.resident_mib()
    return [
        Row("start of a bare interpreter", median_of(ROUNDS, _bare_start), "s"),
        Row("initialize answered, broker up", first, "s", limit=0.3, note="from the shim's start"),
        Row("call of a tool through the shim", call, "ms", note="session_list, one at a time"),
        Row("shim, resident", memory, "MiB", limit=20, note=f"after {CALLS * 6} calls"),
        Row("core tool list", listed, "bytes", limit=14_000),
    ]


class _Shim:
    """``roost mcp`` and what a client says to it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._ids = 0

    def ask(self, method: str, **params: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._ids, answer
        return answer["result"]

    def initialize(self) -> None:
        self.ask("initialize", **INITIALIZE)

    def resident_mib(self) -> float:
        shown = ["ps", "-o", "rss=", "-p", str(self._process.pid)]
        return int(subprocess.run(shown, capture_output=True, check=True).stdout) / KIB


@contextmanager
def _shim(home: Home) -> Iterator[_Shim]:
    command = [sys.executable, "-P", "-m", "roost", "mcp"]
    environ = {"ROOST_HOME": str(home.path), "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield _Shim(process)
        finally:
            process.terminate()


def _first_answer(home: Home) -> float:
    started = time.perf_counter()
    with _shim(home) as agent:
        agent.initialize()
        return time.perf_counter() - started


def _call_ms(agent: _Shim) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        agent.ask("tools/call", name="session_list", arguments={})
    return (time.perf_counter() - started) / CALLS * 1000


def _bare_start() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", "pass"], check=True)
    return time.perf_counter() - started
