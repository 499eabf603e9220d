"""Who is at the other end of a TCP connection within this machine, and what it was started with;
and where a process listens.

Unix sockets tell their peer; TCP sockets do not, but Linux lists every connection with its owner.
Where it does not (macOS), nobody is found, and whoever asks has to do without.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from roost.local.processes import Peer

Address = tuple[str, int]
_MAPPED: Final = "0000000000000000FFFF0000"
"""How an IPv4 address stands in the IPv6 table, before the address itself."""
_ESTABLISHED: Final = "01"
_LISTENS: Final = "0A"


def tcp_peer(here: Address, there: Address) -> Peer | None:
    """The process that holds the ``there`` end of a connection to ``here``, both IPv4. ``pid`` is 0
    where only its user is known: another user's processes cannot be looked into."""
    if sys.platform != "linux":
        return None
    ends = _written(there), _written(here)
    for row in _rows():
        local, remote, state, uid, inode = row[1], row[2], row[3], row[7], row[9]
        if state == _ESTABLISHED and (_short(local), _short(remote)) == ends:
            return Peer(uid=int(uid), pid=_holder(inode))
    return None


def listening(pid: int) -> frozenset[int]:
    """The ports of this machine's own loopback address that the process itself listens on."""
    if sys.platform != "linux":
        return frozenset()
    here = _written(("127.0.0.1", 0)).removesuffix("0000")
    rows = [row for row in _rows() if row[3] == _LISTENS and _short(row[1]).startswith(here)]
    return frozenset(
        int(row[1].rpartition(":")[2], 16) for row in rows if _holds(pid, f"socket:[{row[9]}]")
    )


def started_with(pid: int, name: str) -> str | None:
    """An environment variable as the process was started with it; None if it was not, or if it
    cannot be looked into."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read().split(b"\0")
    except OSError:
        return None
    start = os.fsencode(f"{name}=")
    found = next((entry for entry in environment if entry.startswith(start)), None)
    return None if found is None else os.fsdecode(found.removeprefix(start))


def _rows() -> Iterator[list[str]]:
    """See proc_net_tcp(5): number, local, remote, state, …, uid (7), timeout, inode (9)."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError), open(f"/proc/net/{table}", encoding="ascii") as file:
            next(file)
            yield from (line.split() for line in file)


def _written(address: Address) -> str:
    """As the kernel writes it: the address as a number of this machine's, then the port."""
    host, port = address
    number = int.from_bytes(socket.inet_aton(host), sys.byteorder)
    return f"{number:08X}:{port:04X}"


def _short(end: str) -> str:
    return end.removeprefix(_MAPPED)


def _holder(inode: str) -> int:
    """The process that has that socket open; 0 if it is not to be seen."""
    wanted = f"socket:[{inode}]"
    for name in os.listdir("/proc"):
        if name.isdigit() and _holds(int(name), wanted):
            return int(name)
    return 0


def _holds(pid: int, wanted: str) -> bool:
    with suppress(OSError):  # another user's, or gone meanwhile
        folder = f"/proc/{pid}/fd"
        for descriptor in os.listdir(folder):
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(f"{folder}/{descriptor}") == wanted:
                    return True
    return False
