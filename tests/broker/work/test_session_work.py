"""How an agent hands its session over to the person and waits (``roost.broker.work``)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from roost import core
from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.broker.doors.caller import Caller
from roost.errors import NotFound, SessionGone, Unauthorized
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of, started
from roost.vocabulary import OPERATOR, QuestionAnswer

URL = "https://site.test/"


async def asking(house: FakeHouse, reason: str = "Log in") -> tuple[BrokerApi, str]:
    """Return an agent that has a page open, and its session."""
    api = house.admit().api
    await api.call(ops.Navigate(url=URL))
    return api, (await api.call(ops.SessionList())).sessions[0].id


async def test_a_handoff_waits_for_the_person_and_brings_their_note(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, session = await asking(house)
        waiting = await started(agent.call(ops.Handoff(reason="Log in")))
        assert house.state.questions
        answer = ops.SessionAnswer(session=session, answer=QuestionAnswer.DONE, note="Try now.")
        await Caller(house.broker, OPERATOR).call(answer)
        view = await waiting
        assert (view.answer, view.note) == ("done", "Try now.")
        assert not house.state.questions


async def test_a_call_that_waited_long_says_so_and_the_next_one_goes_on(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, session = await asking(house)
        assert (await agent.call(ops.Handoff(reason="Log in", wait_seconds=0))).answer == "waiting"
        asked = house.state.questions
        cannot = ops.SessionAnswer(session=session, answer=QuestionAnswer.CANNOT)
        await Caller(house.broker, OPERATOR).call(cannot)
        assert (await agent.call(ops.Handoff(reason="Log in"))).answer == "cannot"
        assert asked == {}


async def test_a_cancelled_handoff_leaves_the_question_open(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, _ = await asking(house)
        waiting = await started(agent.call(ops.Handoff(reason="Log in")))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert house.state.questions
        assert house.broker.watchers._listening == {}


async def test_a_handoff_ends_with_its_session(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, session = await asking(house)
        waiting = await started(agent.call(ops.Handoff(reason="Log in")))
        house.broker.decide(core.dispose_session, OPERATOR, session)
        await error_of(SessionGone, waiting)


async def test_only_the_person_answers(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, session = await asking(house)
        waiting = await started(agent.call(ops.Handoff(reason="Log in")))
        answer = ops.SessionAnswer(session=session, answer=QuestionAnswer.DONE)
        await error_of(Unauthorized, agent.call(answer))
        await error_of(Unauthorized, house.admit().api.call(answer))
        operator = Caller(house.broker, OPERATOR)
        await operator.call(answer)
        await waiting
        await error_of(NotFound, operator.call(answer))


async def test_a_note_with_a_session_given_back_is_in_the_agents_next_reply(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, session = await asking(house)
        operator = Caller(house.broker, OPERATOR)
        await operator.call(ops.SessionPause(session=session))
        await operator.call(ops.SessionResume(session=session, note="I logged\nyou in."))
        notes = (await agent.call(ops.SessionList())).notes or []
        assert notes == ["The person gave the session back: I logged you in."]
