"""A small file system for one ROOST_HOME, so that a test can fill only that disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SIZE = "256m"
KEPT = ("broker.log", "audit.jsonl")


@contextmanager
def own_disk(folder: Path) -> Iterator[bool]:
    """Mount a file system in memory at ``folder``. Yield whether this user may do that. The logs
    there are copied beside the folder before the file system is unmounted."""
    folder.mkdir(mode=0o700)
    options = f"size={SIZE},mode=700"
    mount = ["mount", "-t", "tmpfs", "-o", options, "roost-campaign", str(folder)]
    is_mounted = os.getuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            for name in KEPT:
                with suppress(OSError):
                    shutil.copy(folder / name, folder.parent)
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
