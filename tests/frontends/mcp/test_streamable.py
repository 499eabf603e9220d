"""The SDK's own client at /mcp, over Streamable HTTP, with a session's token."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from roost.api.door import SESSION_HEADER
from tests.frontends.http.http_callers import URL, Caller, HttpDoor, http_door
from tests.frontends.mcp.mcp_doors import client_of

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
MARKED = re.compile(r"<page-content untrusted id=(\w+)>\n.*?\n</page-content id=\1>", re.DOTALL)
ACCEPT = {"accept": "application/json, text/event-stream"}


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


async def initialize(here: HttpDoor, caller: Caller, **headers: str) -> tuple[int, str]:
    return await caller.refused("POST", "/mcp", json=INITIALIZE, headers={**ACCEPT, **headers})


async def test_a_client_with_a_sessions_token_works_in_that_session(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        async with client_of(session) as client:
            tools = (await client.list_tools()).tools
            assert "browser_navigate" in {tool.name for tool in tools}
            went = await client.call_tool("browser_navigate", {"url": URL})
            assert not went.is_error, text_of(went)
        listed = await session.ask("GET", "/session/work/tabs")
        assert [(tab["url"], tab["current"]) for tab in listed["tabs"]] == [(URL, True)]
        async with client_of(session) as again:  # nobody kept a connection, the tab is still its
            value = await again.call_tool("browser_evaluate", {"function": "() => location.href"})
            assert URL in text_of(value)


async def test_the_tool_that_opens_sessions_is_not_listed_because_a_token_has_only_one(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        for tools in ("", "?tools=all", "?tools=browser_tabs,session_list"):
            async with client_of(session, None, tools) as client:
                named = {tool.name for tool in (await client.list_tools()).tools}
                assert "session_list" in named
                assert "session_open" not in named
                assert "session_open" not in (client.instructions or "session_open")
        refused = await session.refused(
            "POST", "/mcp?tools=session_open", json=INITIALIZE, headers=ACCEPT
        )
        assert refused[0] == 400


async def test_pages_words_stand_between_the_marks(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        async with client_of(session) as client:
            for tool, arguments in (
                ("browser_navigate", {"url": f"{URL}?EVIL#EVIL"}),
                ("browser_tabs", {"action": "list"}),
                ("session_list", {}),
                ("roost_status", {}),
                ("browser_evaluate", {"function": '() => { throw new Error("EVIL\\nEVIL") }'}),
            ):
                result = await client.call_tool(tool, arguments)
                assert "EVIL" in text_of(result), tool
                assert "EVIL" not in MARKED.sub("", text_of(result)), tool
                assert result.structured_content is None


async def test_two_clients_with_two_tokens_do_not_meet(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        one, two = await here.session("one"), await here.session("two")
        async with client_of(one) as first, client_of(two) as second:
            await first.call_tool("browser_navigate", {"url": URL})
            (tab,) = here.house.state.tabs
            for arguments in ({"tab": tab}, {"session": "one"}, {}):
                refused = await second.call_tool("browser_close", arguments)
                assert refused.is_error
                assert text_of(refused).partition(":")[0] in ("TAB_GONE", "SESSION_GONE")
            assert list(here.house.state.tabs) == [tab]


async def test_the_operators_token_is_the_agent_of_the_session_it_names(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        async with client_of(here.operator, "work", "?tools=all") as client:
            assert "browser_reload" in {tool.name for tool in (await client.list_tools()).tools}
            await client.call_tool("browser_navigate", {"url": URL})
        assert (await session.tool("browser_evaluate", function="() => 1"))["tab"] in (
            here.house.state.tabs
        )


async def test_a_caller_without_a_token_or_with_a_wrong_session_is_refused(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        one, _ = await here.session("one"), await here.session("two")
        named = SESSION_HEADER
        assert await initialize(here, here.operator) == (400, "BAD_REQUEST")
        assert await initialize(here, Caller(here.client, "0" * 64)) == (401, "UNAUTHORIZED")
        for caller, session in ((one, "two"), (one, "no-one"), (here.operator, "no-one")):
            refused = await initialize(here, caller, **{named: session})
            assert refused == (404, "SESSION_GONE")
        evil = await initialize(here, one, origin="https://evil.test")
        assert evil == (403, "UNAUTHORIZED")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_streamable_http_opens_no_stream_and_ends_no_session(
    method: str, tmp_path: Path
) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        assert await session.refused(method, "/mcp", headers=ACCEPT) == (405, "BAD_REQUEST")


async def test_an_unknown_set_of_names_is_refused(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        refused = await session.refused("POST", "/mcp?names=lynx", json=INITIALIZE, headers=ACCEPT)
        assert refused == (400, "BAD_REQUEST")


async def test_a_request_of_very_many_values_is_too_large(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        many = INITIALIZE | {"params": {"values": [[]] * 100_000}}
        refused = await session.refused("POST", "/mcp", json=many, headers=ACCEPT)
        assert refused == (413, "TOO_LARGE")
        async with client_of(session) as client:
            assert (await client.list_tools()).tools
