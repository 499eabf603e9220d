"""Real brokers on a machine in trouble: slow, without descriptors or disk space, or with files
removed. Running agents keep what they have."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.client.client import Client, connect
from roost.errors import Internal, Interrupted
from roost.local.broker_start import ensure_broker
from roost.local.endpoint import read_endpoint
from roost.local.home import Home, socket_path
from roost.local.processes import Process, is_alive, wait_until_gone
from roost.testing.waits import SECONDS, error_of, started, until
from tests.support.house import broker_of, operator_of, real_home
from tests.support.real_processes import PROCESS_SECONDS

pytestmark = pytest.mark.slow
URL = "https://site.test/"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit")


def broker_at(home: Home) -> Process:
    broker = broker_of(home)
    assert broker is not None
    return broker


async def keeps(client: Client, tab: str | None) -> None:
    """Check that the agent still has its session and its page."""
    view = await client.call(ops.Evaluate(function="() => location.href"))
    assert (view.tab, view.value) == (tab, URL)


async def test_agents_keep_their_sessions_while_the_next_broker_hangs_for_twelve_seconds(
    tmp_path: Path,
) -> None:
    with real_home(tmp_path) as home:
        async with contextlib.AsyncExitStack() as stack:
            agents = [await stack.enter_async_context(await connect(home=home)) for _ in range(3)]
            tabs = [(await agent.call(ops.Navigate(url=URL))).tab for agent in agents]
            before = [(agent.agent, agent.session) for agent in agents]
            first = broker_at(home)
            os.kill(first.pid, signal.SIGKILL)
            await until(lambda: broker_of(home) not in (None, first))
            second = broker_at(home)
            os.kill(second.pid, signal.SIGSTOP)
            calls = [await started(agent.call(ops.Tabs(action="list"))) for agent in agents]
            # More than the grace of a lost connection: nobody can be answered meanwhile.
            await asyncio.wait(calls, timeout=12)
            os.kill(second.pid, signal.SIGCONT)
            async with asyncio.timeout(PROCESS_SECONDS):
                views = await asyncio.gather(*calls)
            assert [[row.tab for row in view.tabs] for view in views] == [[tab] for tab in tabs]
            assert [(agent.agent, agent.session) for agent in agents] == before
            assert broker_at(home) == second


# --- the disk ------------------------------------------------------------------------------------


@LINUX
async def test_agents_go_on_when_the_audit_log_cannot_be_written(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        home.create()
        # Larger than the journal gets: of all files, only this one is at the limit.
        home.audit.write_bytes(b"{}\n" * 3_000_000)
        home.audit.chmod(0o600)
        async with await connect(home=home) as ada:
            broker = broker_at(home)
            full = home.audit.stat().st_size
            _, hard = resource.prlimit(broker.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (full, hard))
            bob = await connect(home=home, name="bob")
            for api in (ada, bob):
                await api.call(ops.Navigate(url=URL))
                await api.call(ops.Tabs(action="new", url=URL))
                await api.call(ops.Close())
            await bob.aclose()
            assert len((await status(home))["sessions"]) == 1
            assert home.audit.stat().st_size == full
            resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (hard, hard))
            await ada.call(ops.Navigate(url=URL))
            with home.audit.open("rb") as file:
                file.seek(full)
                kinds = [json.loads(line)["kind"] for line in file]
            assert kinds.count("agent ended") == 1  # what waited is written, in order
            assert kinds[-1] == "call"
            assert home.log.read_text().count("audit trail cannot be written") == 1
            assert broker_at(home) == broker


async def status(home: Home) -> dict[str, list[object]]:
    async with await operator_of(home) as operator:
        found: dict[str, list[object]] = (await operator.call(ops.Status())).to_wire()
    return found


START = """
import resource, sys
from roost.errors import RoostError
from roost.local.home import Home
from roost.local.broker_start import ensure_broker
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    ensure_broker(Home.find())
except RoostError as error:
    print(error)
    print(error.hint)
