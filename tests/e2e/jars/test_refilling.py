"""A jar is refilled although processes of its browser die or are slow meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from roost import ops
from roost.errors import RoostError
from roost.local.processes import identify, wait_until_gone
from tests.support.agent import Agent
from tests.support.house import START_SECONDS, House, children_of
from tests.support.local_web import Web

pytestmark = pytest.mark.slow
KEEP = '() => { document.cookie = "mine=1; max-age=600"; localStorage.setItem("k", "v"); }'
STATE = "() => [document.cookie, localStorage.k]"
KEPT = ["mine=1", "v"]
LOOK_AGAIN_SECONDS = 0.005
LOOKS = 4000
SLOW_SECONDS = 6.0
"""More than a visit to an origin had in the first release."""
TRIES = 30


@pytest.fixture
def house(own_house: House) -> House:
    return own_house


def browser_of(house: House) -> int:
    """Return the pid of the running browser, as its keeper recorded it."""
    record = house.home.path / "keepers" / f"{house.browser}.json"
    with suppress(OSError, ValueError, KeyError):
        return int(json.loads(record.read_bytes())["browserPid"])
    return 0


def renderers_of(browser: int) -> list[int]:
    found = []
    with suppress(OSError):
        for pid in children_of(browser):
            command = command_of(pid)
            is_tab = b"-contentproc" in command and command.endswith(b"tab\0")
            if b"--type=renderer" in command or is_tab:
                found.append(pid)
    return found


def command_of(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


class Trouble(threading.Thread):
    """Kills the first new renderer of the next browser, and stops the second for a while."""

    def __init__(self, house: House, browser: int) -> None:
        super().__init__()
        self._house = house
        self._old = browser
        self._over = threading.Event()
        self.killed = self.held = 0

    def run(self) -> None:
        for _ in range(LOOKS):
            if self._over.wait(LOOK_AGAIN_SECONDS):
                return
            browser = browser_of(self._house)
            if browser in (0, self._old):
                continue
            for pid in renderers_of(browser):
                self._meet(pid)
                if self.held:
                    self._hold(pid)
                    return

    def end(self) -> None:
        self._over.set()
        self.join()

    def _meet(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            if not self.killed:
                os.kill(pid, signal.SIGKILL)
                self.killed = pid
            elif pid != self.killed:
                os.kill(pid, signal.SIGSTOP)
                self.held = pid

    def _hold(self, pid: int) -> None:
        self._over.wait(SLOW_SECONDS)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextmanager
def trouble_after(house: House, browser: int) -> Iterator[Trouble]:
    trouble = Trouble(house, browser)
    trouble.start()
    try:
        yield trouble
    finally:
        trouble.end()


async def until_kept(agent: Agent) -> None:
    """Wait until the broker has backed up the jar, a moment after the last action."""
    for _ in range(LOOKS):
        kept = await asyncio.to_thread(agent.house.backups)
        if b'"mine"' in kept and b'["k","v"]' in kept:
            return
        await asyncio.to_thread(threading.Event().wait, LOOK_AGAIN_SECONDS)
    raise AssertionError("the jar's contents were not kept")


async def at_last(agent: Agent, operation: ops.Navigate | ops.Tabs) -> object:
    """Return the answer of a browser that was just killed and whose pages crash."""
    error: RoostError | None = None
    for _ in range(TRIES):
        try:
            return await agent.call(operation, timeout=START_SECONDS)
        except RoostError as problem:
            error = problem
    raise AssertionError(error)


@pytest.mark.timeout(240)
async def test_a_jar_is_refilled_although_a_renderer_dies_and_the_next_one_is_slow(
    house: House, web: Web
) -> None:
    page = web.page("<p>here", path="/here")
    async with house.agent(web) as agent:
        await agent.go(page)
        await agent.run(KEEP)
        await until_kept(agent)
        browser = browser_of(house)
        with trouble_after(house, browser) as trouble:
            os.kill(browser, signal.SIGKILL)
            await at_last(agent, ops.Navigate(url=page))
            assert trouble.killed
            state = await agent.run(STATE)
        opened = await agent.call(ops.Tabs(action="new", url=page), timeout=START_SECONDS)

        assert state == KEPT
        assert await agent.run(STATE, tab=opened.opened) == KEPT
        assert len(opened.tabs) == 2
        async with house.operator() as operator:
            pool = (await operator.call(ops.Status())).browsers
        assert [row.tabs for row in pool if row.id == house.browser] == [2]


SERVICES = (b"storage.mojom.StorageService", b"network.mojom.NetworkService")


@pytest.mark.parametrize("browser_kind", ["chromium"], scope="session", indirect=True)
async def test_storage_lost_with_a_killed_browser_service_is_put_back(
    house: House, web: Web
) -> None:
    """In Chromium, all jars keep their storage and their cookies in one process each."""
    page = web.page("<p>here", path="/here")
    async with house.agent(web) as agent:
        await agent.go(page)
        await agent.run(KEEP)
        await until_kept(agent)
        for service in SERVICES:
            (pid,) = [one for one in children_of(browser_of(house)) if service in command_of(one)]
            process = identify(pid)
            assert process is not None
            os.kill(pid, signal.SIGKILL)
            assert await asyncio.to_thread(wait_until_gone, process, START_SECONDS)
            for _ in range(LOOKS):
                if await agent.run(STATE) == KEPT:
                    break
                await asyncio.to_thread(threading.Event().wait, LOOK_AGAIN_SECONDS)
        assert await agent.run(STATE) == KEPT
        await agent.go(page)
        assert await agent.run(STATE) == KEPT


def exists(folder: str) -> bool:
    return bool(folder) and Path(folder).exists()


async def test_broker_and_keeper_that_die_together_leave_no_browser_behind(
    house: House, web: Web
) -> None:
    async with house.agent(web) as agent:
        await agent.show("<p>here")
        keeper = json.loads((house.home.path / f"keepers/{house.browser}.json").read_bytes())
        browser = [identify(pid) for pid in (browser_of(house), *children_of(browser_of(house)))]
        assert len(browser) > 3
        folder = keeper.get("socketFolder", "")
        assert exists(folder) == (house.browser == "chromium")
        os.kill(keeper["pid"], signal.SIGKILL)
        house.kill_broker()
        for process in browser:
            assert process is None or await asyncio.to_thread(
                wait_until_gone, process, START_SECONDS
            )
        await at_last(agent, ops.Navigate(url=web.page("<p>again")))
        # The watchdog removes it when the browser has ended, else the next start.
        assert not exists(folder)
