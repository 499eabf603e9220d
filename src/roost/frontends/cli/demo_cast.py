"""The demo's agents as its storyteller sees them: real processes that take orders."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import IO, Any

from roost.errors import Internal, RoostError, Timeout
from roost.local.home import Home
from roost.local.starting import clean_environment

ANSWER_SECONDS = 15.0


class Player:
    """One agent. ``ask`` has it call an operation and answers what the broker answered it."""

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
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._events: dict[str, asyncio.Event] = {}
        self._reading = asyncio.get_running_loop().create_task(self._read(), name=f"hear {name}")

    @classmethod
    async def enter(cls, name: str, home: Home, complaints: Path) -> Player:
        """Start the process and wait until its agent is connected."""
        with _appended(complaints) as stderr:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "roost.frontends.cli.demo_agent", name),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=clean_environment(home),
                limit=64 * 1024 * 1024,
                start_new_session=True,  # a Ctrl-C is for the storyteller to deal with
            )
        player = cls(name, process, complaints)
        try:
            introduced = await player._answer()
        except BaseException:
            await player.remove()
            raise
        player.agent, player.session = introduced["agent"], introduced["session"]
        return player

    async def ask(self, op: str, **args: Any) -> dict[str, Any]:
        """Raises the refusal as the very error the agent got."""
        async with self._turn:
            assert self.process.stdin is not None
            self.asked += 1
            self.doing = " ".join([op, *(v for v in args.values() if isinstance(v, str))])
            self.process.stdin.write(json.dumps({"op": op, "args": args}).encode() + b"\n")
            reply = await self._answer()
        if "error" in reply:
            error = RoostError.from_wire(reply["error"])
            self.doing += f" → {error.code}"
            raise error
        answer: dict[str, Any] = reply["ok"]
        return answer

    async def hears(self, kind: str) -> None:
        """Wait until the broker has told the agent of such an event."""
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._event(kind).wait()

    async def leave(self) -> int:
        """Let the agent say goodbye; its exit code."""
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
        """kill -9: no goodbye, nothing."""
        self.doing = "killed"
        await self.remove()

    async def remove(self) -> None:
        """Make sure the process is gone, however the demo ends."""
        self.is_alive = False
        if self.process.returncode is None:
            # Not process.kill(): that reaps a child which has just ended, and asyncio complains.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
            await self.process.wait()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _answer(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self._answers.get()
        except TimeoutError:
            raise Timeout(f"The demo's agent {self.name} hangs: {self.doing}.") from None
        if not answer:
            said = self._complaints.read_text(encoding="utf-8", errors="replace").strip()
            raise Internal(f"The demo's agent {self.name} ended: {said.rpartition(chr(10))[2]}")
        return answer

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if "event" in message:
                self._event(message["event"]["kind"]).set()
            else:
                self._answers.put_nowait(message)
        self._answers.put_nowait({})

    def _event(self, kind: str) -> asyncio.Event:
        return self._events.setdefault(kind, asyncio.Event())


def _appended(path: Path) -> IO[bytes]:
    return open(path, "ab")
