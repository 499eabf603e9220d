"""MCP on the socket of a real broker: the messages that the shim gets."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roost import core, ops
from roost.api.operations import parse_for_model
from roost.broker.doors.caller import Caller
from roost.frontends.mcp import conversation, lazy_server, server
from roost.frontends.socket import connection
from roost.local.home import socket_path
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import SECONDS, until
from roost.wire.framing import encode_line
from roost.wire.hello import ClientKind, parse_welcome

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "tester", "version": "1"},
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
URL = "https://site.test/"


class Shim:
    """The broker's peer: requests with ids, answers by id, notifications in order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = 0
        self._answers: dict[Any, dict[str, Any]] = {}
        self.notices: list[dict[str, Any]] = []

    def send(self, message: Any) -> None:
        self._writer.write(encode_line(message))

    def ask(self, method: str, **params: Any) -> int:
        """Send a request, and return its id."""
        self._ids += 1
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        return self._ids

    def call(self, tool: str, **arguments: Any) -> int:
        return self.ask("tools/call", name=tool, arguments=arguments)

    async def message(self) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            line = await self._reader.readline()
        assert line, "the broker hung up"
        heard: dict[str, Any] = json.loads(line)
        return heard

    async def answer(self, request: Any) -> dict[str, Any]:
        while request not in self._answers:
            message = await self.message()
            if "method" in message:
                self.notices.append(message)
            else:
                self._answers[message["id"]] = message
        return self._answers.pop(request)

    async def result(self, request: Any) -> dict[str, Any]:
        answer = await self.answer(request)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def initialize(self) -> dict[str, Any]:
        result = await self.result(self.ask("initialize", **INITIALIZE))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    async def is_cut_off(self) -> bool:
        async with asyncio.timeout(SECONDS):
            while await self._reader.readline():
                pass
        return True

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


@asynccontextmanager
async def at(house: FakeHouse, **hello: Any) -> AsyncIterator[Shim]:
    """Return a peer that was admitted."""
    reader, writer = await asyncio.open_unix_connection(
        str(socket_path(house.home)), limit=100_000_000
    )
    shim = Shim(reader, writer)
    try:
        said = house.hello(ClientKind.MCP).to_wire()
        shim.send({"hello": {**said, **hello}})
        agent = parse_welcome((await shim.message())["welcome"]).agent
        yield shim
    finally:
        await shim.close()
    agents = house.state.agents
    await until(lambda: agent not in agents or not agents[agent].connected)


def code_of(result: dict[str, Any]) -> Any:
    assert result["isError"] is True
    assert "structuredContent" not in result
    return result["content"][0]["text"].partition(":")[0]


