"""The shim answers ``initialize`` and ``tools/list`` before the broker runs, exactly as the
broker would."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from roost import __version__
from roost.frontends.mcp.claudezilla.names import TOOLS
from roost.local.home import Home
from roost.shim.prepared_answers import FILE, PreparedAnswers
from roost.shim.relay import Relay
from tests.shim.stand_in_broker import shim, stand_in_broker

ROOT = Path(__file__).parents[2]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "clientInfo": {"name": "tester", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_answers", ROOT / "tools/gen_answers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = generator()
BROWSER_WORDS = ["core", "all", "browser_navigate", "browser_cookies"]
FIREFOX_WORDS = sorted({"all", "firefox_click", *(row.category for row in TOOLS)})
CHOICES: list[tuple[str | None, tuple[str, ...]]] = [
    (None, ()),
    *((names, ()) for names in ("browser", "firefox")),
    *(("browser", words) for size in (1, 2) for words in combinations(BROWSER_WORDS, size)),
    *(("firefox", words) for size in (1, 2) for words in combinations(FIREFOX_WORDS, size)),
]


@pytest.mark.parametrize(("names", "tools"), CHOICES)
def test_the_prepared_answers_are_those_of_the_broker(
    names: str | None, tools: tuple[str, ...]
) -> None:
    initialize, listed = asyncio.run(GENERATOR.live_answers(names, tools))
    prepared = PreparedAnswers(names, tools)
    assert prepared.to("initialize", {"protocolVersion": "2025-11-25"}) == initialize
    assert prepared.to("tools/list", None) == listed


@pytest.mark.parametrize("version", [*GENERATOR.VERSIONS, "2026-07-28", "1999-12-31"])
def test_a_version_of_the_protocol_is_agreed_on_as_the_broker_does(version: str) -> None:
    initialize, listed = asyncio.run(GENERATOR.live_answers(version=version))
    prepared = PreparedAnswers()
    assert prepared.to("initialize", {"protocolVersion": version}) == initialize
    assert prepared.to("tools/list", {}) == listed


def test_the_file_is_what_make_docs_writes() -> None:
    assert Path(FILE).read_text(encoding="utf-8") == asyncio.run(GENERATOR.prepared())


@pytest.mark.parametrize(
    ("names", "tools"), [("klingon", ()), ("browser", ("nonsense",)), ("firefox", ("core", "x"))]
)
def test_tools_that_do_not_exist_are_left_to_the_broker_to_refuse(
    names: str, tools: tuple[str, ...]
) -> None:
    prepared = PreparedAnswers(names, tools)
    assert prepared.to("initialize", {"protocolVersion": "2025-11-25"}) is None
    assert prepared.to("tools/list", None) is None


def test_other_requests_and_pages_of_a_list_are_left_to_the_broker() -> None:
    prepared = PreparedAnswers()
    assert prepared.to("tools/call", {"name": "browser_tabs"}) is None
    assert prepared.to("tools/list", {"cursor": "2"}) is None
    assert prepared.to("initialize", {}) is None


def said(relay: Relay) -> list[Any]:
    messages = [json.loads(line) for line in relay.to_client]
    relay.to_client.clear()
    return messages


def greeted(relay: Relay) -> None:
    for message in (INITIALIZE, INITIALIZED, LIST):
        relay.from_client(json.dumps(message).encode())


def test_a_client_has_its_tools_before_there_is_a_broker_and_the_broker_is_initialised() -> None:
    relay = Relay(PreparedAnswers())
    greeted(relay)
    assert [message["id"] for message in said(relay)] == [0, 1]
    assert not relay.waits
    assert relay.wants_broker, "the agent is to be known even before its first call"
    assert relay.client_name == "tester"

    relay.connected(__version__)
    again, initialized = [json.loads(line) for line in relay.to_broker]
    assert again["method"] == "initialize"
    assert again["params"] == INITIALIZE["params"]
    assert initialized == INITIALIZED
    assert not relay.wants_broker
    relay.from_broker(json.dumps({"jsonrpc": "2.0", "id": again["id"], "result": {}}).encode())
    assert said(relay) == [], "the client has had its answer"


def test_a_broker_of_another_release_has_its_tools_listed_again() -> None:
    relay = Relay(PreparedAnswers())
    greeted(relay)
    said(relay)
    relay.connected("0.0.1")
    assert [message["method"] for message in said(relay)] == ["notifications/tools/list_changed"]
    relay.to_broker.clear()
    relay.from_client(json.dumps({**LIST, "id": 2}).encode())
    assert [json.loads(line) for line in relay.to_broker] == [{**LIST, "id": 2}]


def test_a_connected_broker_answers_for_itself() -> None:
    relay = Relay(PreparedAnswers())
    relay.connected(__version__)
    greeted(relay)
    assert said(relay) == []
    assert len(relay.to_broker) == 3


def test_a_client_that_never_says_initialize_is_answered_by_the_broker() -> None:
    relay = Relay(PreparedAnswers())
    relay.from_client(json.dumps(LIST).encode())
    assert (said(relay), relay.waits) == ([], True)


def test_an_agent_that_cannot_be_connected_is_not_tried_again_until_it_calls() -> None:
    from roost.errors import Internal

    relay = Relay(PreparedAnswers())
    greeted(relay)
    relay.give_up(Internal("No broker."))
    assert not relay.wants_broker
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "browser_tabs"}}
    relay.from_client(json.dumps(call).encode())
    assert relay.wants_broker


def test_a_real_shim_lists_its_tools_while_the_broker_hangs(tmp_path: Path) -> None:
    with stand_in_broker(tmp_path / "home") as broker, shim(broker.home) as agent:
        agent.hears(INITIALIZE, INITIALIZED, LIST)
        waiting = broker.at_the_door()  # it has said hello, and gets no answer
        assert agent.says()["result"]["serverInfo"]["name"] == "roost"
        assert len(agent.says()["result"]["tools"]) > 20
        waiting.hears({"welcome": {"version": 1, "agent": "agent_x", "software": __version__}})
        assert waiting.says()["method"] == "initialize"
        assert waiting.says() == INITIALIZED
        assert broker.hellos[0].name.startswith("tester")  # type: ignore[union-attr]


def test_a_real_shim_lists_its_tools_when_no_broker_can_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of the folder", encoding="utf-8")
    with shim(Home(tmp_path / "file/home")) as agent:
        agent.hears(INITIALIZE, INITIALIZED, LIST)
        assert [agent.says()["id"] for _ in range(2)] == [0, 1]
        agent.hears({**LIST, "id": 2, "method": "tools/call", "params": {"name": "browser_tabs"}})
        assert agent.says()["result"]["isError"]
