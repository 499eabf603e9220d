"""The HTTP port: on 127.0.0.1 only, and the same after every restart."""

from __future__ import annotations

import contextlib
import logging
import socket

from roost.errors import BadRequest
from roost.local.home import Home, read_secret, write_secret

HOST = "127.0.0.1"
BACKLOG = 4096
"""Connections that wait in the kernel until there is a place for them (``reception.py``)."""
logger = logging.getLogger(__name__)


def bound(home: Home, port: int | None) -> socket.socket:
    """Return a listening socket: on ``port``, else on the port used before, else on any.

    Raise ``BadRequest`` if ``port`` is given and cannot be used.
    """
    if port is not None:
        try:
            return _listen(port)
        except OSError as problem:
            raise BadRequest(
                f"port: {port} cannot be served: {problem.strerror}.",
                hint="Choose another with --port, or leave it out.",
                field="port",
            ) from None
    kept = _kept(home)
    if kept is not None:
        with contextlib.suppress(OSError):
            return _listen(kept)
        logger.warning("port %d, where HTTP was served before, is taken", kept)
    listening = _listen(0)
    write_secret(home.http_port, str(listening.getsockname()[1]).encode())
    return listening


def _kept(home: Home) -> int | None:
    text = read_secret(home.http_port) or b""
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else None


def _listen(port: int) -> socket.socket:
    # Name the protocol: asyncio disables Nagle's algorithm only on sockets that say TCP.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Do not use SO_REUSEPORT, or another process could listen beside us. SO_REUSEADDR only
        # ignores the remains of closed connections.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening
