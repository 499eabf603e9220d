"""The official Python SDK's client with real processes and the fake browser."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from mcp import MCPError

from roost import ops
from roost.local.processes import wait_until_gone
from roost.testing.waits import started
from tests.e2e.mcp.mcp_clients import SECONDS, client, code_of
from tests.support.house import broker_of, operator_of, real_home

URL = "https://site.test/"
NEVER = "() => new Promise(() => {})"
pytestmark = pytest.mark.slow


async def test_the_first_client_starts_the_broker_and_works(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with client(home) as agent:
            listed = await agent.sdk.list_tools()
            assert "browser_navigate" in [tool.name for tool in listed.tools]
            assert URL in await agent.text("browser_navigate", url=URL)
            assert f"]({URL})" in await agent.text("browser_tabs", action="list")
            assert await agent.code("browser_navigate", url="file:///etc/passwd") == "URL_BLOCKED"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_keeps_working_when_the_broker_is_killed(tmp_path: Path, mode: str) -> None:
    """A call that reads is repeated, and one that may have acted gets INTERRUPTED. The client
    finds the same tabs again and notices only a delay."""
    with real_home(tmp_path) as home:
        async with client(home, mode=mode) as agent:
            await agent.text("browser_navigate", url=URL)
            before = await agent.unmarked("session_list")
            reading = await started(agent.call("tab_space_status", waitSeconds=1))
            acting = await started(agent.call("browser_evaluate", function=NEVER))
            await agent.text("session_list")  # those are under way, then
            broker = broker_of(home)
            assert broker is not None
            os.kill(broker.pid, signal.SIGKILL)
            assert await asyncio.to_thread(wait_until_gone, broker, SECONDS)

            interrupted = await acting
            assert code_of(interrupted) == "INTERRUPTED"
            assert not (await reading).is_error
            assert await agent.unmarked("session_list") == before
            assert broker_of(home) != broker


async def test_a_session_ends_at_once_with_its_client(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with client(home) as witness:
            async with client(home) as agent:
                await agent.text("browser_navigate", url=URL)
            operator = await operator_of(home)
            async with operator:
                status = await operator.call(ops.Status())
            assert len(status.sessions) == 1
            assert await witness.text("session_list")


async def test_an_agent_comes_back_to_the_session_of_its_conversation(tmp_path: Path) -> None:
    """Claude Code names the conversation of a server, and Roost keeps that conversation's
    session."""
    with real_home(tmp_path) as home:
        async with client(home, CLAUDE_CODE_SESSION_ID="conversation-1") as agent:
            await agent.text("browser_navigate", url=URL)
            first, *_ = (await agent.text("session_list")).splitlines()
        async with client(home, CLAUDE_CODE_SESSION_ID="conversation-1") as agent:
            again, *_ = (await agent.text("session_list")).splitlines()

    about, _, tabs = first.partition("; ")
    assert about.startswith("Session conversation-1: ")
    assert about.endswith(", resumable")
    assert tabs == "tabs: t1 (current)."
    assert again == f"{about}; no tabs."


async def test_two_clients_join_a_session_on_purpose(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with (
            client(home, "--session=shop") as one,
            client(home, ROOST_SESSION="shop") as two,
        ):
            await one.text("browser_navigate", url=URL)
            assert f"]({URL})" in await two.text("browser_tabs", action="list")
            assert URL in await two.text("browser_navigate", url=URL, tab="t1")


async def test_flags_choose_tools_and_name_and_a_wrong_flag_is_refused(tmp_path: Path) -> None:
    with real_home(tmp_path) as home:
        async with client(home, "--tools=browser_navigate,browser_tabs", "--name=Tester") as agent:
            names = [tool.name for tool in (await agent.sdk.list_tools()).tools]
            assert names == ["browser_navigate", "browser_tabs"]
            assert await agent.code("browser_close") == "BAD_REQUEST"
            operator = await operator_of(home)
            async with operator:
                (session,) = (await operator.call(ops.Status())).sessions
            assert session.name == "Tester"
        with pytest.raises(ExceptionGroup) as refused:
            async with client(home, "--tools=browser_navigat"):
                pass
        assert refused.group_contains(MCPError, match="Did you mean browser_navigate?")
