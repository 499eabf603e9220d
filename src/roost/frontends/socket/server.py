"""The listening socket: mode 0600, in a folder that only this user can enter."""

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
from roost.hints import Spelling
from roost.wire.hello import ClientKind

BACKLOG = 512
ACCEPTED_A_TURN = 16
"""Connections that the loop accepts in one turn. When the process has no descriptor left, asyncio
fails and logs this often per turn."""
STRANGERS = 128
"""Connections that may be open without a hello. The next one closes the oldest."""
SILENT_SECONDS = 1.0
"""When descriptors are scarce, a connection without a hello may be closed after this long. Real
peers say hello at once."""
SPARE = 32
"""Descriptors to leave for the work of existing connections; fewer where the process's limit is
low."""


class SocketServer:
    """Accepts peers until it is closed."""

    def __init__(
        self,
        door: Door,
        path: Path,
        languages: Mapping[ClientKind, Language] | None = None,
        spellings: Mapping[ClientKind, Spelling] | None = None,
    ) -> None:
        self._door = door
        self._languages = languages or {}
        self._spellings = spellings or {}
        self._path = path
        self._server: asyncio.Server | None = None
        self._socket: socket.socket
        self._file: os.stat_result | None = None
        self._connections: dict[Connection, float] = {}
        """Each connection, with the loop's time when it came."""

    async def start(self, path: Path | None = None) -> None:
        """Listen at ``path``, or at the path of the constructor.

        A second call listens on a new socket and keeps the existing connections.
        """
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
        """Return whether the file at the path is this server's socket, so that peers can find it.

        Raise ``OSError`` if the path cannot be examined now.
        """
        try:
            found = os.lstat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return self._file is not None and os.path.samestat(found, self._file)

    def make_room(self) -> None:
        """Close the connection that has been silent longest, to free a descriptor."""
        silent_since = asyncio.get_running_loop().time() - SILENT_SECONDS
        for connection, came in self._connections.items():
            if connection.is_stranger and came <= silent_since:
                connection.close()
                return

    async def aclose(self, *, for_good: bool = True) -> None:
        """Stop listening, close every connection, and remove the socket file if it is still ours.

        ``for_good``: tell the peers that the broker stops on purpose. Otherwise they reconnect at
            once.
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
        connection = Connection(self._door, self._gone, self._languages, self._spellings)
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
        """Return whether only the descriptors reserved for other work are left."""
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            lowest_free = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return True
        os.close(lowest_free)
        return lowest_free >= limit - min(SPARE, limit // 8)


def _bound(path: Path) -> socket.socket:
    """Return a socket bound to ``path``.

    The holder of the broker's lock may replace a dead broker's socket there, but no other file.
    """
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
