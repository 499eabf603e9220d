"""How much memory and processor time process trees use, as the operating system reports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

_PS_SECONDS: Final = 10.0
_KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class TreeUsage:
    """What a process and its descendants use.

    memory: bytes. On Linux, memory that several processes share is divided among them.
    processor_seconds: processor time of the processes that live now, since each began.
    """

    processes: int
    memory: int
    processor_seconds: float


@dataclass(frozen=True, slots=True)
class _Row:
    pid: int
    parent: int
    processor_seconds: float
    resident: int


def tree_usages(roots: Sequence[int]) -> dict[int, TreeUsage]:
    """Return what the tree of each root uses. A root that is gone is left out.

    This reads a file for each process, so call it in a thread.
    """
    rows = {row.pid: row for row in (_proc_rows() if sys.platform == "linux" else _ps_rows())}
    children: dict[int, list[int]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row.pid)
    found = {}
    for root in roots:
        tree, waiting = [], [root] if root in rows else []
        while waiting:
            row = rows[waiting.pop()]
            tree.append(row)
            waiting += children.get(row.pid, ())
        if tree:
            found[root] = TreeUsage(
                processes=len(tree),
                memory=sum(_memory(row) for row in tree),
                processor_seconds=sum(row.processor_seconds for row in tree),
            )
    return found


def _memory(row: _Row) -> int:
    """Return the process's share of memory, or all of its resident memory if that is unknown."""
    with suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{row.pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * _KIB
    return row.resident


def _proc_rows() -> Iterator[_Row]:
    """Read ``/proc/<pid>/stat`` of every process, see proc_pid_stat(5)."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        with suppress(OSError):  # the process ended meanwhile
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / ticks
            yield _Row(int(name), int(fields[1]), seconds, int(fields[21]) * page)


def _ps_rows() -> Iterator[_Row]:
    printed = subprocess.run(
        ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "rss=", "-o", "time="],
        env={"PATH": "/bin:/usr/bin", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="ascii",
        errors="replace",
        timeout=_PS_SECONDS,
        check=False,
    ).stdout
    for line in printed.splitlines():
        pid, parent, resident, used = line.split()
        seconds = 0.0
        for part in used.replace("-", ":").split(":"):
            seconds = seconds * 60 + float(part)
        yield _Row(int(pid), int(parent), seconds, int(resident) * _KIB)
