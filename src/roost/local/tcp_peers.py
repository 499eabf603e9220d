"""Find the process at the other end of a local TCP connection, its environment, and its ports.

Unix sockets name their peer. TCP sockets do not, but Linux lists every connection with its owner.
Other systems (macOS) do not, so no process is found there.

The list is long on a busy machine. So ``is_stranger``, which runs for every connection, asks the
kernel for a single row, by sock_diag(7).
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from roost.local.processes import Peer

Address = tuple[str, int]
_MAPPED: Final = "0000000000000000FFFF0000"
"""Prefix of an IPv4 address in the kernel's IPv6 table."""
_ESTABLISHED: Final = "01"
_LISTENS: Final = "0A"

# sock_diag(7): a netlink header and an inet_diag_req_v2 that names a connection by both its ends.
_NETLINK_SOCK_DIAG: Final = 4
_SOCK_DIAG_BY_FAMILY: Final = 20
_NLM_F_REQUEST: Final = 1
_NLMSG_ERROR: Final = 2
_ALL_STATES: Final = 0xFFFFFFFF
_NO_COOKIE: Final = b"\xff" * 8
_HEADER: Final = struct.Struct("=IHHII")
_WANTED: Final = struct.Struct("=BBBxI")
_ENDS: Final = struct.Struct("!HH16s16sI8s")
_FOUND: Final = struct.Struct("=BBBB48xIIIII")
"""inet_diag_msg: family, state, timer, retries, ends, expires, two queues, uid, inode."""
_REPLY_BYTES: Final = 4096
_KERNEL_SECONDS: Final = 1.0


def tcp_peer(here: Address, there: Address) -> Peer | None:
    """Return the process that holds the ``there`` end of a connection to ``here``, both IPv4.

    ``pid`` is 0 if only the user is known: other users' processes cannot be inspected.
    """
    if sys.platform != "linux":
        return None
    ends = _written(there), _written(here)
    for row in _rows():
        local, remote, state, uid, inode = row[1], row[2], row[3], row[7], row[9]
        if state == _ESTABLISHED and (_short(local), _short(remote)) == ends:
            return Peer(uid=int(uid), pid=_holder(inode))
    return None


def is_stranger(here: Address, there: Address) -> bool:
    """Return whether another user holds the ``there`` end of a connection to ``here``, both IPv4.

    A connection that its owner has closed meanwhile counts as a stranger's, because the kernel
    lists it as root's. False where the system does not tell owners (macOS).
    """
    if sys.platform != "linux":
        return False
    try:
        owner = _diagnosed(here, there)
    except OSError:  # no sock_diag in this kernel or sandbox
        rows = list(_rows())
        if not rows:
            return False
        owner = _listed(here, there, rows)
    return owner != os.getuid()


def _diagnosed(here: Address, there: Address) -> int | None:
    """Return the user who holds the ``there`` end, from one row of the kernel's table."""
    ends = _ENDS.pack(
        there[1], here[1], socket.inet_aton(there[0]), socket.inet_aton(here[0]), 0, _NO_COOKIE
    )
    wanted = _WANTED.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, _ALL_STATES) + ends
    length = _HEADER.size + len(wanted)
    header = _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_KERNEL_SECONDS)
        kernel.sendto(header + wanted, (0, 0))
        reply = kernel.recv(_REPLY_BYTES)
    _, kind, *_ = _HEADER.unpack_from(reply)
    if kind == _NLMSG_ERROR:
        (error,) = struct.unpack_from("=i", reply, _HEADER.size)
        if -error == errno.ENOENT:
            return None
        raise OSError(-error, os.strerror(-error))
    *_, uid, inode = _FOUND.unpack_from(reply, _HEADER.size)
    return int(uid) if inode else None


def _listed(here: Address, there: Address, rows: list[list[str]]) -> int | None:
    """Return the user who holds the ``there`` end, from the whole table."""
    ends = _written(there), _written(here)
    for row in rows:
        local, remote, uid, inode = row[1], row[2], row[7], row[9]
        if (_short(local), _short(remote)) == ends:
            return int(uid) if inode != "0" else None
    return None


def listening(pid: int) -> frozenset[int]:
    """Return the loopback ports that the process itself listens on."""
    if sys.platform != "linux":
        return frozenset()
    here = _written(("127.0.0.1", 0)).removesuffix("0000")
    rows = [row for row in _rows() if row[3] == _LISTENS and _short(row[1]).startswith(here)]
    return frozenset(
        int(row[1].rpartition(":")[2], 16) for row in rows if _holds(pid, f"socket:[{row[9]}]")
    )


def started_with(pid: int, name: str) -> str | None:
    """Return an environment variable as the process was started with it.

    Returns None if it was not set, or if the process cannot be inspected.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read().split(b"\0")
    except OSError:
        return None
    start = os.fsencode(f"{name}=")
    found = next((entry for entry in environment if entry.startswith(start)), None)
    return None if found is None else os.fsdecode(found.removeprefix(start))


def _rows() -> Iterator[list[str]]:
    """Yield the rows of proc_net_tcp(5).

    Columns: number, local, remote, state, …, uid (7), timeout, inode (9).
    """
    for table in ("tcp", "tcp6"):
        with suppress(OSError), open(f"/proc/net/{table}", encoding="ascii") as file:
            next(file)
            yield from (line.split() for line in file)


def _written(address: Address) -> str:
    """Return the address as the kernel writes it: a number in native byte order, then the port."""
    host, port = address
    number = int.from_bytes(socket.inet_aton(host), sys.byteorder)
    return f"{number:08X}:{port:04X}"


def _short(end: str) -> str:
    return end.removeprefix(_MAPPED)


def _holder(inode: str) -> int:
    """Return the process that has that socket open, or 0 if none can be seen."""
    wanted = f"socket:[{inode}]"
    for name in os.listdir("/proc"):
        if name.isdigit() and _holds(int(name), wanted):
            return int(name)
    return 0


def _holds(pid: int, wanted: str) -> bool:
    with suppress(OSError):  # another user's process, or it ended meanwhile
        folder = f"/proc/{pid}/fd"
        for descriptor in os.listdir(folder):
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(f"{folder}/{descriptor}") == wanted:
                    return True
    return False
