"""Starts the process of a browser, with its error output in a log file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from roost.errors import BrowserLost

START_SECONDS = 30.0
Spawned = Callable[[int], None]
"""Called with the pid of a browser that runs but has not answered yet."""


def unwatched(pid: int) -> None:
    """Do nothing: a ``Spawned`` for callers without a watchdog."""


def spawn(
    command: list[str],
    log: Path,
    descriptors: Mapping[int, int] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Start a browser without input or output and return its pid.

    log: file for the browser's errors.
    descriptors: further descriptors for the browser (its number: ours).
    """
    null = os.open(os.devnull, os.O_RDWR)
    errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    places = {0: null, 1: null, 2: errors, **(descriptors or {})}
    whole = _without_higher_priority(command)
    try:
        return os.posix_spawn(
            whole[0],
            whole,
            environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, ours, there) for there, ours in places.items()],
        )
    except OSError as problem:
        raise BrowserLost(
            f"Cannot run {command[0]}: {problem.strerror}.",
            hint="Give another with --browser-path, or run `roost browser install`.",
        ) from None
    finally:
        os.close(null)
        os.close(errors)


def _without_higher_priority(command: list[str]) -> list[str]:
    """Return the command without root's right to raise its own priority.

    As root, Chromium sets its main thread to nice -8. The broker would then wait for that thread
    whenever pages keep it busy. Other users do not have that right.
    """
    setpriv = shutil.which("setpriv") if os.geteuid() == 0 else None
    if setpriv is None or not os.access(command[0], os.X_OK):
        return command
    return [setpriv, "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "--", *command]


def last_line(log: Path) -> str:
    """Return the last line of the browser's error output, cut to 300 characters."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line[:300] for line in reversed(lines) if line.strip()), "it said nothing")
