"""A report about a sub-agent concerns the agent whose client reports."""

from __future__ import annotations

import os
from pathlib import Path

from roost.api import operations as ops
from roost.api.subagents import CallOrigin, SharedConnectionApi
from roost.testing.house import FakeHouse, fake_house
from roost.wire.hello import ClientKind


async def pids(house: FakeHouse) -> list[int]:
    operator = house.admit(house.hello(ClientKind.CLI))
    return [row.pid for row in (await operator.api.call(ops.Status())).agents]


async def test_the_end_of_a_sub_agent_closes_its_tabs_and_forgets_its_commands(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        shim = house.admit(house.hello(ClientKind.MCP))
        reports = house.broker.subagent_reports
        assert isinstance(shim.api, SharedConnectionApi)
        await shim.api.call(
            ops.SubagentReport(
                event="PreToolUse", tool_use_id="u1", subagent="a1", command="roost open x"
            )
        )
        await shim.api.acting_for(CallOrigin(subagent="a1")).call(ops.Tabs(action="new"))
        assert len(house.state.tabs) == 1
        assert await pids(house) == [os.getpid(), os.getpid()], "they share a connection"
        assert reports.has_commands(shim.agent)
        await shim.api.call(ops.SubagentReport(event="SubagentStop", subagent="a1"))
        assert not house.state.tabs
        assert not reports.has_commands(shim.agent)
        assert await pids(house) == [os.getpid()], "a sub-agent that ended is not shown"
        await shim.api.call(ops.SubagentReport(event="SubagentStop", subagent="nobody"))


async def test_a_command_that_ended_is_forgotten(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        shim = house.admit(house.hello(ClientKind.MCP))
        reports = house.broker.subagent_reports
        begins = ops.SubagentReport(event="PreToolUse", tool_use_id="u1", command="roost open x")
        await shim.api.call(begins)
        assert reports.has_commands(shim.agent)
        await shim.api.call(ops.SubagentReport(event="PostToolUse", tool_use_id="u1"))
        assert not reports.has_commands(shim.agent)
