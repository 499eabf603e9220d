"""Measure ``roost hook stop`` as Claude Code runs it, while a loop is active."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.report import Row, median_of
from bench.sockets import fake_broker
from roost.local.broker_start import connect
from roost.local.home import Home
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import ClientKind, Hello

ROUNDS = 15
REPLY_BYTES = 1 << 20


def rows() -> list[Row]:
    with fake_broker() as home, _looping_agent(home):
        environ = {"ROOST_HOME": str(home.path), "PATH": os.environ["PATH"]}
        bare = median_of(ROUNDS, lambda: _run(["-c", "pass"], environ))
        hook = median_of(ROUNDS, lambda: _run(["-m", "roost", "hook", "stop"], environ))
    return [
        Row("p50 of a bare interpreter", bare, "ms", note="sh -c, python -c pass"),
        Row("p50 of roost hook stop", hook, "ms", limit=150, note="a loop is active"),
    ]


def _run(arguments: list[str], environ: dict[str, str]) -> float:
    given = json.dumps({"session_id": "bench", "hook_event_name": "Stop"}).encode()
    command = " ".join([sys.executable, *arguments])
    begun = time.perf_counter()
    done = subprocess.run(["sh", "-c", command], input=given, env=environ, capture_output=True)
    took = (time.perf_counter() - begun) * 1000
    assert arguments[0] == "-c" or b'"block"' in done.stdout, done
    return took


@contextmanager
def _looping_agent(home: Home) -> Iterator[None]:
    """Act as an MCP agent with a loop that does not end."""
    hello = Hello(token=home.operator_token(), kind=ClientKind.MCP)
    who = {"name": "bench", "version": "1"}
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
    loop = {"name": "loop_start", "arguments": {"prompt": "go on", "maxIterations": 0}}
    with connect(home) as sock:
        sock.sendall(encode_line({"hello": hello.to_wire()}))
        for number, method, params in ((1, "initialize", begin), (2, "tools/call", loop)):
            asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            sock.sendall(encode_line(asked))
            _wait_for(sock, number)
        yield


def _wait_for(sock: socket.socket, number: int) -> None:
    frames = JsonLines(REPLY_BYTES)
    while True:
        for message in frames.feed(sock.recv(REPLY_BYTES)):
            if message.get("id") == number:
                assert "result" in message, message
                return
