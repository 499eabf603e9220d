"""A lock between processes, let go by the kernel when its holder dies, however it dies.

The file is never removed: a waiter could then hold a lock on a file that has no name any more while
a third process locks its successor.
"""

from __future__ import annotations

import fcntl
import os
import select
from pathlib import Path
from types import TracebackType
from typing import Final

from roost.errors import Timeout
from roost.local.deadline import Deadline

_LOOK_AGAIN_SECONDS: Final = 0.02


class Lock:
    """``flock`` on a file. As a context manager it waits up to ``timeout_seconds``."""

    def __init__(self, path: Path, timeout_seconds: float = 0.0) -> None:
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._fd: int | None = None

    @property
    def is_held(self) -> bool:
        return self._fd is not None

    def try_acquire(self) -> bool:
        """Take it if nobody has it, without waiting. Also false if this very object has it."""
        if self._fd is not None:
            return False
        # Close-on-exec: a broker or browser we start must not keep the lock after we are gone.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return True

    def acquire(self, timeout_seconds: float) -> None:
        """Take it, waiting if need be; ``Timeout`` when it stays taken.

        flock has no timeout of its own, and an alarm signal or a thread would be the caller's
        business; so this looks again every 20 ms.
        """
        deadline = Deadline(timeout_seconds)
        while not self.try_acquire():
            if deadline.has_passed():
                raise Timeout(
                    f"Another process has held {self._path} for {timeout_seconds:g} s.",
                    hint=f"See who it is: fuser -v {self._path}",
                )
            select.select([], [], [], min(_LOOK_AGAIN_SECONDS, deadline.remaining()))

    def release(self) -> None:
        """Let it go; nothing happens if it is not held."""
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
