"""The listening socket: 0600, in a folder that only this user can enter."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

from roost.api.door import Door, Language
from roost.errors import Unauthorized
from roost.frontends.socket.connection import Connection
from roost.wire.hello import ClientKind

BACKLOG = 512
STRANGERS = 128
"""Connections that may be open without a hello; the oldest makes way for the next."""


class SocketServer:
    """Accepts peers until it is closed."""

    def __init__(
        self, door: Door, path: Path, languages: Mapping[ClientKind, Language] | None = None
    ) -> None:
        self._door = door
        self._languages = languages or {}
        self._path = path
        self._server: asyncio.Server | None = None
        self._connections: dict[Connection, None] = {}

    async def start(self) -> None:
        listening = _bound(self._path)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(
            self._connected, sock=listening, backlog=BACKLOG
        )

    async def aclose(self) -> None:
        """Stop listening, close every connection, remove the socket."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            connection.stop()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def _connected(self) -> Connection:
        connection = Connection(
            self._door, lambda gone: self._connections.pop(gone, None), self._languages
        )
        self._connections[connection] = None
        strangers = [c for c in self._connections if c.is_stranger]
        for oldest in strangers[:-STRANGERS]:
            oldest.close()
        return connection


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
