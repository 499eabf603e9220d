"""The client reconnects by itself: which calls it repeats, which it interrupts, and as which
agent."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

import roost
from roost.api import operations as ops
from roost.client.client import TRIES, Client, connect
from roost.errors import BadRequest, Interrupted, TabGone, Timeout, Unsupported
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home
from roost.local.processes import Process
from roost.testing.faults import FaultyLink, faulty_link
from roost.testing.house import FakeHouse, fake_house
from roost.testing.scene import next_notice
from roost.testing.waits import answer_of, error_of, started, until
from roost.vocabulary import GRACE_SECONDS, WIRE_VERSION, Lifetime, SessionId
from roost.wire.hello import ClientKind
from tests.support.house import real_home

URL = "https://site.test/"
NEVER = ops.Evaluate(function="() => new Promise(() => {})")


async def house_and_link(
    stack: AsyncExitStack, folder: Path
) -> tuple[FakeHouse, FaultyLink, Client]:
    house = await stack.enter_async_context(fake_house(folder))
    link = await stack.enter_async_context(faulty_link(house))
    client = await house.client()
    stack.push_async_callback(client.aclose)
    return house, link, client


async def under_way(client: Client, operation: ops.Evaluate) -> asyncio.Task[object]:
    task = await started(client.call(operation))
    await client.call(ops.Ping())
    return task


async def test_connecting_gives_an_agent_with_a_session_of_its_own(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        async with await connect(home=house.home, name="ada", start=False) as client:
            assert client.agent is not None
            assert client.agent.startswith("agent_")
            row = house.state.sessions[client.session or SessionId("")]
            assert (row.name, row.lifetime) == ("ada", Lifetime.ANONYMOUS)
            assert (await client.call(ops.Navigate(url=URL))).opened
        await until(lambda: not house.state.agents)


async def test_connecting_with_a_session_joins_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        async with await connect(home=house.home, session="team", start=False) as first:
            await first.call(ops.Navigate(url=URL))
            async with await connect(home=house.home, session="team", start=False) as second:
                assert first.session == second.session == "team"
                assert len((await second.call(ops.Tabs(action="list"))).tabs) == 1
        assert house.state.sessions[SessionId("team")].lifetime is Lifetime.NAMED


async def test_the_jar_and_domain_lists_of_a_new_session_are_passed_on(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        async with await connect(
            home=house.home, start=False, jar="shared", allow=("a.test",), deny=("b.a.test",)
        ) as client:
            row = house.state.sessions[client.session or SessionId("")]
            assert (row.policy, row.allow, row.deny) == ("shared", ("a.test",), ("b.a.test",))
        await error_of(Unsupported, connect(home=house.home, start=False, browser="lynx"))
        await error_of(BadRequest, connect(home=house.home, start=False, session="no good"))
        with pytest.raises(ValueError, match="nonsense"):
            await connect(home=house.home, start=False, jar="nonsense")


@pytest.mark.slow
async def test_without_a_broker_and_permission_to_start_one_connecting_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.local.broker_start.RETRY_SECONDS", (0.001, 0.001))
    error = await error_of(Timeout, connect(home=Home(tmp_path / "none"), start=False))
    assert "roost up" in error.hint


def test_the_package_offers_the_client() -> None:
    assert roost.connect is connect
    assert roost.Client is Client


# --- reconnecting ------------------------------------------------------------------------------


async def test_a_client_resumes_its_agent_before_the_next_call(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        house, link, client = await house_and_link(stack, tmp_path)
        tab = (await client.call(ops.Navigate(url=URL))).tab
        agent = client.agent
        link.cut()
        await until(lambda: link.connections == 2)
        await until(lambda: all(agent.connected for agent in house.state.agents.values()))
        house.clock.advance(GRACE_SECONDS)
        assert (await client.call(ops.Evaluate(function="() => 1"))).tab == tab
        assert (client.agent, len(house.state.agents)) == (agent, 1)


async def test_a_call_that_may_act_is_interrupted_and_one_that_reads_is_repeated(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        house, link, client = await house_and_link(stack, tmp_path)
        await client.call(ops.Navigate(url=URL))
        acting = await under_way(client, NEVER)
        house.driver.may_capture.clear()
        reading = await started(client.call(ops.TakeScreenshot()))
        await until(lambda: house.driver.asked == 2)
        link.cut()
        await error_of(Interrupted, acting)
        house.driver.may_capture.set()
        assert (await answer_of(reading)).tab == "t1"


async def test_a_read_is_repeated_three_times_and_no_more(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        house, link, client = await house_and_link(stack, tmp_path)
        await client.call(ops.Navigate(url=URL))
        house.driver.may_capture.clear()
        reading = await started(client.call(ops.TakeScreenshot()))
        for number in range(TRIES):
            await until(lambda number=number: house.driver.asked == 2 + number)  # type: ignore[misc]
            link.cut()
        await error_of(Interrupted, reading)
        house.driver.may_capture.set()


async def test_many_calls_at_once_share_one_reconnection(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        _, link, client = await house_and_link(stack, tmp_path)
        link.cut()
        await answer_of(asyncio.gather(*(client.call(ops.Status()) for _ in range(50))))
        assert link.connections == 2


async def test_garbage_from_the_broker_is_a_lost_connection(tmp_path: Path) -> None:
    for number, garbage in enumerate((b"\xff\xfe\n", b"7\n", b'{"id": 1}\n', b"[]\n", b'{"we')):
        async with AsyncExitStack() as stack:
            _, link, client = await house_and_link(stack, tmp_path / str(number))
            link.garble(garbage)
            call = await started(client.call(ops.Ping()))
            if garbage == b'{"we':  # half a frame says nothing yet; then the line goes dead
                await until(lambda link=link: link._replacement is None)  # type: ignore[misc]
                link.cut()
            await answer_of(call)
            assert link.connections == 2, garbage


async def test_a_stalled_broker_loses_nothing(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        _, link, client = await house_and_link(stack, tmp_path)
        link.stall()
        calls = [await started(client.call(ops.Ping())) for _ in range(10)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await client.call(NEVER)
        assert not any(call.done() for call in calls)
        link.flow()
        await answer_of(asyncio.gather(*calls))
        assert link.connections == 1


async def test_a_broker_that_answers_nothing_does_not_hold_its_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker may be stopped or hang, so the client itself keeps the deadline."""
    monkeypatch.setattr("roost.client.client.SLACK_SECONDS", 0.0)
    monkeypatch.setattr("roost.client.connection.WELCOME_SECONDS", 0.02)
    monkeypatch.setattr("roost.client.client.RETRY_SECONDS", (0.001, 0.001))
    async with AsyncExitStack() as stack:
        house, link, client = await house_and_link(stack, tmp_path)
        link.stall()
        error = await error_of(Timeout, client.call(ops.Ping(), timeout=0.02))
        assert "roost doctor" in error.hint
        newcomer = connect(home=house.home, start=False)
        assert "says nothing" in (await error_of(Timeout, newcomer)).message
        link.flow()
        await client.call(ops.Ping(), timeout=10)
        assert link.connections >= 2, "and the connection it had goes on"


