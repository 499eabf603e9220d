"""The broker's log file, which is its stderr: its size is limited, whatever is written there."""

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
    """The log file of the home. Does nothing if stderr of this process is not that file."""

    def __init__(self, home: Home) -> None:
        self._path = home.log
        self._is_ours = self._is_at_path()

    def bound(self) -> None:
        """Begin a new log file if the old one is too large or was removed."""
        with contextlib.suppress(OSError):
            size = os.fstat(sys.stderr.fileno()).st_size
            if not self._is_ours or (size <= LOG_BYTES and self._is_at_path()):
                return
            fresh = open_log(self._path)  # also renames a large log file
            for stream in (sys.stdout, sys.stderr):
                os.dup2(fresh, stream.fileno())
            os.close(fresh)

    def _is_at_path(self) -> bool:
        try:
            return os.path.samestat(os.fstat(sys.stderr.fileno()), os.stat(self._path))
        except OSError:
            return False


class _Redacted(logging.Formatter):
    """Formats as another formatter does, and removes secrets of the person."""

    def __init__(self, inner: logging.Formatter, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._inner = inner
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(self._inner.format(record))


def redact_log(redact: Callable[[str], str]) -> None:
    """Remove secrets from every line that this process logs from now on."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Redacted(handler.formatter or logging.Formatter(), redact))


class Shortage:
    """The loop's exception handler for a lack of descriptors or memory.

    asyncio retries a failed accept every second. This handler logs the error once a minute, not
    each time.

    make_room: called at each failure, to close connections that can make way.
    """

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
