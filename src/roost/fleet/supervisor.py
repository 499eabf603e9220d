"""Keeps a process of the fleet running on this machine: gateway, node, Ray, or Ray's engine.

The supervisor holds a lock, so that there is one per machine and role. It starts the process again
when the process dies, and ends with it when the process says that it is done.
"""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from roost.errors import Internal
from roost.local.broker_start import start_detached
from roost.local.deadline import Deadline
from roost.local.home import Home, read_secret, write_secret
from roost.local.lock import Lock
from roost.local.processes import Process, end_tree, identify, is_alive, wait_until_gone

GATEWAY, NODE, RAY, ENGINE = "gateway", "node", "ray", "engine"
ROLES = (GATEWAY, NODE, RAY, ENGINE)
START_SECONDS = 60.0
STOP_SECONDS = 20.0
KILL_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
DONE, FAILED, CRASHED = 0, 1, 2
"""Exit codes. A process that fails before it was ready is not restarted, one that crashes is."""
logger = logging.getLogger(__name__)


def command(role: str) -> list[str]:
    return [sys.executable, "-P", "-m", "roost.fleet", role]


def start(home: Home, folder: Path, role: str) -> None:
    """Start the supervisor of a role in the background, and wait until its process is ready.

    Does nothing if it runs already. Raises the error that the process reports.
    """
    if running(folder, role) is not None:
        return
    start_detached(
        home,
        command("keep"),
        [role],
        log=folder / f"{role}.log",
        timeout_seconds=START_SECONDS,
    )


def running(folder: Path, role: str) -> Process | None:
    """Return the supervisor of that role, if it runs."""
    try:
        fields = json.loads(read_secret(_record(folder, role)) or b"null")
    except ValueError:
        return None
    match fields:
        case {"pid": int(pid), "started": str(started)}:
            process = Process(pid, started)
            return process if is_alive(process) else None
    return None


def stop(folder: Path, role: str) -> bool:
    """End the supervisor of a role with its process. Returns False if none runs."""
    process = running(folder, role)
    if process is None:
        return False
    os.kill(process.pid, signal.SIGTERM)
    if not wait_until_gone(process, STOP_SECONDS) and not end_tree(process, KILL_SECONDS):
        raise Internal(f"pid {process.pid} does not end.", hint=f"kill -9 {process.pid}")
    return True


def keep(folder: Path, role: str, ready_fd: int | None) -> int:
    """Run the process of a role until it is done or a signal comes. Returns the exit code.

    ready_fd: given to the first process, which reports there that it is ready or why it failed.
    """
    lock = Lock(folder / f"{role}.lock")
    if not lock.try_acquire():
        logger.info("another supervisor keeps the %s", role)
        return DONE
    own = identify(os.getpid())
    assert own is not None
    write_secret(
        _record(folder, role),
        json.dumps({"pid": own.pid, "started": own.started}).encode(),
    )
    wake, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring)
    stopping = False

    def note(number: int, frame: object) -> None:
        nonlocal stopping
        stopping = stopping or number in (signal.SIGTERM, signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, note)
    pause, is_first = FIRST_PAUSE, True
    try:
        while True:
            fds = () if ready_fd is None else (ready_fd,)
            options = [] if ready_fd is None else ["--ready-fd", str(ready_fd)]
            child = subprocess.Popen([*command(role), *options], pass_fds=fds)
            if ready_fd is not None:
                os.close(ready_fd)
                ready_fd = None
            told = False
            while child.poll() is None:
                if stopping and not told:
                    child.terminate()
                    told = True
                _wait(wake, 1.0)
            if stopping or child.returncode == DONE or (is_first and child.returncode == FAILED):
                return DONE
            is_first = False
            logger.error("the %s ended with %s; started again", role, child.returncode)
            if _was_told(wake, pause, lambda: stopping):
                return DONE
            pause = min(pause * 2, LONGEST_PAUSE)
    finally:
        _record(folder, role).unlink(missing_ok=True)
        lock.release()


def _wait(fd: int, seconds: float) -> None:
    """Wait for a signal, but no longer than ``seconds``."""
    if select.select([fd], [], [], seconds)[0]:
        os.read(fd, 64)


def _was_told(fd: int, seconds: float, is_over: Callable[[], bool]) -> bool:
    """Wait that long before the next start. Returns True at once if a signal ends the wait."""
    deadline = Deadline(seconds)
    while not deadline.has_passed() and not is_over():
        _wait(fd, deadline.remaining())
    return is_over()


def _record(folder: Path, role: str) -> Path:
    return folder / f"{role}-supervisor.json"
