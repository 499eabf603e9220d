"""There is one broker per home. Every process finds it, it is started once, and it leaves
nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import stat
import threading
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.client.client import connect
from roost.errors import SessionGone
from roost.local.broker_start import ensure_broker
from roost.local.home import Home, socket_path, user_folder
from roost.local.lock import Lock
from roost.local.processes import is_alive, wait_until_gone
from roost.testing.house import fake_house
from roost.testing.waits import SECONDS, error_of
from roost.vocabulary import GRACE_SECONDS
from tests.support.house import broker_of, operator_of, real_home
from tests.support.real_processes import agent_process

URL = "https://site.test/"
pytestmark = pytest.mark.slow
CYCLES = 50
REAL_CYCLES = 3

# Several agents of one process, at once; says which broker each found.
AGENTS = """
import asyncio, json
import roost
from roost import ops

async def pid():
    async with await roost.connect() as client:
        return (await client.call(ops.Status())).broker.pid

async def main():
    print(json.dumps(await asyncio.gather(*(pid() for _ in range(3)))), flush=True)

asyncio.run(main())
"""
WHERE = """
import json
from roost.local.home import Home
print(json.dumps(str(Home.find().path)), flush=True)
"""


async def test_twelve_agents_that_start_at_once_start_one_broker(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:

        async def found() -> list[int]:
            async with agent_process(AGENTS, home) as agents:
                pids: list[int] = await agents.says()
                return pids

        pids = await asyncio.gather(*(found() for _ in range(4)))
        broker = broker_of(home)
        assert broker is not None
        assert {pid for some in pids for pid in some} == {broker.pid}
        assert home.log.read_text(encoding="utf-8").count(" ready, pid ") == 1


async def test_whatever_the_environment_says_the_same_broker_is_found(tmp_path: Path) -> None:
    with real_home(tmp_path / "home") as home:
        environments = [
            {},
            {"HOME": "/nonexistent", "XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)},
            {"HOME": str(tmp_path), "LOGNAME": "x", "PATH": "/nowhere", "TERM": "", "USER": "y"},
        ]
        pids = set()
        for environ in environments:
            async with agent_process(AGENTS, home, environ) as agents:
                pids.update(await agents.says())
        broker = broker_of(home)
        assert broker is not None
        assert pids == {broker.pid}


async def test_with_an_empty_environment_the_password_database_names_the_home(
    tmp_path: Path,
) -> None:
    for environ in ({"ROOST_HOME": ""}, {"ROOST_HOME": "", "HOME": str(tmp_path)}):
        async with agent_process(WHERE, Home(tmp_path), environ) as process:
            assert await process.says() == str(user_folder() / ".local/state/roost")


async def test_two_homes_are_two_roosts(tmp_path: Path) -> None:
    with real_home(tmp_path / "a") as a, real_home(tmp_path / "b") as b:
        async with await connect(home=a) as ada, await connect(home=b, session="team") as bob:
            await ada.call(ops.Navigate(url=URL))
            assert (await bob.call(ops.Tabs(action="list"))).tabs == []
            assert broker_of(a) != broker_of(b)
            assert socket_path(a) != socket_path(b)
            operator = await operator_of(b)
            await operator.call(ops.SessionDispose(session="team"))
            await error_of(SessionGone, operator.call(ops.SessionShow(session="team")))
            await operator.aclose()
            assert len((await ada.call(ops.Tabs(action="list"))).tabs) == 1


async def test_everything_the_broker_writes_is_readable_only_by_its_user(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        with real_home(tmp_path / "home") as home:
            client = await connect(home=home)
            await client.call(ops.Navigate(url=URL))
            await client.aclose()
            home.config.chmod(0o600)  # this one is the person's
            for path in (home.path, *home.path.rglob("*")):
                assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path
            path = socket_path(home)
            assert stat.S_IMODE(path.lstat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.lstat().st_mode) == 0o700
    finally:
        os.umask(umask)


def writes_no_core_files(pid: int) -> bool:
    limits = Path(f"/proc/{pid}/limits").read_text(encoding="ascii")
    return re.search(r"Max core file size +0 +0 ", limits) is not None


async def test_the_broker_is_detached_and_keeps_no_file_of_its_starter_open(
    tmp_path: Path,
) -> None:
    """Clients that end an agent also end its child processes, and the broker must not be one of
    them."""
    with real_home(tmp_path) as home:
        endpoint = await asyncio.to_thread(ensure_broker, home)
        pid = endpoint.process.pid
        assert os.getpgid(pid) != os.getpgid(0)
        assert os.getsid(pid) != os.getsid(0)
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        assert open_files(pid) & open_files(os.getpid()) <= {"/dev/null"}
        assert writes_no_core_files(pid)


def open_files(pid: int) -> set[str]:
    """Return the named files that a process has open. Some may be closed meanwhile."""
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return {name for name in found if name.startswith("/")}


# --- leaks -------------------------------------------------------------------------------------


def belongings(home: Home) -> dict[str, object]:
    """Return everything that a broker in this process could forget to release."""
    gc.collect()
    return {
        "files": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "tasks": len(asyncio.all_tasks()),
        "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii"),
        "socket": socket_path(home).exists(),
        "home": sorted(path.name for path in home.path.iterdir()),
    }


async def one_life(folder: Path) -> None:
    async with fake_house(folder) as house:
        client = await house.client()
        await client.call(ops.Navigate(url=URL))
        await client.call(ops.TakeScreenshot())
        await client.aclose()
        lost = await house.client()
        await lost.call(ops.Navigate(url=URL))
        assert lost._connection is not None
        lost._connection._transport.abort()
        await lost.aclose()
        house.clock.advance(GRACE_SECONDS)


async def test_fifty_starts_and_stops_leave_nothing_behind(tmp_path: Path) -> None:
    others = threading.active_count()  # of tests that ran before in this process
    await asyncio.to_thread(int)  # the pool of threads that reconnecting clients use is kept
    for _ in range(3):
        await one_life(tmp_path)
    before = belongings(Home(tmp_path))
    for _ in range(CYCLES):
        await one_life(tmp_path)
    after = belongings(Home(tmp_path))
    before["threads"] = after["threads"] = min(*_threads(others, before, after))
    # Fewer files: earlier tests of this process left some, and the garbage collector closed them.
    assert _open_files(after) <= _open_files(before)
    assert after == before


def _open_files(belongings: dict[str, object]) -> int:
    """Take the number of open files out of the belongings, and return it."""
    count = belongings.pop("files")
    assert isinstance(count, int)
    return count


def _threads(others: int, *counts: dict[str, object]) -> list[int]:
    """Return the thread counts, without the loop's own pool, which grows to a limit and is not
    ours."""
    limit = others + min(32, (os.cpu_count() or 1) + 4)
    numbers = [int(str(count["threads"])) for count in counts]
    assert max(numbers) <= limit
    return numbers


async def test_real_brokers_leave_no_process_socket_or_lock(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        seen = set()
        for _ in range(REAL_CYCLES):
            client = await connect(home=home)
            await client.call(ops.Navigate(url=URL))
            broker = broker_of(home)
            assert broker is not None
            seen.add(broker)
            await client.aclose()
            operator = await operator_of(home)
            await operator.call(ops.BrokerStop())
            await operator.aclose()
            assert await asyncio.to_thread(wait_until_gone, broker, SECONDS)
            assert not home.endpoint.exists()
            assert not socket_path(home).exists()
            for path in (home.broker_lock, home.start_lock):
                lock = Lock(path)
                assert lock.try_acquire()
                lock.release()
        assert len(seen) == REAL_CYCLES
        assert not any(map(is_alive, seen))
