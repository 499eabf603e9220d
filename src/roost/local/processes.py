"""Identify processes by pid and start time, find a socket's peer, and end process trees.

A pid alone names nobody: the kernel gives it to another process later. So a process is its pid and
its start time, and every signal goes to a process whose start time was checked.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Protocol

from roost.local.deadline import Deadline

DEPTH_MAX: Final = 64
"""Maximum number of ancestors to look at."""
_KILL_SECONDS: Final = 5.0
_LOOK_AGAIN_SECONDS: Final = 0.02
_PS_SECONDS: Final = 10.0
_PS_COLUMNS: Final = ("pid", "ppid", "pgid", "state", "tty", "lstart", "ucomm")
_COMMAND_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Process:
    """One process, distinguished from later processes with the same pid."""

    pid: int
    started: str
    """Start time as an opaque text. It stays the same for a process and differs after a reboot."""
    program: str = field(default="", compare=False)
    """Name of the program that runs now, as the kernel cuts it (15 characters)."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The process that connected, as the kernel reports it. ``pid`` is 0 if it cannot be seen."""

    uid: int
    pid: int


def identify(pid: int) -> Process | None:
    """Return the process that has this pid now.

    Returns None if there is none, if it is a zombie, or if the system cannot tell.
    """
    with suppress(OSError):
        row = _table.row(pid)
        return row.process if row else None
    return None


def is_alive(process: Process) -> bool:
    """Return whether exactly that process still runs. A zombie does not; if unknown, it does."""
    try:
        row = _table.row(process.pid)
    except OSError:
        return True  # no descriptor left to look with, which does not prove that the process ended
    return row is not None and row.process == process


def ancestors(pid: int) -> list[Process]:
    """Return the parent of ``pid``, its parent, and so on, as far as they can be seen."""
    return _ancestors(pid, _table.look_up())


def has_terminal(pid: int) -> bool:
    """Return whether the process has a controlling terminal."""
    row = _table.row(pid)
    return row is not None and row.has_terminal


def session_leader(pid: int) -> Process | None:
    """Return the first process of the terminal that controls the process.

    None if no terminal controls it, or if that first process has ended.
    """
    with suppress(OSError):
        if has_terminal(pid):
            return identify(os.getsid(pid))
    return None


def command_lines(pids: Sequence[int]) -> dict[int, list[str]]:
    """Return the arguments of each process, its program first. A process may rewrite its own."""
    return _table.command_lines(pids)


def _ancestors(pid: int, row: Callable[[int], _Row | None]) -> list[Process]:
    found: list[Process] = []
    child = row(pid)
    while child and len(found) < DEPTH_MAX:
        parent = row(child.parent)
        # A parent younger than its child is another process that got the pid of the real parent.
        if parent is None or parent.born > child.born:
            break
        found.append(parent.process)
        child = parent
    return found


def wait_until_gone(process: Process, timeout_seconds: float) -> bool:
    """Wait until ``process`` has ended, child or not. Return whether it has."""
    deadline = Deadline(timeout_seconds)
    pidfd = open_pidfd(process.pid)
    try:
        while is_alive(process) and not deadline.has_passed():
            _wait_for_exit(pidfd, deadline.remaining())
    finally:
        if pidfd is not None:
            os.close(pidfd)
    return not is_alive(process)


def end_tree(process: Process, grace_seconds: float) -> bool:
    """End ``process``, its descendants and, if it leads one, its process group.

    Sends SIGTERM to all, waits up to ``grace_seconds``, then kills what is left for up to 5 s.
    Returns whether nothing is left. Touches nothing if ``process`` is gone or its pid names another
    process now. The parent must still reap it.
    """
    known = {process}
    _signal_all(_living(process, known), signal.SIGTERM)
    _wait_for_all(known, grace_seconds)
    deadline = Deadline(_KILL_SECONDS)
    # Repeat, because processes may have forked since the last look.
    while (left := _living(process, known)) and not deadline.has_passed():
        _signal_all(left, signal.SIGKILL)
        _wait_for_all(left, deadline.remaining())
    return not left


class HasOptions(Protocol):
    """A socket, or asyncio's ``TransportSocket``."""

    def getsockopt(self, level: int, optname: int, buflen: int, /) -> bytes: ...


def peer_of(sock: HasOptions) -> Peer:
    """Return the process that called ``connect`` at the other end of a connected unix socket."""
    if sys.platform == "linux":
        ucred = struct.Struct("=iII")  # pid, uid, gid
        sent = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, ucred.size)
        pid, uid, _gid = ucred.unpack(sent)
        return Peer(uid=uid, pid=pid)
    return _mac_peer(sock)


def _mac_peer(sock: HasOptions) -> Peer:
    sol_local, local_peercred, local_peerpid = 0, 0x001, 0x002  # sys/un.h
    # struct xucred: u_int version, uid_t uid, short ngroups, (2 bytes of padding,) gid_t[16]
    xucred = struct.Struct("=IIh2x16I")
    version, uid, *_groups = xucred.unpack(sock.getsockopt(sol_local, local_peercred, xucred.size))
    if version != 0:  # XUCRED_VERSION
        raise OSError(f"struct xucred has version {version}, which is not known here")
    (pid,) = struct.unpack("=i", sock.getsockopt(sol_local, local_peerpid, 4))
    return Peer(uid=uid, pid=pid)


@dataclass(frozen=True, slots=True)
class _Row:
    """One living process as the kernel lists it."""

    process: Process
    parent: int
    group: int
    born: int
    """Start time as a number. A parent never has a later one than its child."""
    has_terminal: bool = False


