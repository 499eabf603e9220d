"""A process that holds secrets leaves no core file, whatever kills it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DIES = """
import ctypes, os, resource, signal, sys
_, hard = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
from roost.local.core_files import write_no_core_files
write_no_core_files()
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)
if "exec" in sys.argv:
    os.execv("/bin/sh", ["sh", "-c", "ulimit -c"])
os.kill(os.getpid(), signal.SIGSEGV)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")


def test_a_killed_process_leaves_no_core_and_is_not_dumpable(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", DIES], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as output:
        assert output.read() == "(0, 0) 0\n"
    _, status = os.waitpid(process.pid, 0)
    process.returncode = status
    assert os.WTERMSIG(status) == signal.SIGSEGV
    assert not os.WCOREDUMP(status)
    assert list(tmp_path.iterdir()) == []


def test_programs_that_it_starts_leave_no_core_file_either(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES, "exec"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "(0, 0) 0\n0\n"
