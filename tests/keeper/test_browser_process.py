"""The process in which a keeper starts its browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from roost.errors import BrowserLost
from roost.keeper.browser_process import spawn

RAISE = "import os; os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)"


def ended(pid: int) -> int:
    """Wait for the process and return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_browser_cannot_raise_its_own_priority(tmp_path: Path) -> None:
    log = tmp_path / "log"

    assert ended(spawn([sys.executable, "-c", RAISE], log)) == 1
    assert "PermissionError" in log.read_text(encoding="utf-8")


def test_a_browser_has_its_descriptors_and_environment(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    script = "import os; os.write(7, os.environb[b'SAY'])"
    try:
        pid = spawn([sys.executable, "-c", script], tmp_path / "log", {7: theirs}, {"SAY": "here"})
        assert ended(pid) == 0
        assert os.read(ours, 10) == b"here"
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_browser_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrowserLost, match="Cannot run .*/nothing: No such file"):
        spawn([str(tmp_path / "nothing")], tmp_path / "log")