class _ProcessTable(Protocol):
    def row(self, pid: int) -> _Row | None:
        """Return the process's row. Raises ``OSError`` if no descriptor is left to look with."""

    def rows(self) -> Iterator[_Row]: ...

    def look_up(self) -> Callable[[int], _Row | None]:
        """Return a function like ``row`` that is fast for many pids at one moment."""

    def command_lines(self, pids: Sequence[int]) -> dict[int, list[str]]: ...


class _ProcFs:
    """The process table on Linux: ``/proc/<pid>/stat``, see proc_pid_stat(5)."""

    def row(self, pid: int) -> _Row | None:
        if pid <= 0:
            return None
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                line = file.read()
        except OSError as problem:
            if problem.errno in (errno.EMFILE, errno.ENFILE):
                raise
            return None
        # The second field is the program's name in parentheses and may hold any byte, ")" included.
        name, _, fields = line.rpartition(b")")
        state, parent, group, *rest = fields.split()
        # A zombie with other threads alive (num_threads above 1) still has its sockets and locks.
        if state in (b"Z", b"X", b"x") and int(rest[14]) <= 1:
            return None
        ticks = int(rest[16])
        program = name.partition(b"(")[2].decode("utf-8", "replace")
        process = Process(pid, f"{_boot()}-{ticks}", program)
        return _Row(process, int(parent), int(group), ticks, has_terminal=rest[1] != b"0")

    def rows(self) -> Iterator[_Row]:
        for name in os.listdir("/proc"):
            with suppress(OSError):
                if name.isdecimal() and (row := self.row(int(name))):
                    yield row

    def look_up(self) -> Callable[[int], _Row | None]:
        return self.row

    def command_lines(self, pids: Sequence[int]) -> dict[int, list[str]]:
        found = {}
        for pid in pids:
            with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read(_COMMAND_BYTES).rstrip(b"\0").split(b"\0")
                found[pid] = [os.fsdecode(word) for word in words]
        return found


class _Ps:
    """The process table on macOS and similar systems: the output of ``ps``."""

    def row(self, pid: int) -> _Row | None:
        return next(_parse_ps(self._run("-p", str(pid))), None) if pid > 0 else None

    def rows(self) -> Iterator[_Row]:
        return _parse_ps(self._run("-A"))

    def look_up(self) -> Callable[[int], _Row | None]:
        return {row.process.pid: row for row in self.rows()}.get

    def command_lines(self, pids: Sequence[int]) -> dict[int, list[str]]:
        if not pids:
            return {}
        lines = self._run("-p", ",".join(map(str, pids)), columns=("pid", "args")).splitlines()
        words = (line.split() for line in lines)
        return {int(pid): line for pid, *line in words}

    def _run(self, *which: str, columns: Sequence[str] = _PS_COLUMNS) -> str:
        import subprocess

        printed = [part for name in columns for part in ("-o", f"{name}=")]
        done = subprocess.run(
            ["ps", *which, *printed],
            # Start times are printed by locale and time zone; they must not depend on the caller.
            env={"PATH": "/bin:/usr/bin", "LC_ALL": "C", "TZ": "UTC0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="ascii",
            errors="replace",
            timeout=_PS_SECONDS,
            check=False,  # ps exits with 1 if there is no such process
        )
        return done.stdout


def _parse_ps(text: str) -> Iterator[_Row]:
    import calendar
    import time

    for line in text.splitlines():
        # The start time is five words; the program's name may hold blanks.
        pid, parent, group, state, tty, *started, program = line.split(None, 10)
        if not state.startswith("Z"):
            born = calendar.timegm(time.strptime(" ".join(started), "%a %b %d %H:%M:%S %Y"))
            process = Process(int(pid), str(born), program.strip())
            yield _Row(process, int(parent), int(group), born, has_terminal="?" not in tty)


_table: _ProcessTable = _ProcFs() if sys.platform == "linux" else _Ps()


@cache
def _boot() -> str:
    # Ticks count from boot, so after a reboot the same pid can start at the same tick.
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _living(root: Process, known: set[Process]) -> set[Process]:
    """Return the living processes of ``root``'s tree, and add new ones to ``known``."""
    rows = {row.process.pid: row for row in _table.rows()}
    children: dict[int, list[_Row]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row)
    waiting = [row for row in rows.values() if row.process in known]
    # The kernel does not reuse a group's number while one of its members lives.
    if any(row.group == root.pid for row in waiting):
        waiting += [row for row in rows.values() if row.group == root.pid]
    found: set[Process] = set()
    while waiting:
        row = waiting.pop()
        if row.process not in found and row.process.pid != os.getpid():
            found.add(row.process)
            waiting += children.get(row.process.pid, ())
    known |= found
    return found


def _signal_all(processes: set[Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            _signal(process, number)


def _signal(process: Process, number: signal.Signals) -> None:
    pidfd = open_pidfd(process.pid)
    try:
        if not is_alive(process):
            return
        if pidfd is not None and sys.platform == "linux":
            # The process was checked after its pidfd was opened, so no other process gets the
            # signal.
            signal.pidfd_send_signal(pidfd, number)
        else:
            os.kill(process.pid, number)
    finally:
        if pidfd is not None:
            os.close(pidfd)


def _wait_for_all(processes: set[Process], seconds: float) -> None:
    deadline = Deadline(seconds)
    for process in processes:
        wait_until_gone(process, deadline.remaining())


def open_pidfd(pid: int) -> int | None:
    """Open a descriptor of that process, or return None where the system has no pidfds."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _wait_for_exit(pidfd: int | None, seconds: float) -> None:
    if pidfd is None:
        select.select([], [], [], min(_LOOK_AGAIN_SECONDS, seconds))
        return
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(seconds * 1000)
