"""A minimal MCP client, whose own cost does not matter in what it measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VERSION = "2025-06-18"


class McpClient:
    """One agent's MCP server, used over its standard input and output, one call at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self._process = process
        self._last_id = 0

    def initialize(self) -> None:
        who = {"name": "roost-bench", "version": "1"}
        self.request(
            "initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": who}
        )
        self._send({"method": "notifications/initialized"})

    def tools(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.request("tools/list", {})["tools"]
        return listed

    def call(self, tool: str, /, **arguments: Any) -> str:
        """Call the tool and return the text of the answer."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        texts = [part["text"] for part in answer["content"] if part["type"] == "text"]
        if answer.get("isError"):
            raise AssertionError(f"{tool} failed: {texts}")
        return "\n".join(texts)

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last_id and "method" not in message:
                if "error" in message:
                    raise AssertionError(f"{method} failed: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
        raise AssertionError(f"The server ended before it answered {method}.")

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def server(
    command: Sequence[str], *, cwd: Path | None = None, **environment: str
) -> Iterator[McpClient]:
    """Start the command as a client would. Close its standard input at the end."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        yield McpClient(process)
    finally:
        process.communicate(timeout=30)


def roost_command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "roost", "mcp", *flags]


def node_command(script: Path, *flags: str) -> list[str]:
    return ["node", str(script), *flags]
