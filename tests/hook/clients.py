"""Claude Code as its hooks and servers see it: a process that runs its MCP server under a
wrapper, and its Stop hook under ``sh -c`` with JSON on stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roost.local.home import Home

SOURCE = Path(__file__).parents[2] / "src"

WRAPPER = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, *sys.argv[1:]]))"

PATIENT = "-c 'from roost.hook import stop; stop.SECONDS = 20; stop.run()'"
"""The hook, which on a busy machine would give up after its second and let the agent stop."""

CLIENT = """
import json, os, subprocess, sys
given = json.loads(sys.argv[1])

def ask(server, number, method, params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(message) + "\\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            assert "result" in answer and not answer["result"].get("isError"), answer
            return
    raise EOFError("the server ended")

def started(wanted):
    server = subprocess.Popen(
        [sys.executable, "-c", given["wrapper"], "-P", "-m", "roost", "mcp"],
        env={**os.environ, **wanted.get("environ", {})},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ask(server, 1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                  "clientInfo": {"name": "test", "version": "1"}})
    # The shim answers `initialize` by itself; after a call, the broker knows the agent.
    ask(server, 3, "tools/call", {"name": "session_list", "arguments": {}})
    if "loop" in wanted:
        ask(server, 2, "tools/call", {"name": "loop_start", "arguments": wanted["loop"]})
    return server

servers = [started(wanted) for wanted in given["servers"]]
print("ready", flush=True)
for line in sys.stdin:
    # As Claude Code runs it: a shell, the input on stdin, the answer from stdout.
    done = subprocess.run(["sh", "-c", given["hook"]], input=json.loads(line), text=True,
                          capture_output=True, timeout=30)
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
for server in servers:
    server.stdin.close()
    server.wait()
"""


class CodingClient:
    """One running client."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def hears(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the client ended without a word"
        return json.loads(line) if line != "ready\n" else "ready"

    def stops(self, given: Mapping[str, Any] | str | None = None) -> dict[str, Any] | None:
        """Run the Stop hook. Return its decision, or ``None`` if it prints nothing."""
        assert self._process.stdin is not None
        text = given if isinstance(given, str) else json.dumps(stop_input(**(given or {})))
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        code, output, complaints = self.hears()
        assert (code, complaints) == (0, "")
        decision: dict[str, Any] | None = json.loads(output) if output else None
        return decision


def stop_input(**given: Any) -> dict[str, Any]:
    """Return the input that Claude Code gives a Stop hook."""
    return {
        "session_id": "00000000-0000-4000-8000-000000000000",
        "transcript_path": "/nonexistent/transcript.jsonl",
        "cwd": "/",
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        **given,
    }


@contextmanager
def coding_client(
    home: Home, *servers: Mapping[str, Any], hook: str = PATIENT
) -> Iterator[CodingClient]:
    """Start a client with these MCP servers, each ``{"loop": …, "environ": …}`` or ``{}``."""
    given = {
        "servers": servers,
        "wrapper": WRAPPER,
        "hook": f"{sys.executable} {hook}",
    }
    environ = {
        "ROOST_HOME": os.fspath(home.path),
        "PYTHONPATH": str(SOURCE),
        "PATH": os.environ["PATH"],
    }
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, json.dumps(given)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    ) as process:
        client = CodingClient(process)
        try:
            assert client.hears() == "ready"
            yield client
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)
