"""Clients that cut long answers get shorter snapshots by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from roost.api.broker import BrokerApi
from roost.frontends.mcp.answer_lengths import with_default_length
from roost.frontends.mcp.server import Guest, make_server
from roost.frontends.mcp.toolset import Reply, Tool
from roost.hints import Spelling, no_way

NOBODY: Any = None


class Snapshots:
    """A toolset that remembers the arguments of its calls."""

    def __init__(self) -> None:
        schema = {"type": "object"}
        self.tools = [
            Tool(name="browser_snapshot", title="Read", description="Read.", input_schema=schema)
        ]
        self.given: list[Mapping[str, Any]] = []

    instructions = ""

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        return True

    def spelling(self, name: str) -> Spelling:
        return no_way

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        self.given.append(arguments)
        return Reply("read")


@pytest.mark.parametrize(
    ("client", "expected"), [("codex-mcp-client", {"maxChars": 10_000}), ("other", {})]
)
async def test_the_name_in_client_info_decides(client: str, expected: dict[str, Any]) -> None:
    toolset = Snapshots()
    server = make_server(lambda _: Guest(NOBODY, toolset), "")
    about = types.Implementation(name=client, version="1")
    async with Client(server, client_info=about) as one:
        await one.call_tool("browser_snapshot", {})
    assert toolset.given == [expected]


def test_a_length_that_the_caller_gives_stays() -> None:
    given = {"maxChars": 50_000}
    assert with_default_length("codex-mcp-client", "browser_snapshot", given) == given


def test_other_tools_keep_their_arguments() -> None:
    assert with_default_length("codex-mcp-client", "browser_click", {"target": "e1"}) == {
        "target": "e1"
    }


def test_a_client_without_a_name_keeps_the_default() -> None:
    assert with_default_length(None, "browser_snapshot", {}) == {}
