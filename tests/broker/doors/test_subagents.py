"""Who makes a call on a connection that several agents of one client share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.door import Admission
from roost.api.subagents import CallOrigin, SharedConnectionApi
from roost.broker import subagent_reports
from roost.broker.doors.subagents import NOT_REPORTED, SharedConnection
from roost.errors import BadRequest, Interrupted, TabGone
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of, started
from roost.vocabulary import AgentId
from roost.wire.hello import ClientKind

URL = "https://site.test/"


def shim(house: FakeHouse) -> Admission:
    return house.admit(house.hello(ClientKind.MCP))


def acting(admission: Admission, **origin: Any) -> BrokerApi:
    assert isinstance(admission.api, SharedConnectionApi)
    return admission.api.acting_for(CallOrigin(**origin))


async def reported(api: BrokerApi, tool_use: str, subagent: str = "", **more: str) -> None:
    event = "PreToolUse"
    await api.call(
        ops.SubagentReport.model_validate(
            {"event": event, "tool_use_id": tool_use, "subagent": subagent, **more}
        )
    )


async def opened(api: BrokerApi) -> str:
    return (await api.call(ops.Tabs(action="new", url=URL))).opened or ""


async def tabs(api: BrokerApi) -> list[str]:
    return [tab.tab for tab in (await api.call(ops.Tabs(action="list"))).tabs]


async def test_calls_go_to_the_session_of_the_sub_agent_that_was_reported(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        client = shim(house)
        main = await opened(client.api)
        for use, subagent in (("u1", "one"), ("u2", "two"), ("u3", ""), ("u4", "one")):
            await reported(client.api, use, subagent, kind="Explore")
        one = await opened(acting(client, tool_use="u1"))
        assert await tabs(acting(client, tool_use="u4")) == [one]
        two = acting(client, tool_use="u2")
        assert "sub-agent" in str((await error_of(TabGone, two.call(ops.Snapshot()))).hint)
        assert await tabs(acting(client, tool_use="u3")) == [main]
        names = {row.name for row in house.state.sessions.values() if row.parent}
        assert {name.rpartition(" › ")[2] for name in names} == {"Explore 1", "Explore 2"}


async def test_a_sub_agents_batch_may_name_a_tab_of_its_parent(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        client = shim(house)
        main = await opened(client.api)
        await reported(client.api, "u1", "one")
        one = acting(client, tool_use="u1")
        steps = [
            {"tool": "browser_navigate", "url": URL, "tab": main},
            {"tool": "browser_tabs", "action": "new"},
        ]
        view = await one.call(ops.Batch.model_validate({"steps": steps}))
        assert [step.error for step in view.steps] == [None, None]
        selects = ops.Tabs(action="select", tab=main)
        await error_of(BadRequest, one.call(selects))


async def test_a_call_before_its_report_waits_for_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        client = shim(house)
        main = await opened(client.api)
        await reported(client.api, "u1", "one")
        call = await started(tabs(acting(client, tool_use="late")))
        await reported(client.api, "late", "one")
        assert await call == [], "it is the sub-agent's"
        assert await tabs(client.api) == [main]


async def test_without_a_report_a_call_runs_in_the_main_session_and_one_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subagent_reports, "REPORT_SECONDS", 0.01)
    async with fake_house(tmp_path) as house:
        client = shim(house)
        main = await opened(client.api)
        assert await tabs(acting(client, tool_use="no hooks")) == [main]
        await reported(client.api, "u1", "one")
        notes = []
        for use in ("x1", "x2", "x3", "x4"):
            view = await acting(client, tool_use=use).call(ops.Tabs(action="list"))
            assert [tab.tab for tab in view.tabs] == [main]
            notes += view.notes or []
        assert notes == [NOT_REPORTED]
        reports = house.broker.subagent_reports
        assert not reports.are_expected(client.agent), "calls wait no longer"
        await reported(client.api, "u2", "one")
        assert reports.are_expected(client.agent)


async def test_a_connection_cannot_claim_a_sub_agent_of_another_connection(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        mine, other = shim(house), shim(house)
        await reported(mine.api, "u1", "one")
        tab = await opened(acting(mine, tool_use="u1"))
        for origin in ({"tool_use": "u1"}, {"subagent": "one"}):
            stranger = acting(other, **origin)
            assert await tabs(stranger) == []
            await error_of(TabGone, stranger.call(ops.Snapshot(tab=tab)))
        stop = ops.SubagentReport(event="SubagentStop", subagent="one")
        await other.api.call(stop)
        assert await tabs(acting(mine, tool_use="u1")) == [tab]
        await mine.api.call(stop)
        assert tab not in house.state.tabs


async def test_conversations_of_one_connection_stay_apart(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        editor = shim(house)
        first = await opened(acting(editor, thread="c1"))
        second = await opened(acting(editor, thread="c2"))
        assert await tabs(acting(editor, thread="c1")) == [first]
        assert await tabs(acting(editor, thread="c2")) == [second]
        await error_of(TabGone, acting(editor, thread="c2").call(ops.Snapshot(tab=first)))


async def test_a_thread_becomes_a_child_of_its_parents_thread_in_the_same_client_only(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        parent, child, stranger = shim(house), shim(house), shim(house)
        await opened(acting(parent, thread="root"))
        broker = house.broker

        def connection(of: Admission, family: list[AgentId]) -> SharedConnection:
            return SharedConnection(broker, of.agent, lambda: family)

        origin = CallOrigin(thread="t1", parent_thread="root")
        await opened(connection(child, [parent.agent]).acting_for(origin))
        await opened(connection(stranger, []).acting_for(origin))
        sessions = {
            one.agent: house.state.sessions[house.state.agents[one.agent].own_session]
            for one in (parent, child, stranger)
        }
        assert sessions[child.agent].parent == sessions[parent.agent].id
        assert sessions[stranger.agent].parent is None
        further = CallOrigin(thread="t2", parent_thread="t1")
        tab = await opened(connection(child, [parent.agent]).acting_for(further))
        assert await tabs(acting(child, thread="t1")) != [tab], "threads of one connection"


async def test_a_repeated_call_whose_sub_agent_is_forgotten_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subagent_reports, "REPORT_SECONDS", 0.01)
    async with fake_house(tmp_path) as house:
        client = shim(house)
        await reported(client.api, "u1", "one")
        await opened(acting(client, tool_use="u1"))
        house.broker.subagent_reports.forget(client.agent)  # as a restart of the broker does
        again = acting(client, tool_use="u1", is_repeated=True)
        await error_of(Interrupted, again.call(ops.Snapshot()))


async def test_with_shared_sessions_sub_agents_work_in_their_parents(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        house.door._own_subagents = False
        client = shim(house)
        assert not isinstance(client.api, SharedConnectionApi), "nothing is kept apart"
