"""Measure the hooks as Claude Code runs them: two as processes, one over the MCP connection."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.mcp_client import McpClient, roost_command, server
from bench.report import Row, median_of
from bench.site import browser_home
from bench.timing import took
from roost.local.broker_start import connect
from roost.local.home import Home
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import ClientKind, Hello

ROUNDS = 15
REPLY_BYTES = 1 << 20
REPORT = {"tool_use_id": "u", "agent_id": "a", "tool_input": {"command": "roost snapshot"}}


def rows() -> list[Row]:
    with browser_home("fake") as home, _looping_agent(home):
        environ = {"ROOST_HOME": str(home.path), "PATH": os.environ["PATH"]}
        bare = median_of(ROUNDS, lambda: _run(["-c", "pass"], environ))
        hook = median_of(ROUNDS, lambda: _run(["-m", "roost", "hook", "stop"], environ))
        report = median_of(ROUNDS, lambda: _run(["-m", "roost", "hook", "report"], environ))
        with server(roost_command(), ROOST_HOME=str(home.path)) as agent:
            agent.initialize()
            call = median_of(ROUNDS, lambda: took(lambda: _report(agent)) * 1000)
    return [
        Row("p50 of a bare interpreter", bare, "ms", note="sh -c, python -c pass"),
        Row("p50 of roost hook stop", hook, "ms", limit=150, note="a loop is active"),
        Row("p50 of roost hook report", report, "ms", limit=120, note="a sub-agent's command"),
        Row("p50 of a report over MCP", call, "ms", limit=15, note="before each tool, by the shim"),
    ]


def _run(arguments: list[str], environ: dict[str, str]) -> float:
    event = "Stop" if arguments[-1] == "stop" else "PreToolUse"
    given = json.dumps({"session_id": "bench", "hook_event_name": event, **REPORT}).encode()
    command = " ".join([sys.executable, *arguments])
    begun = time.perf_counter()
    done = subprocess.run(["sh", "-c", command], input=given, env=environ, capture_output=True)
    spent = (time.perf_counter() - begun) * 1000
    assert arguments[-1] != "stop" or b'"block"' in done.stdout, done
    return spent


def _report(agent: McpClient) -> None:
    agent.call("subagent_report", event="PreToolUse", toolUseId="u", subagent="a", kind="x")


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
