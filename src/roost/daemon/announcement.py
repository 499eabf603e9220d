"""The files by which others find this broker, and their repair if somebody removes them.

The files are the lock, the socket, ``endpoint.json`` and the token. The lock decides which process
is the broker of a home. A broker that holds the lock file writes all missing files again. If the
lock file itself was removed, the broker creates and takes a new one. If another broker holds the
new lock, this broker must stop.
"""

from __future__ import annotations

import contextlib
import logging
import os

from roost import __version__
from roost.errors import Internal, RoostError
from roost.frontends.socket.server import SocketServer
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home, socket_path, write_secret
from roost.local.lock import Lock
from roost.local.processes import identify
from roost.vocabulary import WIRE_VERSION

logger = logging.getLogger(__name__)


class Announcement:
    """Publish where the broker listens, and keep its files in place.

    Create it after the lock is taken, and call ``publish`` once the socket listens.

    lock: the broker's lock, which this process holds.
    token: the operator's token, which callers read from the home.
    http: the address where HTTP is served.
    """

    def __init__(
        self, home: Home, lock: Lock, socket: SocketServer, *, token: str, http: str | None
    ) -> None:
        self._home = home
        self._lock = lock
        self._socket = socket
        self._token = token
        self._http = http
        self._file: os.stat_result | None = None
        self._is_failing = False

    def publish(self) -> None:
        """Write the endpoint file."""
        process = identify(os.getpid())
        if process is None:
            raise Internal("This process cannot be found in the process table.")
        where = socket_path(self._home)
        write_endpoint(self._home, Endpoint(where, process, __version__, WIRE_VERSION, self._http))
        self._file = os.stat(self._home.endpoint)

    async def renew(self) -> bool:
        """Write removed files again. Returns False if another broker has this home now.

        If a file cannot be checked or written (no descriptor left, a disk error), log that and
        leave it to the next call: a failed check does not mean that the file is gone."""
        try:
            if not self._lock.is_current():
                self._home.create()
                if not self._lock.retake():
                    return False
                logger.warning("the lock file was removed; made again")
            self._put_back_token()
            if not self._socket.is_bound():
                logger.warning("the socket was removed; listening again")
                await self._socket.start(socket_path(self._home))
            if not self._is_published():
                logger.warning("endpoint.json was removed or replaced; written again")
                self.publish()
        except (OSError, RoostError) as error:
            if not self._is_failing:
                logger.error("cannot make sure that this broker is found: %s", error)
            self._is_failing = True
        else:
            self._is_failing = False
        return True

    def withdraw(self) -> None:
        """Remove the endpoint file, if it is still this broker's."""
        with contextlib.suppress(OSError):
            if self._is_published():
                self._home.endpoint.unlink()

    def _put_back_token(self) -> None:
        if not os.path.lexists(self._home.token):
            write_secret(self._home.token, self._token.encode())

    def _is_published(self) -> bool:
        try:
            found = os.lstat(self._home.endpoint)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return self._file is not None and _identity(found) == _identity(self._file)


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    """Identify a file. A new file may reuse the inode number of a removed one, so the time of
    writing is included."""
    return found.st_dev, found.st_ino, found.st_mtime_ns