@pytest.mark.slow
async def test_a_broker_that_is_just_dying_is_replaced(tmp_path: Path) -> None:
    """A killed process accepts connections until its last thread has ended."""
    with real_home(tmp_path / "home") as home:
        corpse = socket.socket(socket.AF_UNIX)
        corpse.bind(str(tmp_path / "corpse"))
        corpse.listen()
        write_endpoint(home, Endpoint(tmp_path / "corpse", Process(2**30, "0"), "0", WIRE_VERSION))
        seen = asyncio.get_running_loop().run_in_executor(None, _bury_at_first_sight, corpse)
        async with await connect(home=home) as client:
            await client.call(ops.Ping())
        await seen


def _bury_at_first_sight(corpse: socket.socket) -> None:
    with corpse:
        corpse.accept()[0].close()


@pytest.mark.slow
async def test_a_broker_that_hangs_up_on_the_hello_is_tried_again(tmp_path: Path) -> None:
    """A broker that was just killed still accepts connections for a moment and closes them."""
    async with AsyncExitStack() as stack:
        _, link, client = await house_and_link(stack, tmp_path)
        link.refuses = True
        link.cut()
        await until(lambda: link.connections == 2)
        reading = await started(client.call(ops.Tabs(action="list")))
        link.refuses = False
        assert (await answer_of(reading)).tabs == []
        link.refuses = True
        link.cut()
        await error_of(Interrupted, client.call(ops.Tabs(action="list")))
        link.refuses = False


