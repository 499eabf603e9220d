"""VS Code has one MCP server for all its conversations. Each call names its conversation.

The client here is a script that sends what VS Code sends: ``McpTool`` in
``src/vs/workbench/contrib/mcp/common/mcpServer.ts`` of microsoft/vscode puts a progress token, the
conversation, the request and a trace into ``_meta``. A conversation's id is a UUID, or the address
of a session that an extension contributed.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

import pytest

from roost import ops
from tests.e2e.mcp.mcp_clients import Client, client
from tests.support.house import House
from tests.support.local_web import Web

pytestmark = [pytest.mark.browser, pytest.mark.slow]
JAR = "() => 'the jar holds ' + document.cookie"


@pytest.fixture
def house(houses: Callable[..., House]) -> House:
    return houses("chromium")


def conversation(server: Client, id: str) -> Client:
    """Return the server as a conversation of VS Code uses it."""
    meta = {
        "vscode.conversationId": id,
        "vscode.requestId": f"request_{uuid.uuid4()}",
        "traceparent": f"00-{uuid.uuid4().hex}-{uuid.uuid4().hex[:16]}-01",
    }
    return Client(server.sdk, meta)


async def test_two_conversations_of_vs_code_stay_apart(house: House, web: Web) -> None:
    url = web.page("<h1>Shop</h1>")
    async with client(house.home) as server, house.operator() as operator:
        one = conversation(server, str(uuid.uuid4()))
        two = conversation(server, "agent-session://copilot-cli/untitled-7")

        async def works(agent: Client, who: str) -> None:
            await agent.text("browser_navigate", url=url)
            await agent.text("browser_evaluate", function=f"() => document.cookie = 'who={who}'")

        await asyncio.gather(works(one, "one"), works(two, "two"))
        for agent, who in ((one, "one"), (two, "two")):
            told = await agent.text("browser_evaluate", function=JAR)
            assert f"the jar holds who={who}" in told, told
            assert (await agent.text("browser_tabs", action="list")).count(url) == 1
        again = conversation(server, (one.meta or {})["vscode.conversationId"])
        assert "who=one" in await again.text("browser_evaluate", function=JAR), "its next request"

        found = await operator.call(ops.Status())
        mine = [row for row in found.sessions if any(tab.url == url for tab in row.tabs)]
        assert len({row.id for row in mine}) == 2
        assert {row.parent for row in mine} == {None}, "conversations are no sub-agents"
    async with asyncio.timeout(30), house.operator() as operator:
        while {row.id for row in mine} & {
            row.id for row in (await operator.call(ops.Status())).sessions if row.tabs
        }:
            await operator.call(ops.Ping())
