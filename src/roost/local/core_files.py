"""Keep a process's memory out of core files and away from debuggers of the same user."""

from __future__ import annotations

import contextlib
import resource
import sys

_PR_SET_DUMPABLE = 4


def write_no_core_files() -> None:
    """Forbid core files of this process and of the programs that it starts.

    Linux also gives cores to programs such as systemd-coredump, which ignore the limit. So the
    process is also marked as not dumpable. That mark also keeps other processes of this user from
    reading the memory. Programs that this process starts do not inherit the mark.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        # Imported here because the other processes that import ``local`` do not need it.
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # a libc without prctl
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
