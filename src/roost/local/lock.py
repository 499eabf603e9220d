"""A lock between processes. The kernel releases it when its holder dies, however it dies.

Roost never removes the lock's file: a waiter could then hold a lock on the removed file while a
third process locks the new one. Somebody else may remove the file, with the whole folder. So a lock
counts only while the locked file is the one at the path.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from roost.errors import Timeout
from roost.local.deadline import Deadline


class Lock:
    """``flock`` on a file. As a context manager it waits up to ``timeout_seconds``."""

    def __init__(self, path: Path, timeout_seconds: float = 0.0) -> None:
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._fd: int | None = None

    @property
    def is_held(self) -> bool:
        """True while this object holds the lock."""
        return self._fd is not None

    def try_acquire(self) -> bool:
        """Take the lock without waiting. Returns False if any process or this object holds it."""
        if self._fd is not None:
            return False
        # Close-on-exec, because a broker or browser we start must not keep the lock after we end.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_named = self._is_at_path(fd)
        except BlockingIOError:
            os.close(fd)
            return False
        except BaseException:
            os.close(fd)
            raise
        if not is_named:  # somebody removed the file since it was opened
            os.close(fd)
            return False
        self._fd = fd
        return True

    def is_current(self) -> bool:
        """Return whether the locked file is still the one at the path.

        Raises ``OSError`` if that cannot be seen now.
        """
        return self._fd is not None and self._is_at_path(self._fd)

    def retake(self) -> bool:
        """Lock the file that is at the path now, or a new one. Return whether that was possible.

        If another process holds that file's lock, this object keeps its lock on the old file.
        """
        successor = Lock(self._path)
        if not successor.try_acquire():
            return False
        self.release()
        self._fd = successor._fd
        return True

    def _is_at_path(self, fd: int) -> bool:
        try:
            found = os.stat(self._path, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(found, os.fstat(fd))

    def acquire(self, timeout_seconds: float) -> None:
        """Take the lock, waiting if necessary. Raises ``Timeout``.

        flock has no timeout of its own, and an alarm signal or a thread would affect the caller. So
        this tries again every 20 ms.
        """
        deadline = Deadline(timeout_seconds)
        while not self.try_acquire():
            if deadline.has_passed():
                raise Timeout(
                    f"Another process has held {self._path} for {timeout_seconds:g} s.",
                    hint=f"See who it is: fuser -v {self._path}",
                )
            deadline.pause()

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Lock:
        self.acquire(self._timeout_seconds)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
