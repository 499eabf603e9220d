"""The plan of faults, which a seed determines, and the injector that carries it out."""

from __future__ import annotations

import asyncio
import math
import os
import random
import resource
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from roost.local.home import Home, socket_path
from roost.local.processes import Process
from roost.vocabulary import SWEEP_SECONDS
from tests.soak.home_processes import Part, processes_of, send

BURST_FAULTS = (1, 4)
GAP_SECONDS = 1.5
STOP_SECONDS = (0.3, 3.0)
LONG_STOP_SECONDS = 12.0
LONG_STOPS = 0.15
"""The share of stops that last ``LONG_STOP_SECONDS``."""
SHORTAGE_SECONDS = (2.0, 6.0)
LONG_SHORTAGE_SECONDS = SWEEP_SECONDS + 5.0
"""Long enough for the broker's sweep, which looks at the broker's own files."""
LONG_SHORTAGES = 0.15
SPARE_DESCRIPTORS = 3
SILENT_CONNECTIONS = 200
LOOK_AGAIN_SECONDS = 0.05
FIND_SECONDS = 5.0
"""How long a fault waits for a process to appear that is just being started."""


class Kind(StrEnum):
    """The kinds of faults."""

    KILL = "kill"
    STOP = "stop"
    NO_APPENDS = "no appends"
    DISK_FULL = "disk full"
    NO_DESCRIPTORS = "no descriptors"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. ``after``: seconds since the burst began. ``seconds``: how long a stop or shortage
    lasts. ``pick``: which of several candidates, as a fraction."""

    kind: Kind
    part: Part
    after: float
    seconds: float = 0.0
    pick: float = 0.0

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"+{self.after:.2f} s {self.kind} {self.part}{lasting} (pick {self.pick:.2f})"


@dataclass(frozen=True, slots=True)
class Burst:
    """Faults that come close together while the agents work."""

    number: int
    faults: tuple[Fault, ...]


_ANY_BROWSER = {
    (Kind.KILL, Part.SHIM): 4,
    (Kind.KILL, Part.BROKER): 6,
    (Kind.KILL, Part.KEEPER): 2,
    (Kind.KILL, Part.BROWSER): 3,
    (Kind.KILL, Part.RENDERER): 4,
    (Kind.STOP, Part.SHIM): 1,
    (Kind.STOP, Part.BROKER): 2,
    (Kind.STOP, Part.KEEPER): 1,
    (Kind.STOP, Part.BROWSER): 1,
    (Kind.STOP, Part.RENDERER): 1,
    (Kind.NO_APPENDS, Part.BROKER): 1,
    (Kind.DISK_FULL, Part.BROKER): 1,
    (Kind.NO_DESCRIPTORS, Part.BROKER): 1,
}
WEIGHTS = {
    "chromium": _ANY_BROWSER
    | {
        (Kind.KILL, Part.STORAGE): 1,
        (Kind.KILL, Part.NETWORK): 1,
        (Kind.KILL, Part.GPU): 1,
    },
    "firefox": _ANY_BROWSER,
}
"""How often each fault comes, relative to the others."""


def bursts(seed: int, browser: str, *, has_own_disk: bool) -> Iterator[Burst]:
    """Yield an endless plan. The same arguments give the same plan. ``has_own_disk``: ROOST_HOME is
    a file system of its own, which a fault may fill."""
    dice = random.Random(f"{browser} {seed}")
    weights = dict(WEIGHTS[browser])
    if not has_own_disk:
        del weights[Kind.DISK_FULL, Part.BROKER]
    number = 0
    while True:
        number += 1
        after, faults = 0.0, []
        for _ in range(dice.randint(*BURST_FAULTS)):
            ((kind, part),) = dice.choices(list(weights), list(weights.values()))
            faults.append(Fault(kind, part, after, _duration(kind, dice), dice.random()))
            after += dice.uniform(0.0, GAP_SECONDS)
        yield Burst(number, tuple(faults))


def _duration(kind: Kind, dice: random.Random) -> float:
    if kind is Kind.KILL:
        return 0.0
    if kind is Kind.STOP:
        is_long = dice.random() < LONG_STOPS
        return LONG_STOP_SECONDS if is_long else dice.uniform(*STOP_SECONDS)
    is_long = kind is Kind.NO_DESCRIPTORS and dice.random() < LONG_SHORTAGES
    return LONG_SHORTAGE_SECONDS if is_long else dice.uniform(*SHORTAGE_SECONDS)


@dataclass(slots=True)
class Outcome:
    """What a burst did. A planned fault does nothing if its process is not running at that
    moment."""

    began: float
    ended: float = 0.0
    done: list[tuple[Fault, Process]] = field(default_factory=list)
    missed: list[Fault] = field(default_factory=list)

    def kills(self, *parts: Part) -> int:
        """Return how many processes of these parts were killed (of all parts, if none is named)."""
        return sum(
            fault.kind is Kind.KILL and (not parts or fault.part in parts) for fault, _ in self.done
        )

    def had(self, *kinds: Kind) -> bool:
        return any(fault.kind in kinds for fault, _ in self.done)

    def __str__(self) -> str:
        done = [f"{fault} -> pid {process.pid}" for fault, process in self.done]
        return "; ".join(done + [f"{fault} -> nobody there" for fault in self.missed])


class Injector:
    """Carries out the faults of a plan on the processes of one home. ``ballast``: the file that
    fills the home's own disk. ``stopped``: for how many seconds each pid was stopped."""

    def __init__(self, home: Home, ballast: Path, stopped: Counter[int]) -> None:
        self._home = home
        self._ballast = ballast
        self._stopped = stopped

    async def inject(self, burst: Burst) -> Outcome:
        """Carry out all faults of the burst; return when the last stop and shortage is over."""
        loop = asyncio.get_running_loop()
        outcome = Outcome(loop.time())
        async with asyncio.TaskGroup() as group:
            for fault in burst.faults:
                group.create_task(self._carry_out(fault, outcome), name=str(fault))
        outcome.ended = loop.time()
        return outcome

    async def _carry_out(self, fault: Fault, outcome: Outcome) -> None:
        await pause(fault.after)
        found = await self._target(fault)
        if found is None:
            outcome.missed.append(fault)
            return
        outcome.done.append((fault, found))
        match fault.kind:
            case Kind.KILL:
                send(found, signal.SIGKILL)
            case Kind.STOP:
                await self._stop(found, fault.seconds)
            case Kind.NO_APPENDS:
                await self._refuse_appends(found, fault.seconds)
            case Kind.DISK_FULL:
                await self._fill_disk(fault.seconds)
            case Kind.NO_DESCRIPTORS:
                await self._take_descriptors(found, fault.seconds)

    async def _target(self, fault: Fault) -> Process | None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + FIND_SECONDS
        while True:
            found = [one for one in processes_of(self._home) if one.part is fault.part]
            if found or loop.time() > deadline:
                break
            await pause(LOOK_AGAIN_SECONDS)
        return found[int(fault.pick * len(found))].process if found else None

    async def _stop(self, process: Process, seconds: float) -> None:
        self._stopped[process.pid] += math.ceil(seconds)
        try:
            send(process, signal.SIGSTOP)
            await pause(seconds)
        finally:
            send(process, signal.SIGCONT)

    async def _refuse_appends(self, broker: Process, seconds: float) -> None:
        """Let no file of the broker grow beyond the present size of the audit trail."""
        shortage = Shortage(self._home, resource.RLIMIT_FSIZE)
        try:
            shortage.begin(broker, self._home.audit.stat().st_size)
            await pause(seconds)
        finally:
            shortage.end()

    async def _fill_disk(self, seconds: float) -> None:
        try:
            await asyncio.to_thread(_fill, self._ballast)
            await pause(seconds)
        finally:
            self._ballast.unlink(missing_ok=True)

    async def _take_descriptors(self, broker: Process, seconds: float) -> None:
        """Leave the broker a few descriptors, and connect more often than that."""
        shortage = Shortage(self._home, resource.RLIMIT_NOFILE)
        silent = []
        try:
            used = len(os.listdir(f"/proc/{broker.pid}/fd"))
            shortage.begin(broker, used + SPARE_DESCRIPTORS)
            for _ in range(SILENT_CONNECTIONS):
                silent.append(connection := socket.socket(socket.AF_UNIX))
                connection.setblocking(False)
                with suppress(OSError):
                    connection.connect(os.fspath(socket_path(self._home)))
            await pause(seconds)
        except OSError:
            pass  # another fault of the burst has killed this broker
        finally:
            shortage.end()
            for connection in silent:
                connection.close()


def _fill(ballast: Path) -> None:
    """Write until the disk has no room left."""
    block = bytes(1 << 20)
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(block):
            pass


async def pause(seconds: float) -> None:
    """Wait on a timer, because faults have durations and some parts of Roost can only be polled."""
    over = asyncio.get_running_loop().create_future()
    timer = asyncio.get_running_loop().call_later(seconds, over.set_result, None)
    try:
        await over
    finally:
        timer.cancel()


class Shortage:
    """A lowered limit of one process and of the processes it starts meanwhile."""

    def __init__(self, home: Home, which: int) -> None:
        self._home = home
        self._which = which
        self._lowered: tuple[int, int] | None = None
        self._before = (0, 0)

    def begin(self, process: Process, soft: int) -> None:
        with suppress(ProcessLookupError):
            self._before = resource.prlimit(process.pid, self._which)
            self._lowered = (soft, self._before[1])
            resource.prlimit(process.pid, self._which, self._lowered)

    def end(self) -> None:
        for found in processes_of(self._home):
            with suppress(ProcessLookupError):
                if resource.prlimit(found.process.pid, self._which) == self._lowered:
                    resource.prlimit(found.process.pid, self._which, self._before)
