"""Real processes and signals: what dies, and what happens then (docs/design/failures.md)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.client.client import connect
from roost.errors import Interrupted, TabGone
from roost.local.broker_start import ensure_broker
from roost.local.home import Home
from roost.local.processes import Process, is_alive, wait_until_gone
from roost.testing.house import fake_house
from roost.testing.waits import SECONDS, error_of, started, until
from roost.vocabulary import GRACE_SECONDS
from tests.support.house import broker_of, operator_of, real_home
from tests.support.real_processes import agent_process

URL = "https://site.test/"
pytestmark = pytest.mark.slow
NEVER = ops.Evaluate(function="() => new Promise(() => {})")

# An agent that takes one of everything, says so, and waits.
GREEDY = """
import asyncio, json, sys
import roost
from roost import ops

async def main():
    client = await roost.connect(name="greedy", start=False)
    await client.call(ops.Navigate(url="https://greedy.test/"))
    await client.call(ops.SessionOpen(session="more", url="https://more.test/"))
    await client.call(ops.LoopStart(prompt="x"))
    await client.call(ops.TabSpaceRequest())
    print(json.dumps(client.agent), flush=True)
    await client.call(ops.Evaluate(function="() => new Promise(() => {})"))

asyncio.run(main())
"""


def killed(home: Home) -> Process:
    """Kill the broker with kill -9, and return its process."""
    broker = broker_of(home)
    assert broker is not None
    os.kill(broker.pid, signal.SIGKILL)
    assert wait_until_gone(broker, SECONDS)
    return broker


IMPATIENT = """
from roost.shim import relay
relay.CALL_SECONDS = relay.SIGN_SECONDS = 0.3
from roost.shim.main import main
main([])
"""
"""``roost mcp`` with shorter deadlines, so that the test need not wait for the real ones."""


def test_an_agent_hears_that_its_broker_is_stopped(tmp_path: Path) -> None:
    def call(request: int) -> bytes:
        params = {"name": "browser_tabs", "arguments": {"action": "list"}}
        said = {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}
        return json.dumps(said).encode() + b"\n"

    with (
        real_home(tmp_path / "home") as home,
        subprocess.Popen(
            [sys.executable, "-c", IMPATIENT],
            env={"ROOST_HOME": str(home.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as shim,
    ):
        assert shim.stdin is not None
        assert shim.stdout is not None
        is_answered = False
        while not is_answered:  # with these deadlines, the first calls end before a broker runs
            shim.stdin.write(call(1))
            shim.stdin.flush()
            is_answered = b"TIMEOUT: " not in shim.stdout.readline()
        broker = broker_of(home)
        assert broker is not None
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            shim.stdin.write(call(2))
            shim.stdin.flush()
            told = json.loads(shim.stdout.readline())
            assert told["id"] == 2
            assert told["result"]["content"][0]["text"].startswith("TIMEOUT: ")
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        shim.stdin.write(call(3))
        shim.stdin.flush()
        assert json.loads(shim.stdout.readline())["id"] == 3, "the late answer is dropped"
        shim.stdin.close()
        assert shim.wait(SECONDS) == 0


async def test_a_killed_broker_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with real_home(tmp_path, pool=2) as home:
        async with await connect(home=home) as ada, await connect(home=home) as bob:
            hers = (await ada.call(ops.Navigate(url=URL + "1"))).tab
            other = (await ada.call(ops.Tabs(action="new", url=URL + "2"))).opened
            await bob.call(ops.TabSpaceRequest())
            before = await status_of(home)
            acting = await started(ada.call(NEVER))
            reading = await started(bob.call(ops.TabSpaceStatus(wait_seconds=20)))
            await asyncio.gather(ada.call(ops.Ping()), bob.call(ops.Ping()))
            first, agents = broker_of(home), (ada.agent, bob.agent)
            await asyncio.to_thread(killed, home)

            # What may have acted is uncertain; what reads is asked again, of the next broker.
            await error_of(Interrupted, acting)
            await asyncio.gather(ada.call(ops.Tabs(action="list")), bob.call(ops.Ping()))
            assert not reading.done()
            second = broker_of(home)
            assert second is not None
            assert second != first
            assert (ada.agent, bob.agent) == agents
            after = await status_of(home)
            assert after == before
            # The tabs are there again, under their ids, at their pages.
            for tab, url in ((hers, URL + "1"), (other, URL + "2")):
                view = await ada.call(ops.Evaluate(function="() => location.href", tab=tab))
                assert view.value == url
            # And the queue goes on: bob still stands in it, and is served.
            await ada.call(ops.Close(tab=hers))
            async with asyncio.timeout(SECONDS):
                assert (await reading).you_have_reservation


async def status_of(home: Home) -> dict[str, object]:
    """Return who owns what, without values that change by themselves."""
    async with await operator_of(home) as operator:
        status = (await operator.call(ops.Status())).to_wire()
    sessions = [{**row, "tabs": [tab["tab"] for tab in row["tabs"]]} for row in status["sessions"]]
    agents = [(row["id"], row["session"], row["connected"]) for row in status["agents"]]
    return {
        "sessions": sorted(map(str, sessions)),
        "agents": sorted(agents),
        "requests": [(row["session"], row["agent"]) for row in status["requests"]],
        "reservations": status["reservations"],
    }


async def test_clients_survive_one_dead_broker_after_another(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with await connect(home=home) as client:
            tab = (await client.call(ops.Navigate(url=URL))).tab
            agent, brokers = client.agent, {broker_of(home)}
            for _ in range(3):
                await asyncio.to_thread(killed, home)
                view = await client.call(ops.Tabs(action="list"))
                assert [row.tab for row in view.tabs] == [tab]
                brokers.add(broker_of(home))
            assert len(brokers) == 4
            assert client.agent == agent


async def test_a_killed_agent_is_gone_after_the_grace_and_nobody_else_noticed(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, pool=3) as house:
        witness = await house.client()
        tab = (await witness.call(ops.Navigate(url=URL))).tab
        working = await started(witness.call(NEVER))
        async with agent_process(GREEDY, house.home) as greedy:
            agent = await greedy.says()
            assert house.state.agents[agent].pid == greedy.pid
            assert len(house.state.sessions) == 3
            assert len(house.state.requests) + len(house.state.reservations) == 1
            await greedy.kill()
        # The end of its socket is seen at once; it has ten seconds to come back, and cannot.
        await until(lambda: not house.state.agents[agent].connected)
        assert len(house.state.tabs) == 3
        house.clock.advance(GRACE_SECONDS - 0.001)
        assert agent in house.state.agents
        house.clock.advance(0.001)
        state = house.state
        assert len(state.agents) == len(state.sessions) == len(state.tabs) == 1
        assert [*state.requests, *state.reservations, *state.loops] == []
        await until(lambda: len(house.state.jars) == 1)
        await until(lambda: len(house.browser.pages) == 1)
        assert not working.done()
        working.cancel()
        await asyncio.wait({working})
        assert (await witness.call(ops.Evaluate(function="() => 1"))).tab == tab
        await witness.aclose()


async def test_a_killed_broker_comes_back_with_the_flags_it_was_started_with(
    tmp_path: Path,
) -> None:
    with real_home(tmp_path) as home:
        await asyncio.to_thread(ensure_broker, home, options=["--pool=3"])
        async with await connect(home=home) as client:
            await asyncio.to_thread(killed, home)
            tabs = await client.call(ops.Tabs(action="list"))
            assert tabs.tab_pool == "0/3"
            operator = await operator_of(home)
            await operator.call(ops.BrokerStop())
            await operator.aclose()
        broker = broker_of(home)
        assert broker is None or await asyncio.to_thread(wait_until_gone, broker, SECONDS)
        async with await connect(home=home) as client:
            tabs = await client.call(ops.Tabs(action="list"))
            assert tabs.tab_pool == "0/12", "one that was stopped is started as asked for now"


async def test_a_broker_starts_over_the_files_that_a_killed_broker_left(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        ensure = asyncio.to_thread(ensure_broker, home)
        first = await ensure
        await asyncio.to_thread(killed, home)
        assert first.socket.is_socket()  # stale, as are the endpoint and the lock files
        assert home.endpoint.exists()
        second = await asyncio.to_thread(ensure_broker, home)
        assert second.process != first.process
        operator = await operator_of(home)
        assert (await operator.call(ops.Status())).broker.pid == second.process.pid
        await operator.aclose()


async def test_a_signal_makes_the_broker_end_in_order(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with real_home(tmp_path / number.name) as home:
            endpoint = await asyncio.to_thread(ensure_broker, home)
            client = await connect(home=home, start=False)
            await client.call(ops.Navigate(url=URL))
            os.kill(endpoint.process.pid, number)
            assert await asyncio.to_thread(wait_until_gone, endpoint.process, SECONDS)
            assert not home.endpoint.exists()
            assert not endpoint.socket.exists()
            connection = client._connection
            assert connection is not None
            await asyncio.wait({connection.ended}, timeout=SECONDS)
            assert connection.was_stopped
            log = home.log.read_text(encoding="utf-8")
            assert "Traceback" not in log
            await client.aclose()


async def test_a_stopped_broker_stays_stopped_until_somebody_needs_it(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with await connect(home=home) as idle:
            tab = (await idle.call(ops.Navigate(url=URL))).tab
            broker = broker_of(home)
            assert broker is not None
            operator = await operator_of(home)
            await operator.call(ops.BrokerStop())
            assert await asyncio.to_thread(wait_until_gone, broker, SECONDS)
            await operator.aclose()
            connection = idle._connection
            assert connection is not None
            await asyncio.wait({connection.ended}, timeout=SECONDS)
            assert idle._coming_back is None
            assert broker_of(home) is None
            # Its next call brings the house back, and with it what it owned.
            view = await idle.call(ops.Evaluate(function="() => location.href"))
            assert (view.tab, view.value) == (tab, URL)


async def test_a_client_whose_agent_is_unknown_becomes_a_new_agent(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with await connect(home=home) as client:
            tab = (await client.call(ops.Navigate(url=URL))).tab
            agent = client.agent
            broker = broker_of(home)
            await asyncio.to_thread(killed, home)
            for file in home.path.glob("journal.sqlite*"):
                file.unlink()  # as after a move to another disk: nothing is known any more
            await error_of(TabGone, client.call(ops.TakeScreenshot(tab=tab)))
            assert client.agent != agent
            assert broker is not None
            assert not is_alive(broker)
