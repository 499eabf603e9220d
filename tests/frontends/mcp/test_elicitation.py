"""Questions shown by MCP clients (``roost.frontends.mcp.elicitation``), on a fake browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from roost import ops
from roost.broker.doors.caller import Caller
from roost.frontends.mcp.browser_names import browser_names
from roost.frontends.mcp.server import Guest, make_server
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import started, until
from roost.vocabulary import OPERATOR, QuestionAnswer


class Person:
    """Sees what the client shows, and lets the client answer at once, as some clients do."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    async def elicited(self, context: Any, params: Any) -> types.ElicitResult:
        self.shown.append(params)
        return types.ElicitResult(action="accept", content={"answer": "done"})


def guest(house: FakeHouse) -> Guest:
    return Guest(house.admit().api, browser_names())


def careful_guest(house: FakeHouse) -> Guest:
    """Return an agent that needs an approval for scripts."""
    hello = replace(house.hello(), policy="careful")
    return Guest(house.admit(hello).api, browser_names(("all",)))


async def answer(house: FakeHouse, given: QuestionAnswer = QuestionAnswer.DONE) -> None:
    (session,) = house.broker.state.questions
    operator = Caller(house.broker, OPERATOR)
    await operator.call(ops.SessionAnswer(session=session, answer=given))


@pytest.mark.parametrize("mode", ["legacy", "auto"])  # by a request; by the result of the call
async def test_a_client_shows_the_question_and_its_answer_changes_nothing(
    tmp_path: Path, mode: str
) -> None:
    async with fake_house(tmp_path) as house:
        person, agent = Person(), guest(house)
        server = make_server(lambda _: agent, "")
        async with Client(server, mode=mode, elicitation_callback=person.elicited) as client:
            await client.call_tool("session_open", {})
            reason = {"reason": "Solve the\ncaptcha"}
            waiting = await started(client.call_tool("browser_handoff", reason))
            await until(lambda: person.shown)
            (question,) = house.broker.state.questions.values()
            assert question.answer is None
            assert "“Solve the captcha”" in person.shown[0].message
            assert "roost dashboard" in person.shown[0].message
            await answer(house)
            result = await waiting
            assert not result.is_error
            assert len(person.shown) == 1


async def test_a_client_without_elicitation_is_sent_nothing(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = guest(house)
        async with Client(make_server(lambda _: agent, "")) as client:
            await client.call_tool("session_open", {})
            waiting = await started(client.call_tool("browser_handoff", {"reason": "Look"}))
            await until(lambda: house.broker.state.questions)
            await answer(house)
            assert not (await waiting).is_error


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("tool", ["browser_evaluate", "browser_batch"])
async def test_a_client_shows_an_approval_and_its_answer_allows_nothing(
    tmp_path: Path, mode: str, tool: str
) -> None:
    script = {"function": "() => 1"}
    steps = {"steps": [{"tool": "evaluate", **script}]}
    async with fake_house(tmp_path) as house:
        person, agent = Person(), careful_guest(house)
        server = make_server(lambda _: agent, "")
        async with Client(server, mode=mode, elicitation_callback=person.elicited) as client:
            await client.call_tool("browser_navigate", {"url": "https://site.test/"})
            arguments = script if tool == "browser_evaluate" else steps
            waiting = await started(client.call_tool(tool, arguments))
            await until(lambda: house.broker.state.questions)
            if (mode, tool) != ("auto", "browser_batch"):  # a batch is not repeated, so it waits
                await until(lambda: person.shown)
                assert "wants to run" in person.shown[0].message
                assert "https://site.test" in person.shown[0].message
            (question,) = house.broker.state.questions.values()
            assert question.answer is None, "the client's answer is none"
            await answer(house, QuestionAnswer.ONCE)
            result = await waiting
            assert not result.is_error, result
            assert len(person.shown) <= 1


async def test_a_call_beside_an_open_question_waits_and_says_what_it_waits_for(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        person, agent = Person(), careful_guest(house)
        server = make_server(lambda _: agent, "")
        async with Client(server, mode="auto", elicitation_callback=person.elicited) as client:
            await client.call_tool("browser_navigate", {"url": "https://site.test/"})
            script = {"function": "() => 1"}
            first = await started(client.call_tool("browser_evaluate", script))
            await until(lambda: person.shown)
            second = await started(client.call_tool("browser_evaluate", script))
            await answer(house, QuestionAnswer.SESSION)
            assert not (await first).is_error
            assert not (await second).is_error
            assert len(person.shown) == 1
