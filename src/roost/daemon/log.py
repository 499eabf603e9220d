"""The broker's log, which is its stderr: bounded, whatever is written there."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import sys
from collections.abc import Callable
from typing import Any

from roost.local.broker_start import LOG_BYTES, open_log
from roost.local.home import Home

logger = logging.getLogger(__name__)
SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
SAID_AGAIN_SECONDS = 60.0


class Log:
    """This process's stderr, if that is the log of the home; else nothing happens to it."""

    def __init__(self, home: Home) -> None:
        self._path = home.log
        self._is_ours = self._is_at_path()

    def bound(self) -> None:
        """Begin a new log if the old one has grown large, or was removed with the home."""
        with contextlib.suppress(OSError):
            size = os.fstat(sys.stderr.fileno()).st_size
            if not self._is_ours or (size <= LOG_BYTES and self._is_at_path()):
                return
            fresh = open_log(self._path)  # puts a large one aside
            for stream in (sys.stdout, sys.stderr):
                os.dup2(fresh, stream.fileno())
            os.close(fresh)

    def _is_at_path(self) -> bool:
        try:
            return os.path.samestat(os.fstat(sys.stderr.fileno()), os.stat(self._path))
        except OSError:
            return False


class Shortage:
    """The loop's exception handler: connections that cannot be accepted for want of descriptors or
    memory are logged once a minute, not once each. asyncio tries again after a second.

    ``make_room``: called each time."""

    def __init__(self, make_room: Callable[[], None]) -> None:
        self._make_room = make_room
        self._said_at: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        is_accepting = str(context.get("message", "")).startswith("socket.accept()")
        if not (is_accepting and isinstance(error, OSError) and error.errno in SHORTAGES):
            loop.default_exception_handler(context)
            return
        self._make_room()
        now = loop.time()
        if self._said_at is None or now - self._said_at >= SAID_AGAIN_SECONDS:
            logger.error("no connection can be accepted: %s", error)
            self._said_at = now
