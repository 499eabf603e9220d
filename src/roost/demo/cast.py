"""The demo's agents: the demo is the MCP client of each, as Claude Code or Codex would be.

Each agent's MCP server is a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from roost.errors import Internal, RoostError, Timeout
from roost.local.broker_start import clean_environment
from roost.local.home import Home

ANSWER_SECONDS = 15.0
MCP_VERSION = "2025-06-18"


@dataclass(frozen=True, slots=True)
class Answer:
    """A tool's answer: the text that a model reads, and the data if the tool sends any."""

    text: str
    data: dict[str, Any]

    @property
    def page_said(self) -> str:
        """The text between the marks of page content."""
        inside = self.text.partition("<page-content untrusted id=")[2].partition(">\n")[2]
        return inside.partition("\n</page-content id=")[0]

    def roost_said(self, pattern: str) -> str | None:
        """Return the first group of the pattern in the text before the marks, or None."""
        found = re.search(pattern, self.text.partition("<page-content untrusted id=")[0])
        return None if found is None else found[1]


class Player:
    """One agent and its ``roost mcp``. ``ask`` calls a tool."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, complaints: Path) -> None:
        self.name = name
        self._complaints = complaints
        self.process = process
        self.agent = ""
        self.session = ""
        self.doing = "arrives"
        self.asked = 0
        self.is_alive = True
        self._turn = asyncio.Lock()
        self._last_id = 0

    @classmethod
    async def enter(cls, name: str, home: Home, complaints: Path) -> Player:
        """Start the MCP server and initialize it."""
        with _appended(complaints) as stderr:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "roost", "mcp", "--name", name),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=clean_environment(home),
                limit=64 * 1024 * 1024,
                start_new_session=True,  # only the demo itself handles Ctrl-C
            )
        player = cls(name, process, complaints)
        try:
            client = {"name": "roost-demo", "version": "1"}
            hello = {"protocolVersion": MCP_VERSION, "capabilities": {}, "clientInfo": client}
            await player._request("initialize", hello)
            player._send({"method": "notifications/initialized"})
            # The shim answers initialize before its broker is there. Only the broker answers ping.
            await player._request("ping", {})
        except BaseException:
            await player.remove()
            raise
        return player

    async def ask(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool. Raise an error answer as the error that its text names."""
        self.asked += 1
        self.doing = " ".join([tool, *(v for v in arguments.values() if isinstance(v, str))])
        result = await self._request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        if result.get("isError"):
            code, _, message = text.partition("\n")[0].partition(": ")
            self.doing += f" → {code}"
            raise RoostError.from_wire({"code": code, "message": message})
        return Answer(text, result.get("structuredContent", {}))

    async def leave(self) -> int:
        """Close the server's standard input, as a client does. Return the server's exit code."""
        assert self.process.stdin is not None
        self.doing = "leaves"
        self.process.stdin.close()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                code = await self.process.wait()
        except TimeoutError:
            raise Timeout(f"The demo's agent {self.name} does not leave.") from None
        await self.remove()
        return code

    async def die(self) -> None:
        """Kill the agent with kill -9, without a goodbye."""
        self.doing = "killed"
        await self.remove()

    async def remove(self) -> None:
        """Make sure the process is gone, however the demo ends."""
        self.is_alive = False
        if self.process.returncode is None:
            # Do not use process.kill(): it reaps a child that has just ended, and then asyncio
            # complains.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
            await self.process.wait()

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        async with self._turn:
            self._last_id += 1
            self._send({"id": self._last_id, "method": method, "params": params})
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    answer = await self._answer()
            except TimeoutError:
                raise Timeout(f"The demo's agent {self.name} hangs: {self.doing}.") from None
        if "error" in answer:
            raise Internal(f"The demo's agent {self.name} was refused: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _answer(self) -> dict[str, Any]:
        """Return the answer to the last request, and skip notifications before it."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._last_id:
                return message
        said = self._complaints.read_text(encoding="utf-8", errors="replace").strip()
        raise Internal(f"The demo's agent {self.name} ended: {said.rpartition(chr(10))[2]}")


def _appended(path: Path) -> IO[bytes]:
    return open(path, "ab")
