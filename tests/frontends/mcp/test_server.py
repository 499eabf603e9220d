"""The server without a transport, with the SDK's own client in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp import Client

from roost.api.broker import BrokerApi
from roost.errors import Paused
from roost.frontends.mcp.server import Guest, make_server
from roost.frontends.mcp.toolset import Image, Reply, Tool
from roost.hints import Spelling, no_way


class OneTool:
    """A ``Toolset`` of one tool, which answers as the test says."""

    def __init__(self, reply: Reply | Exception) -> None:
        self._reply = reply
        self.tools: Sequence[Tool] = [
            Tool(name="look", title="Look", description="Look.", input_schema={"type": "object"})
        ]
        self.given: list[Mapping[str, Any]] = []

    instructions = ""

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        return True

    def spelling(self, name: str) -> Spelling:
        return no_way

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        self.given.append(arguments)
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply


NOBODY: Any = None


async def answered(reply: Reply | Exception) -> types.CallToolResult:
    guest = Guest(NOBODY, OneTool(reply))
    async with Client(make_server(lambda _: guest, "")) as client:
        return await client.call_tool("look", {"x": 1})


async def test_the_caller_of_a_request_decides_which_tools_it_sees() -> None:
    """Over Streamable HTTP each request has its own identity."""
    guests = [Guest(NOBODY, OneTool(Reply("one"))), Guest(NOBODY, OneTool(Reply("two")))]

    def guest_of(context: Any) -> Guest:
        wants_two = context.method == "tools/call" and context.params["arguments"].get("x") == 2
        return guests[1 if wants_two else 0]

    async with Client(make_server(guest_of, "")) as client:
        said = [await client.call_tool("look", {"x": x}) for x in (1, 2)]

    texts = [part.text for one in said for part in one.content if part.type == "text"]
    assert texts == ["one", "two"]


async def test_a_picture_comes_before_the_words_about_it() -> None:
    result = await answered(Reply("A picture.", [Image("AAAA", "image/png")]))

    assert [part.type for part in result.content] == ["image", "text"]
    assert result.structured_content is None


async def test_structured_data_of_a_reply_is_sent_as_structured_content() -> None:
    result = await answered(Reply('{"a":1}', structured={"a": 1}))

    assert result.structured_content == {"a": 1}


async def test_a_refusal_is_an_answer_and_no_protocol_error() -> None:
    result = await answered(Paused("A person has session s1."))

    assert result.is_error
    assert result.structured_content is None
    (said,) = result.content
    assert said.type == "text"
    assert said.text.startswith("PAUSED: A person has session s1.\n")
