"""The daemon's lifetime: when it is needed, what it sweeps, and when it ends by itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.daemon.main import _sweep, is_needed
from roost.daemon.wiring import House
from roost.frontends.mcp.lazy_server import LazyServer
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import answer_of
from roost.vocabulary import BROKER_IDLE_SECONDS, GRACE_SECONDS, SWEEP_SECONDS
from roost.wire.hello import ClientKind
from tests.support.real_processes import PROCESS_SECONDS, child

URL = "https://site.test/"
SWEEPS = int(BROKER_IDLE_SECONDS / SWEEP_SECONDS)


def house_of(fake: FakeHouse) -> House:
    return House(fake.broker, fake.door, fake.socket, fake.http, LazyServer())


@asynccontextmanager
async def sweeping(fake: FakeHouse) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Run the daemon's sweep. The yielded function lets the next sweep happen and waits for it."""
    task = asyncio.get_running_loop().create_task(_sweep(house_of(fake)), name="sweep")
    assert await answer_of(fake.clock.waited("sweep")) == SWEEP_SECONDS

    async def sweep() -> None:
        fake.clock.advance(SWEEP_SECONDS)
        await answer_of(fake.clock.waited("sweep"))

    try:
        yield sweep
    finally:
        task.cancel()


async def test_a_session_in_use_or_named_needs_the_broker(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as fake:
        house = house_of(fake)
        assert not is_needed(house)
        agent = fake.admit()
        assert is_needed(house)
        fake.door.leave(agent, goodbye=False)
        assert is_needed(house)  # it may come back
        fake.clock.advance(GRACE_SECONDS)
        assert not is_needed(house)
        operator = fake.admit(fake.hello(ClientKind.CLI))
        assert not is_needed(house)
        await operator.api.call(ops.SessionOpen(session="kept"))
        assert is_needed(house)


async def test_a_broker_that_was_not_needed_for_15_minutes_ends(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as fake, sweeping(fake) as sweep:
        fake.broker.lingers = True
        agent = fake.admit()
        for _ in range(SWEEPS + 1):
            await sweep()
        assert not fake.broker.stop_requested.is_set()
        fake.door.leave(agent, goodbye=True)
        for _ in range(SWEEPS):
            assert not fake.broker.stop_requested.is_set()
            await sweep()
        assert fake.broker.stop_requested.is_set()


async def test_a_broker_that_was_told_to_stay_does_not_end_when_idle(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as fake, sweeping(fake) as sweep:
        fake.broker.lingers = True
        await sweep()
        operator = fake.admit(fake.hello(ClientKind.CLI))
        await operator.api.call(ops.BrokerStay())
        for _ in range(SWEEPS + 2):
            await sweep()
        assert not fake.broker.stop_requested.is_set()


async def test_the_sweep_disconnects_agents_whose_process_is_gone(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as fake, sweeping(fake) as sweep:
        alive = fake.admit()
        with child() as pid:
            dead = fake.admit(pid=pid)
            await sweep()
            assert fake.state.agents[dead.agent].connected
        await sweep()
        assert not fake.state.agents[dead.agent].connected
        fake.clock.advance(GRACE_SECONDS)
        assert list(fake.state.agents) == [alive.agent]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--pool", "many"], "pool (from flags)"), (["--reads", "none"], "reads (from flags)")],
)
@pytest.mark.slow
def test_a_wrong_flag_ends_the_daemon_with_one_line(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    done = run_daemon(tmp_path, *arguments)
    assert done.returncode == 1
    assert f"BAD_REQUEST: {says}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_home_open_to_others_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "open"
    home.mkdir()
    home.chmod(0o777)
    done = run_daemon(home)
    assert done.returncode == 1
    assert "UNAUTHORIZED" in done.stderr
    assert list(home.iterdir()) == []


def run_daemon(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roost.daemon", *arguments],
        env={"ROOST_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
    )
