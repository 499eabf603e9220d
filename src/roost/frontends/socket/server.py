"""The listening socket: 0600, in a folder that only this user can enter."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

from roost.api.door import Door, Language
from roost.errors import Unauthorized
from roost.frontends.socket.connection import Connection
from roost.wire.hello import ClientKind

BACKLOG = 512
ACCEPTED_A_TURN = 16
"""Connections that the loop accepts before it does anything else. Where the process has no
descriptor left, asyncio fails as often in a turn, and says so each time."""
STRANGERS = 128
"""Connections that may be open without a hello; the oldest makes way for the next."""
SILENT_SECONDS = 1.0
"""Where descriptors are scarce, who has said nothing for so long may be cut off: peers that mean
it say hello at once."""
SPARE = 32
"""Descriptors that new connections leave for the work of those that are there; fewer where the
process may have few."""


class SocketServer:
    """Accepts peers until it is closed."""

    def __init__(
        self, door: Door, path: Path, languages: Mapping[ClientKind, Language] | None = None
    ) -> None:
        self._door = door
        self._languages = languages or {}
        self._path = path
        self._server: asyncio.Server | None = None
        self._socket: socket.socket
        self._file: os.stat_result | None = None
        self._connections: dict[Connection, float] = {}
        """Each with the loop's time when it came."""

    async def start(self, path: Path | None = None) -> None:
        """Listen at the path, or at another one from now on. Started again, it listens anew, and
        keeps the connections it has."""
        self._path = path or self._path
        self._socket = _bound(self._path)
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_unix_server(
                self._connected, sock=self._socket, backlog=ACCEPTED_A_TURN
            )
            self._socket.listen(BACKLOG)
            self._file = os.lstat(self._path)
        except OSError:
            self._socket.close()
            raise
        if self._server is not None:
            self._server.close()
        self._server = server

    def is_bound(self) -> bool:
        """Whether what lies at the path is this server's socket, so that peers can find it. Raises
        ``OSError`` if that cannot be seen now."""
        try:
            found = os.lstat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return self._file is not None and os.path.samestat(found, self._file)

    def make_room(self) -> None:
        """Close the connection that has been silent for longest: descriptors are scarce."""
        silent_since = asyncio.get_running_loop().time() - SILENT_SECONDS
        for connection, came in self._connections.items():
            if connection.is_stranger and came <= silent_since:
                connection.close()
                return

    async def aclose(self, *, for_good: bool = True) -> None:
        """Stop listening, close every connection, remove the socket if it is still ours.

        ``for_good``: tell the peers that the broker ends on purpose. Else they come back at once.
        """
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            if for_good:
                connection.stop()
            else:
                connection.close()
        with contextlib.suppress(OSError):
            if self.is_bound():
                self._path.unlink()

    def _connected(self) -> Connection:
        connection = Connection(self._door, self._gone, self._languages)
        if self._is_crowded():
            self.make_room()
        self._connections[connection] = asyncio.get_running_loop().time()
        strangers = [c for c in self._connections if c.is_stranger]
        for oldest in strangers[:-STRANGERS]:
            oldest.close()
        return connection

    def _gone(self, connection: Connection) -> None:
        self._connections.pop(connection, None)

    def _is_crowded(self) -> bool:
        """Whether the descriptors left are those that are meant for other work."""
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            lowest_free = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return True
        os.close(lowest_free)
        return lowest_free >= limit - min(SPARE, limit // 8)


def _bound(path: Path) -> socket.socket:
    """A socket at ``path``. Whoever holds the broker's lock may replace a dead broker's socket,
    and nothing else that lies there."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise Unauthorized(f"{path} is not a socket.", hint=f"Remove it: rm {path}")
        path.unlink()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    umask = os.umask(0o177)
    try:
        listening.bind(os.fspath(path))
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(umask)
    return listening
