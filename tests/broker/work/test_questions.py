"""How a call waits for the person's approval (``roost.broker.work.questions``)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.api.broker import BrokerApi
from roost.broker.broker import Broker
from roost.broker.doors.caller import WORK, Caller
from roost.broker.work import questions, session_work
from roost.errors import ApprovalPending, PolicyDenied
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of, started
from roost.vocabulary import OPERATOR, AgentId, NoticeKind, QuestionAnswer

WANTED = core.Wanted("thing", "do the thing", "https://here.example")
DO = ops.SessionShow()


@pytest.fixture(autouse=True)
def _showing_needs_an_approval(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checks in one call, as an operation that is judged before and at its action has."""

    async def work(broker: Broker, agent: AgentId, op: ops.SessionShow) -> views.SessionView:
        session = broker.decide(core.session_for, agent, op.session).id
        questions.require(broker, agent, session, WANTED)
        questions.require(broker, agent, session, WANTED)
        return await session_work.show(broker, agent, op)

    kind: type[ops.Operation] = ops.SessionShow
    monkeypatch.setitem(WORK, kind, work)


async def answer(house: FakeHouse, given: QuestionAnswer, note: str = "") -> None:
    (session,) = house.state.questions
    said = ops.SessionAnswer(session=session, answer=given, note=note)
    await Caller(house.broker, OPERATOR).call(said)


async def pending(agent: BrokerApi) -> ApprovalPending:
    """Call once, and do not wait for the person."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "WAIT_SHARE", 0.0)
        return await error_of(ApprovalPending, agent.call(DO))


async def test_a_call_waits_for_the_approval_and_is_then_performed_once(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        waiting = await started(agent.call(DO))
        (question,) = house.state.questions.values()
        assert question.reason == "do the thing"
        await answer(house, QuestionAnswer.ONCE)
        assert (await waiting).id == question.session
        assert not house.state.approvals
        await pending(agent)


async def test_a_call_whose_time_ends_says_so_and_its_repetition_continues_the_question(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        error = await pending(agent)
        assert error.retry_after_ms
        assert "here.example" not in error.message
        (asked,) = house.state.questions.values()
        await pending(agent)
        assert list(house.state.questions.values()) == [asked]
        await answer(house, QuestionAnswer.SESSION)
        await agent.call(DO)
        await agent.call(DO)


async def test_the_answer_no_refuses_the_call_with_the_persons_note(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        waiting = await started(house.admit().api.call(DO))
        await answer(house, QuestionAnswer.NO, "Ask me tomorrow.")
        error = await error_of(PolicyDenied, waiting)
        assert error.message.endswith("The person said no. Ask me tomorrow.")


async def test_a_second_call_waits_until_the_session_may_ask_its_own_question(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        first = await started(agent.call(DO))
        second = await started(agent.call(DO))
        assert len(house.state.questions) == 1
        await answer(house, QuestionAnswer.SESSION)
        await asyncio.gather(first, second)


async def test_a_step_of_a_batch_waits_for_its_own_approval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = WORK[ops.SessionShow]

    async def listing(broker: Broker, agent: AgentId, op: ops.SessionList) -> views.View:
        await show(broker, agent, DO)
        return await session_work.list_(broker, agent, op)

    kind: type[ops.Operation] = ops.SessionList
    monkeypatch.setitem(WORK, kind, listing)
    async with fake_house(tmp_path) as house:
        agent = house.admit().api
        steps = [{"tool": "session_list"}, {"tool": "session_list"}]
        waiting = await started(agent.call(ops.Batch(steps=steps)))
        asked = house.broker.watchers.listen(
            lambda notice, _: notice.kind is NoticeKind.QUESTION_ASKED
        )
        with asked as notices:
            await answer(house, QuestionAnswer.ONCE)
            await anext(notices)
        await answer(house, QuestionAnswer.NO)
        view = await waiting
        assert [step.error and step.error["code"] for step in view.steps] == [None, "POLICY_DENIED"]


async def test_a_question_and_its_answer_outlive_the_broker(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await pending(agent.api)
        asked = dict(house.state.questions)
    async with fake_house(tmp_path) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        waiting = await started(again.api.call(DO))
        assert house.state.questions == asked
        await answer(house, QuestionAnswer.ONCE)
        await waiting
