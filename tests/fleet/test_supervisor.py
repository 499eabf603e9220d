"""When the supervisor starts a process again, and when it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roost.fleet.supervisor import CRASHED, DONE, FAILED

KEEP = """
import pathlib, sys
from roost.fleet import supervisor
supervisor.command = lambda role: [sys.executable, "-c", sys.argv[2], *sys.argv[1:2]]
sys.exit(supervisor.keep(pathlib.Path(sys.argv[1]), supervisor.NODE, None))
"""
RUN = """
import pathlib, sys
runs = pathlib.Path(sys.argv[1], "runs")
codes = CODES
done = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (done + 1))
sys.exit(codes[done])
"""


@pytest.mark.parametrize(
    ("codes", "runs"),
    [
        pytest.param([DONE], 1, id="done"),
        pytest.param([FAILED], 1, id="failed before it was ready"),
        pytest.param([CRASHED, DONE], 2, id="crashed"),
        pytest.param([CRASHED, FAILED, DONE], 3, id="failed at a later start"),
    ],
)
def test_a_process_that_crashed_is_started_again(
    tmp_path: Path, codes: list[int], runs: int
) -> None:
    program = RUN.replace("CODES", repr(codes))
    keep = [sys.executable, "-c", KEEP, str(tmp_path), program]
    assert subprocess.run(keep, timeout=30, check=False).returncode == 0
    assert len((tmp_path / "runs").read_text()) == runs
