"""``roost hook report``: what it tells the broker, and that it never says or decides anything."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from roost.api.operations import SubagentReport, parse
from roost.hook.broker_call import input_of
from roost.hook.report import COMMAND_CHARS, report_of
from roost.local.deadline import Deadline
from roost.testing.house import fake_house
from roost.wire.hello import ClientKind

GIVEN: dict[str, Any] = {
    "session_id": "00000000-0000-4000-8000-000000000000",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "roost snapshot", "description": "Look"},
    "tool_use_id": "toolu_1",
    "agent_id": "a1",
    "agent_type": "Explore",
}


def test_a_report_names_the_sub_agent_and_the_command_and_nothing_else() -> None:
    assert parse(SubagentReport.op, report_of(GIVEN)) == SubagentReport(
        event="PreToolUse",
        tool_use_id="toolu_1",
        subagent="a1",
        kind="Explore",
        command="roost snapshot",
    )


def test_a_report_of_the_main_conversation_names_no_sub_agent() -> None:
    main = {name: value for name, value in GIVEN.items() if not name.startswith("agent")}
    assert "subagent" not in report_of(main)


@pytest.mark.parametrize("odd", [None, 7, [], {"command": 7}, {}])
def test_an_odd_tool_input_has_no_command(odd: object) -> None:
    assert "command" not in report_of({**GIVEN, "tool_input": odd, "agent_id": 7})


def test_a_long_command_is_cut() -> None:
    long = report_of({**GIVEN, "tool_input": {"command": "x" * 1_000_000}})
    assert len(long["command"]) == COMMAND_CHARS
    parse(SubagentReport.op, long)


@pytest.mark.parametrize(("text", "read"), [("{}", {}), ("[]", None), ('{"a": 1}', {"a": 1})])
def test_the_input_is_an_object(text: str, read: object) -> None:
    out, into = os.pipe()
    os.write(into, text.encode())
    os.close(into)
    assert input_of(out, Deadline(5.0)) == read
    os.close(out)


def ran(home: Path, text: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "roost", "hook", "report"],
        input=text.encode(),
        env={**os.environ, "ROOST_HOME": str(home)},
        capture_output=True,
        timeout=60,
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps(GIVEN)])
def test_the_hook_says_nothing_and_succeeds_whatever_happens(text: str, tmp_path: Path) -> None:
    done = ran(tmp_path / "nowhere", text)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


async def test_the_hook_reaches_the_agent_of_its_client(tmp_path: Path) -> None:
    """This process is the client, and its connection is the shim's."""
    async with fake_house(tmp_path) as house:
        shim = house.admit(house.hello(ClientKind.MCP))
        for _ in range(10):  # on a busy machine the hook's second may not suffice
            done = await asyncio.to_thread(ran, house.home.path, json.dumps(GIVEN))
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
            if house.broker.subagent_reports.has_commands(shim.agent):
                break
        assert house.broker.subagent_reports.running(shim.agent, []) == {"a1"}