async def test_a_client_that_was_away_longer_than_the_grace_becomes_a_new_agent(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        house, link, client = await house_and_link(stack, tmp_path)
        tab = (await client.call(ops.Navigate(url=URL))).tab
        agent = client.agent
        link.refuses = True
        link.cut()
        await until(lambda: not any(agent.connected for agent in house.state.agents.values()))
        house.clock.advance(GRACE_SECONDS)
        link.refuses = False
        await error_of(TabGone, client.call(ops.Close(tab=tab)))
        assert client.agent != agent
        assert (await client.call(ops.Navigate(url=URL))).opened


async def test_a_closed_client_stays_closed(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        house, link, client = await house_and_link(stack, tmp_path)
        notices = client.watch()
        await client.aclose()
        await error_of(Interrupted, client.call(ops.Ping()))
        assert [notice async for notice in notices] == []
        assert link.connections == 1
        assert not house.state.agents


# --- the broker ends ---------------------------------------------------------------------------


async def test_an_idle_client_does_not_restart_a_stopped_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[Home] = []
    monkeypatch.setattr("roost.client.client.ensure_broker", lambda home, **_: starts.append(home))
    async with fake_house(tmp_path) as house:
        idle = await connect(home=house.home)
        starts.clear()
        watching = idle.watch()
        await house.socket.aclose()
        connection = idle._connection
        assert connection is not None
        await answer_of(asyncio.wait({connection.ended}))
        assert connection.was_stopped
        assert idle._coming_back is None
        assert starts == []
    watching.close()
    # Only a call brings it back.
    async with fake_house(tmp_path) as house:
        await answer_of(idle.call(ops.Ping()))
        assert starts == [house.home]
        await idle.aclose()


async def test_the_broker_an_agent_starts_may_end_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that an agent started as a by-product ends some time after its last session."""
    asked: list[object] = []

    def ensure(home: Home, *, options: object = ()) -> None:
        asked.append(options)

    monkeypatch.setattr("roost.client.client.ensure_broker", ensure)
    async with fake_house(tmp_path) as house:
        async with await connect(home=house.home):
            pass
    assert asked == [("--linger",)]


# --- events ------------------------------------------------------------------------------------


async def test_watching_goes_on_over_a_lost_connection(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        _, link, client = await house_and_link(stack, tmp_path)
        with client.watch() as notices:
            link.cut()
            await until(lambda: link.connections == 2)
            tab = (await client.call(ops.Tabs(action="new"))).opened
            assert (await next_notice(notices)).data["tab"] == tab


async def test_a_session_is_watched_by_the_name_its_agent_gave_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        async with await connect(home=house.home, start=False) as client:
            with client.watch("helper") as notices:
                opened = await client.call(ops.SessionOpen(session="helper"))
                assert opened.id != "helper"
                await client.call(ops.Navigate(url=URL))
                tab = (await client.call(ops.Tabs(action="new", session="helper"))).opened
                notice = await next_notice(notices, "tab_opened")
                assert (notice.session, notice.data["tab"]) == (opened.id, tab)


async def test_the_operator_hears_of_everybody_once_it_watches(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(fake_house(tmp_path))
        link = await stack.enter_async_context(faulty_link(house))
        agent = await house.client()
        operator = await house.client(house.hello(ClientKind.CLI))
        assert len(house.broker.watchers._listening) == 1
        with operator.watch() as notices:
            await operator.call(ops.Ping())
            tab = (await agent.call(ops.Navigate(url=URL))).tab
            assert (await next_notice(notices, "tab_opened")).data["tab"] == tab
            link.cut()
            await until(lambda: link.connections == 4)
            await operator.call(ops.Ping())
            await agent.call(ops.Navigate(url=URL + "2"))
            assert (await next_notice(notices, "tab_navigated")).data["tab"] == tab
        await operator.aclose()
        await agent.aclose()