"""


@LINUX
def test_a_broker_that_finds_the_disk_full_says_so_and_leaves_no_files(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        before = {path.name for path in home.path.iterdir()}
        done = subprocess.run(
            [sys.executable, "-c", START],
            env={"ROOST_HOME": str(home.path), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=PROCESS_SECONDS,
        )
        assert "File too large" in done.stdout
        assert "Free space" in done.stdout
        made = {path.name for path in home.path.iterdir()} - before
        assert not [name for name in made if name.startswith(".")]
        assert ensure_broker(home, timeout_seconds=PROCESS_SECONDS)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "roost-test", str(folder)]
    if os.getuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_full_disk_stops_the_broker_and_with_room_again_everything_goes_on(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path / "disk") as folder, real_home(folder / "home") as home:
        async with await connect(home=home) as ada:
            tab = (await ada.call(ops.Navigate(url=URL))).tab
            broker = broker_at(home)
            filler = folder / "filler"
            fill(filler)
            await error_of(Interrupted, open_tabs_without_end(ada))
            assert await asyncio.to_thread(wait_until_gone, broker, SECONDS)
            with pytest.raises(Internal) as cause:
                await asyncio.to_thread(ensure_broker, home)
            assert "No space left on device" in cause.value.message
            assert "Free space" in cause.value.hint
            assert not [path.name for path in home.path.iterdir() if path.name.startswith(".")]
            filler.unlink()
            assert tab in await tabs_of(ada)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass


async def open_tabs_without_end(client: Client) -> None:
    while True:
        await client.call(ops.Tabs(action="new", url=URL))


async def tabs_of(client: Client) -> list[str]:
    return [row.tab for row in (await client.call(ops.Tabs(action="list"))).tabs]


# --- descriptors ---------------------------------------------------------------------------------


@LINUX
async def test_a_broker_without_free_descriptors_keeps_its_agents_and_does_not_flood_its_log(
    tmp_path: Path,
) -> None:
    with real_home(tmp_path) as home, contextlib.ExitStack() as silent:
        async with await connect(home=home) as ada:
            tab = (await ada.call(ops.Navigate(url=URL))).tab
            broker = broker_at(home)
            limits = resource.prlimit(broker.pid, resource.RLIMIT_NOFILE)
            descriptors = len(os.listdir(f"/proc/{broker.pid}/fd"))
            resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (descriptors + 3, limits[1]))
            for _ in range(40):
                peer = silent.enter_context(socket.socket(socket.AF_UNIX))
                peer.connect(str(socket_path(home)))
            await until(lambda: "no connection can be accepted" in home.log.read_text())
            # The broker cannot look for its files now. That does not mean that they are gone.
            home.endpoint.rename(home.path / "endpoint.aside")
            for _ in range(20):
                await keeps(ada, tab)
            resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, limits)
            silent.close()
            await until(home.endpoint.exists)
            async with await connect(home=home) as newcomer:
                assert (await newcomer.call(ops.Navigate(url=URL))).tab
            await keeps(ada, tab)
            assert broker_at(home) == broker
            assert home.log.read_text().count("no connection can be accepted") == 1
            assert home.log.stat().st_size < 100_000


# --- files that somebody removed -----------------------------------------------------------------


def everything(home: Home) -> None:
    shutil.rmtree(home.path)


REMOVALS: dict[str, Callable[[Home], None]] = {
    "socket": lambda home: socket_path(home).unlink(),
    "endpoint": lambda home: home.endpoint.unlink(),
    "lock": lambda home: home.broker_lock.unlink(),
    "token": lambda home: home.token.unlink(),
    "home": everything,
}


@pytest.mark.parametrize("what", REMOVALS)
async def test_a_broker_whose_files_were_removed_is_found_again(what: str, tmp_path: Path) -> None:
    with real_home(tmp_path / "home") as home:
        async with await connect(home=home) as ada:
            tab = (await ada.call(ops.Navigate(url=URL))).tab
            broker = broker_at(home)
            files = (home.endpoint, home.broker_lock, home.token, home.journal, socket_path(home))
            REMOVALS[what](home)
            await until(lambda: all(map(os.path.lexists, files)))
            async with await connect(home=home) as newcomer:
                assert (await newcomer.call(ops.Navigate(url=URL))).tab
            await keeps(ada, tab)
            assert broker_at(home) == broker
            # Whoever starts next finds everything, too.
            os.kill(broker.pid, signal.SIGKILL)
            if what == "home":
                home.config.write_text('browser = "fake"', encoding="utf-8")
            async with asyncio.timeout(PROCESS_SECONDS):
                assert await tabs_of(ada) == [tab]


async def test_a_broker_ends_when_another_broker_holds_its_home(tmp_path: Path) -> None:
    with real_home(tmp_path / "home") as home:
        ensure_broker(home, timeout_seconds=PROCESS_SECONDS)
        first = broker_at(home)
        os.kill(first.pid, signal.SIGSTOP)
        everything(home)
        with real_home(tmp_path / "home"):
            second = ensure_broker(home, timeout_seconds=PROCESS_SECONDS)
            os.kill(first.pid, signal.SIGCONT)
            assert await asyncio.to_thread(wait_until_gone, first, PROCESS_SECONDS)
            assert is_alive(second.process)
            assert read_endpoint(home) == second
            async with await connect(home=home, start=False) as ada:
                await ada.call(ops.Navigate(url=URL))


async def test_a_second_broker_started_beside_the_first_gives_way_at_once(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        first = ensure_broker(home, timeout_seconds=PROCESS_SECONDS)
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "roost.daemon", "--linger"],
            env={"ROOST_HOME": str(home.path), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=PROCESS_SECONDS,
        )
        assert done.returncode == 0
        assert broker_of(home) == first.process
        async with await connect(home=home, start=False) as client:
            await client.call(ops.Ping())
