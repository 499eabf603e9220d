"""Agents and other children in processes of their own, as tests of processes need them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from roost.local.home import Home
from roost.testing.waits import SECONDS

PROCESS_SECONDS = 30.0
"""Timeout for processes, which start slowly on a busy machine. Tests that pass never reach it."""
_SOURCE = Path(__file__).parents[2] / "src"


@contextmanager
def child(code: str = "import sys; sys.stdin.read()") -> Iterator[int]:
    """Start a child process that runs until the context ends, and yield its pid."""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        try:
            yield process.pid
        finally:
            assert process.stdin is not None
            process.stdin.close()


class Agent:
    """A Python process that runs a script. It writes lines of JSON and reads lines of text."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def says(self) -> Any:
        assert self._process.stdout is not None
        async with asyncio.timeout(PROCESS_SECONDS):
            line = await self._process.stdout.readline()
        assert line, "the agent ended without a word"
        return json.loads(line)

    async def kill(self) -> None:
        """Kill the process with kill -9."""
        self._process.kill()
        async with asyncio.timeout(SECONDS):
            await self._process.wait()


@asynccontextmanager
async def agent_process(
    script: str, home: Home, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Agent]:
    """Run the script with ROOST_HOME, PYTHONPATH and ``environ`` as its whole environment."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        script,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"ROOST_HOME": os.fspath(home.path), "PYTHONPATH": str(_SOURCE), **(environ or {})},
    )
    try:
        yield Agent(process)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(PROCESS_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
