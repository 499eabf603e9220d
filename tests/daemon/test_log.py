from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from roost.daemon.log import Shortage
from roost.local.home import Home
from tests.support.real_processes import PROCESS_SECONDS


def accept_failed() -> dict[str, Any]:
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return {"message": "socket.accept() out of system resource", "exception": error}


async def test_failed_accepts_are_logged_once_and_each_closes_a_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rooms: list[str] = []
    shortage = Shortage(lambda: rooms.append("made"))
    for _ in range(512):
        shortage(asyncio.get_running_loop(), accept_failed())
    assert caplog.text.count("no connection can be accepted") == 1
    assert len(rooms) == 512


async def test_any_other_failure_is_logged_normally(caplog: pytest.LogCaptureFixture) -> None:
    Shortage(lambda: None)(asyncio.get_running_loop(), {"message": "a task failed"})
    assert "a task failed" in caplog.text


BOUND = """
import sys
from roost.daemon import log
from roost.local import broker_start
from roost.local.home import Home
broker_start.LOG_BYTES = log.LOG_BYTES = 10
mine = log.Log(Home.find())
print("words enough to fill the log", file=sys.stderr)
mine.bound()
print("more", file=sys.stderr)
mine.bound()
"""


@pytest.mark.parametrize("to_log", [True, False])
def test_a_large_log_is_rotated_while_it_is_written(to_log: bool, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.log.write_text("")
    with (home.log if to_log else tmp_path / "terminal").open("a") as stderr:
        subprocess.run(
            [sys.executable, "-c", BOUND],
            env={"ROOST_HOME": str(home.path), "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=stderr,
            check=True,
            timeout=PROCESS_SECONDS,
        )
    assert home.log.read_text() == ("more\n" if to_log else "")
    assert (tmp_path / "broker.log.1").exists() == to_log


REMOVED = """
import sys
from roost.daemon.log import Log
from roost.local.home import Home
home = Home.find()
mine = Log(home)
home.log.unlink()
mine.bound()
print("more", file=sys.stderr)
"""


def test_a_removed_log_is_created_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.log.open("a") as stderr:
        subprocess.run(
            [sys.executable, "-c", REMOVED],
            env={"ROOST_HOME": str(home.path), "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=stderr,
            check=True,
            timeout=PROCESS_SECONDS,
        )
    assert home.log.read_text() == "more\n"