async def test_a_client_shakes_hands_lists_tools_and_calls_one(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        hands = await shim.initialize()
        assert hands["serverInfo"]["name"] == "roost"
        assert hands["capabilities"]["tools"] == {"listChanged": True}
        assert "session_open" in hands["instructions"]

        listed = await shim.result(shim.ask("tools/list"))
        assert "browser_navigate" in [tool["name"] for tool in listed["tools"]]

        result = await shim.result(shim.call("browser_navigate", url=URL))
        assert URL in result["content"][0]["text"]
        assert "structuredContent" not in result
        assert not result.get("isError")


async def test_a_client_of_the_newest_revision_needs_no_handshake(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        call = shim.ask(
            "tools/call", name="browser_tabs", arguments={"action": "list"}, _meta=MODERN
        )
        result = await shim.result(call)

        assert "No tabs are open" in result["content"][0]["text"]
        assert result["resultType"] == "complete"


async def test_a_hook_reports_by_a_tool_that_is_not_listed(tmp_path: Path) -> None:
    """Claude Code's hook calls it before each tool; then the call itself has the same id."""
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        listed = await shim.result(shim.ask("tools/list"))
        assert "subagent_report" not in [tool["name"] for tool in listed["tools"]]
        report = {"event": "PreToolUse", "toolUseId": "u1", "subagent": "a1", "kind": ""}
        for arguments in (report, {**report, "event": "Nothing"}, {"toolUseId": 7}, {}):
            answer = await shim.result(shim.call("subagent_report", **arguments))
            assert answer == {"content": []}, "a hook shows nothing, whatever it said"
        for meta in ({"claudecode/toolUseId": "u1"}, {}, {"claudecode/toolUseId": 7}, None):
            arguments = {"url": URL, "snapshot": "none"}
            named = {"name": "browser_navigate", "arguments": arguments, "_meta": meta}
            given = {key: value for key, value in named.items() if value is not None}
            assert not (await shim.result(shim.ask("tools/call", **given))).get("isError")
        counts = Counter(tab.session for tab in house.state.tabs.values())
        parents = [house.state.sessions[session].parent for session in counts]  # type: ignore[index]
        assert sorted(counts.values()) == [1, 1], counts
        assert sorted(parents, key=str) == [None, next(iter(house.state.sessions))]


async def test_a_picture_arrives_as_an_image(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        result = await shim.result(shim.call("browser_take_screenshot"))

        image, text = result["content"]
        assert image["type"] == "image"
        assert image["mimeType"] == "image/jpeg"
        assert image["data"]
        assert "Screenshot of tab t1" in text["text"]


async def test_a_refused_call_is_an_error_the_model_can_read(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()

        assert code_of(await shim.result(shim.call("browser_navigate", url="file:///x"))) == (
            "URL_BLOCKED"
        )
        assert code_of(await shim.result(shim.call("browser_navigate"))) == "BAD_REQUEST"
        assert code_of(await shim.result(shim.call("browser_navigat", url=URL))) == "BAD_REQUEST"
        assert code_of(await shim.result(shim.call("browser_close", tab="t99"))) == "TAB_GONE"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"jsonrpc": "2.0", "id": 7}, -32600),
        ({"jsonrpc": "2.0", "id": 7, "method": 5}, -32600),
        ({"nonsense": True}, -32600),
        ({"jsonrpc": "2.0", "id": 7, "method": "no/such"}, -32601),
        ({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 5}}, -32602),
    ],
)
async def test_garbage_is_answered_and_hurts_nobody(
    tmp_path: Path, message: dict[str, Any], code: int
) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        shim.send(message)

        answer = await shim.answer(message.get("id"))
        assert answer["error"]["code"] == code
        assert await shim.result(shim.ask("ping")) == {}


