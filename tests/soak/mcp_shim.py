"""A real ``roost mcp`` process, and a small client that speaks JSON-RPC to it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from roost.local.home import Home
from roost.vocabulary import LINK_FRAME_BYTES

_LISTED = re.compile(r"^- (t\d+): (?:\(current\) )?\[.*\]\((.*)\)$", re.MULTILINE)
_MARKED = re.compile(r"<page-content untrusted id=(\w+)>\n(.*?)\n</page-content id=\1>", re.DOTALL)
_CODE = re.compile(r"[A-Z_]+")


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a call. ``code``: the error's code, or None for a success."""

    code: str | None
    text: str
    data: Any = None

    @property
    def is_ok(self) -> bool:
        return self.code is None

    def value(self) -> Any:
        """Return the JavaScript value in an answer to ``browser_evaluate``."""
        found = _MARKED.search(self.text)
        assert found is not None, self.text
        return json.loads(found[2])

    def tabs(self) -> dict[str, str]:
        """Return the tabs in an answer to ``browser_tabs``: id to address."""
        data = self.data
        if not isinstance(data, dict) and (found := _MARKED.search(self.text)):
            with suppress(ValueError):
                data = json.loads(found[2])
        if isinstance(data, dict):
            return {row["tab"]: row["url"] for row in data["tabs"]}
        return dict(_LISTED.findall(self.text))


class ShimDied(Exception):
    """The shim's process has ended, so no answer can come."""


class McpShim:
    """One shim. ``died``: the time when its output ended, or None while it lives."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.died: float | None = None
        self._process = process
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listening = asyncio.get_running_loop().create_task(
            self._listen(), name=f"listen to {process.pid}"
        )

    @classmethod
    async def start(cls, home: Home, folder: Path) -> McpShim:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "roost", "mcp", "--tools", "all",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env={"ROOST_HOME": os.fspath(home.path), "PATH": os.environ["PATH"]},
            limit=LINK_FRAME_BYTES,
        )  # fmt: skip
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def initialize(self, name: str, seconds: float) -> None:
        """Say hello as MCP clients do."""
        about = {"name": name, "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        await self._ask("initialize", params, seconds)
        self._say({"method": "notifications/initialized"})

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> Reply:
        """Call a tool. Raises ``TimeoutError`` if no answer comes, ``ShimDied`` if none can
        come."""
        params = {"name": tool, "arguments": arguments}
        return _reply(await self._ask("tools/call", params, seconds))

    async def leave(self, seconds: float) -> bool:
        """Close the shim's input, as a client does when it ends. Return whether the shim ends in
        time."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    async def end(self) -> None:
        """End the shim, whatever state it is in."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._listening

    async def _ask(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._say({"id": number, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                message: dict[str, Any] = await answer
        finally:
            del self._waiting[number]
        return message

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        if self.died is not None:
            raise ShimDied
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ConnectionError):
            while line := await self._process.stdout.readline():
                message = json.loads(line)
                answer = self._waiting.get(message.get("id"))
                if answer is not None and not answer.done():
                    answer.set_result(message)
        self.died = asyncio.get_running_loop().time()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ShimDied())


def _reply(message: dict[str, Any]) -> Reply:
    if "error" in message:
        wire = message["error"].get("data") or {}
        return Reply(wire.get("code", "UNTYPED"), message["error"]["message"])
    result = message["result"]
    text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
    if not result.get("isError"):
        return Reply(None, text, result.get("structuredContent"))
    code = _CODE.match(text)
    return Reply(code[0] if code else "UNTYPED", text)
