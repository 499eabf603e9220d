"""A keeper that is killed before its browser has answered (roost.keeper.watchdog). test_relay
kills it later."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from roost.local.broker_start import clean_environment
from roost.local.home import Home
from roost.local.lock import Lock
from roost.local.processes import identify, wait_until_gone
from roost.testing.waits import SECONDS, until

# A browser that says who it is, and answers nothing.
MUTE = """
import json, os, signal, sys
with open(sys.argv[1], "w") as file:
    json.dump([os.getpid(), os.getppid()], file)
signal.pause()
"""


def start_keeper(home: Home, said: Path, ready: int) -> None:
    options = [f"--ready-fd={ready}", "--browser=b", f"--log={home.path / 'log'}", "--"]
    subprocess.run(
        [sys.executable, "-P", "-m", "roost.keeper", *options, sys.executable, "-c", MUTE, said],
        env=clean_environment(home),
        pass_fds=(ready,),
        start_new_session=True,
        check=True,
    )


async def test_a_broker_finds_a_keeper_whose_browser_still_starts_and_no_second_one_is_started(
    tmp_path: Path,
) -> None:
    home, said = Home(tmp_path / "home"), tmp_path / "said"
    home.create()
    record = home.path / "keepers" / "b.json"
    listening, ready = os.pipe()
    await asyncio.to_thread(start_keeper, home, said, ready)
    await until(lambda: said.exists() and said.read_bytes().endswith(b"]"))
    browser_pid, keeper_pid = json.loads(said.read_bytes())
    await until(lambda: "browserPid" in json.loads(record.read_bytes()))
    fields = json.loads(record.read_bytes())
    assert (fields["pid"], fields["browserPid"], fields["isStarting"]) == (
        keeper_pid, browser_pid, True,
    )  # fmt: skip
    browser = identify(browser_pid)
    assert browser is not None
    assert not Lock(home.path / "keeper.lock").try_acquire(), "another keeper would have to wait"
    os.kill(keeper_pid, signal.SIGUSR1)  # as a broker does that looks for it
    os.kill(keeper_pid, 0)
    assert json.loads(record.read_bytes()) == fields

    os.kill(keeper_pid, signal.SIGKILL)
    assert wait_until_gone(browser, SECONDS)
    await until(Lock(home.path / "keeper.lock").try_acquire)
    os.close(ready)
    os.close(listening)


async def test_a_keeper_killed_while_its_browser_starts_leaves_no_browser_behind(
    tmp_path: Path,
) -> None:
    home, said = Home(tmp_path / "home"), tmp_path / "said"
    home.create()
    listening, ready = os.pipe()
    await asyncio.to_thread(start_keeper, home, said, ready)
    await until(lambda: said.exists() and said.read_bytes().endswith(b"]"))
    browser_pid, keeper_pid = json.loads(said.read_bytes())
    process = identify(browser_pid)
    assert process is not None
    os.kill(keeper_pid, signal.SIGKILL)

    assert wait_until_gone(process, SECONDS)
    os.close(ready)
    assert os.read(listening, 1) == b"", "nobody else holds the starter's pipe"
    os.close(listening)
