"""Commands that page verbs run: whose session they get. Real trees: ``tests/verb``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.doors import commands, process_agents
from roost.broker.doors.process_agents import ENDED
from roost.errors import BadRequest, SessionGone, Unauthorized
from roost.local.lineage import Lineage, Relative
from roost.local.processes import Process, identify
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of, until
from roost.vocabulary import NOBODY, OPERATOR, SessionId
from roost.wire.hello import ClientKind, Hello
from tests.support.process_trees import Tree
from tests.support.real_processes import child

TERMINAL = Tree("systemd\n  tmux: server\n    bash\n      roost:command")
SERVICE = Tree("systemd\n  cron\n    sh\n      roost:command")


def verb(house: FakeHouse) -> Hello:
    return replace(house.hello(ClientKind.VERB), operator=False)


def in_client(monkeypatch: pytest.MonkeyPatch, pid: int, *outer: str) -> None:
    """Let commands run below a client with that pid, in a terminal. ``outer``: clients above it."""
    client = identify(pid)
    assert client is not None
    clients = [Relative(Process(99, "99", name), frozenset({name})) for name in outer]
    above = (Relative(client, frozenset({"codex"})), *clients, *TERMINAL.above("command"))
    line = Lineage(above, "roost", has_terminal=False)
    monkeypatch.setattr(commands, "lineage", lambda _: line)
    monkeypatch.setattr(process_agents, "lineage", lambda _: line)


async def test_commands_of_one_client_are_one_agent_that_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        with child() as client:
            in_client(monkeypatch, client)
            first, second = house.admit(verb(house)), house.admit(verb(house))
            assert first.agent == second.agent
            assert first.welcome.why is not None
            await first.api.call(ops.Navigate(url="https://site.test/"))
            assert len((await second.api.call(ops.Tabs(action="list"))).tabs) == 1
        await until(lambda: not house.state.agents)
        assert not house.state.sessions
        assert ENDED in house.home.audit.read_text()


async def test_an_agent_that_lives_by_a_process_ends_without_pidfds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_agents, "open_pidfd", lambda _: None)
    async with fake_house(tmp_path) as house:
        with child() as client:
            in_client(monkeypatch, client)
            house.admit(verb(house))
            house.door.sweep()
            assert house.state.agents
        house.door.sweep()
        assert not house.state.agents


async def test_an_agent_that_lives_by_a_process_is_found_again_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with child() as client:
        in_client(monkeypatch, client)
        async with fake_house(tmp_path) as house:
            before = house.admit(verb(house))
        async with fake_house(tmp_path) as house:
            assert house.admit(verb(house)).agent == before.agent
            assert house.state.agents[before.agent].connected
    async with fake_house(tmp_path) as house:
        await until(lambda: not house.state.agents)


async def test_a_session_that_an_agent_names_is_opened_for_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        other = house.admit()
        foreign = house.state.agents[other.agent].own_session
        with child() as client:
            in_client(monkeypatch, client)
            api = house.admit(verb(house)).api
            for name in (foreign, "s99"):
                await error_of(SessionGone, api.call(ops.Tabs(action="list", session=name)))
            await api.call(ops.Tabs(action="list", session="shop"))
            assert "shop" not in house.state.sessions, "it is the agent's own alias"
            assert len((await api.call(ops.SessionList())).sessions) == 2


@pytest.mark.parametrize("is_persons", [True, False])
async def test_the_session_that_a_client_was_started_for_is_its_own_if_the_person_started_it(
    is_persons: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "started_with", lambda pid, name: "shop")
    async with fake_house(tmp_path) as house:
        operator = house.admit(house.hello(ClientKind.CLI)).api
        await operator.call(ops.SessionOpen(session="shop", named=True))
        with child() as client:
            in_client(monkeypatch, client, *([] if is_persons else ["claude"]))
            admission = house.admit(verb(house))
            own = house.state.agents[admission.agent].own_session
            assert (own == "shop") == is_persons


async def test_a_service_must_name_a_session_and_gets_a_named_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Lineage(SERVICE.above("command"), "roost", has_terminal=False)
    monkeypatch.setattr(commands, "lineage", lambda _: line)
    async with fake_house(tmp_path) as house:
        foreign = house.state.agents[house.admit().agent].own_session
        service = house.admit(verb(house))
        assert service.agent == NOBODY
        refused = await error_of(BadRequest, service.api.call(ops.Tabs(action="list")))
        assert "-s NAME" in refused.hint
        await service.api.call(ops.Navigate(url="https://site.test/", session="nightly"))
        assert SessionId("nightly") in house.state.sessions
        listed = await service.api.call(ops.Tabs(action="list", session="nightly"))
        assert listed.current
        gone = service.api.call(ops.Tabs(action="list", session=foreign))
        await error_of(SessionGone, gone)
        await error_of(Unauthorized, service.api.call(ops.SessionList()))


async def test_the_person_reaches_every_session_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url="https://site.test/"))).tab
        own = house.state.agents[agent.agent].own_session
        person = house.admit(replace(verb(house), operator=True))
        assert person.agent == OPERATOR
        listed = await person.api.call(ops.Tabs(action="list", session=own))
        assert [row.tab for row in listed.tabs] == [tab]
        assert person.agent not in house.state.agents