async def test_a_tool_set_there_is_not_is_refused_before_anybody_is_let_in(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        with pytest.raises(KeyError, match="welcome"):
            async with at(house, tools=["browser_clik"]):
                pass
        assert house.state.agents == {}


async def test_goodbye_ends_the_agent_at_once(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        shim.send({"goodbye": True})

        assert await shim.is_cut_off()
        await until(lambda: not house.state.agents and not house.browser.pages)


async def test_sub_agents_of_one_client_work_at_the_same_time(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        for name in ("one", "two"):
            await shim.result(shim.call("session_open", session=name))
            await shim.result(shim.call("browser_navigate", url=URL + name, session=name))
        house.driver.may_capture.clear()
        calls = [shim.call("browser_take_screenshot", session=name) for name in ("one", "two")]
        await until(lambda: house.driver.asked == 4)  # two tabs and two captures: both are at work
        house.driver.may_capture.set()

        for call in calls:
            assert not (await shim.result(call)).get("isError")


async def test_a_cancelled_call_is_cancelled_in_the_browser_and_not_answered(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        house.driver.may_capture.clear()
        held = shim.call("browser_take_screenshot")
        await until(lambda: house.driver.asked == 2)

        shim.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": held, "reason": "enough"},
            }
        )
        # Its turn on the tab is free again: the next capture gets as far as the browser.
        after = shim.call("browser_take_screenshot")
        await until(lambda: house.driver.asked == 3)
        house.driver.may_capture.set()
        await shim.result(after)

        assert held not in shim._answers


async def test_a_flooding_client_delays_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _counted(monkeypatch)
    many = conversation.REQUESTS_AT_ONCE + 2 * conversation.REQUESTS_WAITING
    async with fake_house(tmp_path) as house, at(house) as shim, at(house) as other:
        await shim.initialize()
        await other.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        house.driver.may_capture.clear()
        flood = [shim.call("browser_take_screenshot") for _ in range(many)]
        ping = shim.ask("ping")
        await until(lambda: begun["browser_take_screenshot"] >= conversation.REQUESTS_AT_ONCE)

        # The other is answered while the flood waits; so many of it are under way, and no more.
        for _ in range(3):
            assert (await other.result(other.call("loop_status")))["structuredContent"]
        assert begun["browser_take_screenshot"] == conversation.REQUESTS_AT_ONCE
        house.driver.may_capture.set()

        for call in flood:
            await shim.answer(call)
        assert await shim.result(ping) == {}


def _counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how often each operation has begun."""
    begun: Counter[str] = Counter()
    call = Caller.call

    async def counting(self: Caller, operation: Any, *, timeout: float | None = None) -> Any:
        begun[operation.op] += 1
        return await call(self, operation, timeout=timeout)

    monkeypatch.setattr(Caller, "call", counting)
    return begun


async def test_during_a_flood_calls_can_be_cancelled_and_a_disconnect_is_noticed(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        async with at(house) as shim:
            await shim.initialize()
            await shim.result(shim.call("browser_navigate", url=URL))
            house.driver.may_capture.clear()
            flood = [
                shim.call("browser_take_screenshot")
                for _ in range(conversation.REQUESTS_AT_ONCE + 1)
            ]
            waits = shim.call("browser_tabs", action="new")
            for request in (waits, *flood):
                params = {"requestId": request}
                method = "notifications/cancelled"
                shim.send({"jsonrpc": "2.0", "method": method, "params": params})
            assert await shim.result(shim.ask("ping")) == {}
            assert len(house.browser.pages) == 1  # what was cancelled while it waited is not done
            for _ in range(conversation.REQUESTS_AT_ONCE + 1):
                shim.call("browser_take_screenshot")
            await until(lambda: house.driver.asked > 2)
        # The connection was closed with the flood under way, and that was noticed.
        house.driver.may_capture.set()


async def test_a_client_that_dies_in_a_call_leaves_nothing_behind(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        async with at(house) as shim:
            await shim.initialize()
            await shim.result(shim.call("browser_navigate", url=URL))
            house.driver.may_capture.clear()
            shim.call("browser_take_screenshot")
            await until(lambda: house.driver.asked == 2)
        house.driver.may_capture.set()
        house.clock.advance(11)

        await until(lambda: not house.state.agents and not house.browser.pages)


async def test_progress_is_sent_for_long_calls_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "FIRST_PROGRESS_SECONDS", 0.01)
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        house.driver.may_start.clear()
        call = shim.ask(
            "tools/call",
            name="browser_navigate",
            arguments={"url": URL},
            _meta={"progressToken": "p1"},
        )
        told = await shim.message()
        house.driver.may_start.set()
        await shim.result(call)

        assert told["method"] == "notifications/progress"
        assert told["params"]["progressToken"] == "p1"
        assert told["params"]["message"] == "Starting the browser"


async def test_a_client_that_asked_for_no_progress_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "FIRST_PROGRESS_SECONDS", 0.0)
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))

        assert shim.notices == []


async def test_after_a_restart_only_calls_that_read_are_repeated(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        reads = {"name": "browser_tabs", "arguments": {"action": "list"}}
        acts = {"name": "browser_navigate", "arguments": {"url": URL}}
        for number, params in enumerate((reads, acts), 101):
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            shim.send({"repeat": call})

        assert "No tabs are open" in (await shim.result(101))["content"][0]["text"]
        assert code_of(await shim.result(102)) == "INTERRUPTED"
        assert house.browser.pages == {}
        # The id is free again: the same call, asked anew, is done.
        shim.send({"jsonrpc": "2.0", "id": 102, "method": "tools/call", "params": acts})
        assert not (await shim.result(102)).get("isError")


async def test_an_interrupted_batch_is_answered_with_what_was_done(tmp_path: Path) -> None:
    acts = {"steps": [{"tool": "browser_navigate", "url": URL}] * 4, "session": None}
    reads = {"steps": [{"tool": "browser_tabs", "action": "list"}] * 2}
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        (agent,) = house.state.agents
        digest = parse_for_model("browser_batch", {"steps": acts["steps"]}).digest  # type: ignore[attr-defined]
        house.broker.decide(core.record_batch, agent, digest, 2, 4)
        for number, arguments in enumerate((reads, acts, {**acts, "snapshot": "none"}), 101):
            params = {"name": "browser_batch", "arguments": arguments}
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            shim.send({"repeat": call})

        assert "2 of 2 steps are done" in (await shim.result(101))["content"][0]["text"]
        known = await shim.result(102)
        assert code_of(known) == "INTERRUPTED"
        text = known["content"][0]["text"]
        assert "Steps 1 to 2 were done, nobody knows about step 3, and later steps" in text
        unknown = (await shim.result(103))["content"][0]["text"]
        assert "nobody knows which steps were done" in unknown
        assert house.browser.pages == {}


async def test_a_repetition_that_is_cancelled_while_it_waits_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "REQUESTS_AT_ONCE", 1)
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        house.driver.may_capture.clear()
        held = shim.call("browser_take_screenshot")
        acts = {"name": "browser_navigate", "arguments": {"url": URL}}
        call = {"jsonrpc": "2.0", "id": 101, "method": "tools/call", "params": acts}
        method, params = "notifications/cancelled", {"requestId": 101}
        shim.send({"repeat": call})
        shim.send({"jsonrpc": "2.0", "method": method, "params": params})
        shim.send(call)  # asked anew, under the same id
        house.driver.may_capture.set()
        await shim.result(held)

        assert not (await shim.result(101)).get("isError")


async def test_an_answer_too_large_to_be_sent_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        monkeypatch.setattr(connection, "LINK_FRAME_BYTES", 1000)
        refused = await shim.result(shim.call("browser_take_screenshot"))

        assert code_of(refused) == "TOO_LARGE"
        assert await shim.result(shim.ask("ping")) == {}


async def test_an_agent_with_many_tabs_is_told_that_another_waits(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=5) as house, at(house) as rich, at(house) as poor:
        await rich.initialize()
        await poor.initialize()
        for _ in range(5):
            await rich.result(rich.call("browser_tabs", action="new", url=URL))
        await poor.result(poor.call("tab_space_request"))

        text = (await rich.result(rich.call("browser_navigate", url=URL)))["content"][-1]["text"]
        assert "Note: Another agent waits for a tab slot" in text
        assert "tab_space_grant" in text


async def test_a_session_the_person_has_answers_paused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        await shim.result(shim.call("browser_navigate", url=URL))
        operator = house.admit(house.hello(ClientKind.CLI))
        session = next(iter(house.state.sessions))
        await operator.api.call(ops.SessionPause(session=session))

        refused = await shim.result(shim.call("browser_navigate", url=URL))
        assert code_of(refused) == "PAUSED"
        assert "hint: " in refused["content"][0]["text"]
        await operator.api.call(ops.SessionResume(session=session))
        assert not (await shim.result(shim.call("browser_navigate", url=URL))).get("isError")


async def test_loops_are_started_shown_and_stopped(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house, at(house) as shim:
        await shim.initialize()
        started = await shim.result(shim.call("loop_start", prompt="go on", maxIterations=3))
        assert started["structuredContent"]["maxIterations"] == 3
        assert json.loads(started["content"][0]["text"]) == started["structuredContent"]
        shown = await shim.result(shim.call("loop_status"))
        assert shown["structuredContent"]["active"] is True
        stopped = await shim.result(shim.call("loop_stop"))
        assert stopped["structuredContent"]["active"] is False


async def test_a_conversation_that_fails_costs_only_its_own_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy_server, "SERVER", "roost.frontends.mcp.no_such_module")
    async with fake_house(tmp_path) as house, at(house) as shim:
        assert await shim.is_cut_off()
        client = await house.client()
        async with client:
            await client.call(ops.Ping())
