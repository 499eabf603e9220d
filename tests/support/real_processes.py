"""Real brokers and real agents in processes of their own.

``real_home`` is the one way in which tests start a Roost that runs in processes. ``House`` (page
tests), ``Cli`` (the command line) and the houses of single folders use it. A whole Roost inside the
test's own process is ``roost.testing.house.fake_house``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from roost.client.client import Client
from roost.local.endpoint import read_endpoint
from roost.local.home import Home, socket_path
from roost.local.lock import Lock
from roost.local.processes import Process, end_tree, is_alive, wait_until_gone
from roost.testing.waits import SECONDS
from roost.wire.hello import ClientKind, Hello

PROCESS_SECONDS = 30.0
"""Timeout for processes, which start slowly on a busy machine. Tests that pass never reach it."""
_SOURCE = Path(__file__).parents[2] / "src"


@contextmanager
def real_home(folder: Path, *, browser: str = "fake", **settings: object) -> Iterator[Home]:
    """Make a ROOST_HOME. Whoever connects to it starts its broker. At the end, end its processes.

    browser: browser of the broker.
    settings: other settings of the broker, for its configuration file.
    """
    home = Home(folder)
    home.create()
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    home.config.write_text("\n".join([f'browser = "{browser}"', *lines, ""]), encoding="utf-8")
    try:
        yield home
    finally:
        with Lock(home.start_lock, PROCESS_SECONDS):  # also end a broker that is just starting
            broker = broker_of(home)
            if broker is not None:
                if browser != "fake" and is_alive(broker):
                    os.kill(broker.pid, signal.SIGTERM)  # the broker ends its browsers
                    wait_until_gone(broker, PROCESS_SECONDS)
                end_tree(broker, grace_seconds=0)
            for record in (home.path / "keepers").glob("*.json"):
                record.unlink()
            socket_path(home).unlink(missing_ok=True)


def broker_of(home: Home) -> Process | None:
    """Return the broker that wrote the endpoint file last. It may be dead."""
    endpoint = read_endpoint(home)
    return None if endpoint is None else endpoint.process


async def operator_of(home: Home) -> Client:
    """Connect as the operator to a broker that must be running."""
    client = Client(home, Hello(token="", kind=ClientKind.CLI, operator=True), start=False)
    await client.reach()
    return client


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
