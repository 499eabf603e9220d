"""The work behind questions to the person: a hand-over, an approval, and the person's answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection
from typing import Literal

from roost import core
from roost.api import operations as ops
from roost.api import views
from roost.api.broker import ENDS_WHEN_ASKED, Notice
from roost.broker.broker import Broker
from roost.broker.work import views as view_of
from roost.broker.work.running_call import running_call
from roost.core.rows import Question
from roost.errors import Timeout
from roost.vocabulary import (
    HANDOFF_SECONDS,
    OPERATOR,
    AgentId,
    NoticeKind,
    QuestionAnswer,
    QuestionKind,
    SessionId,
)

WAIT_SHARE = 0.7
"""The part of a call's time that may pass until the person answers. The rest is for the work."""
_HANDOFF_WORDS: dict[QuestionAnswer, Literal["done", "cannot"]] = {
    QuestionAnswer.DONE: "done",
    QuestionAnswer.CANNOT: "cannot",
}


async def handoff(broker: Broker, agent: AgentId, op: ops.Handoff) -> views.HandoffView:
    """Ask the person, and wait as long as MCP clients do. A repeated call continues to wait."""
    question = broker.decide(
        core.ask_question,
        agent=agent,
        session=op.session,
        kind=QuestionKind.HANDOFF,
        reason=op.reason,
    )
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(op.wait_seconds):
            await _ended(broker, question)
    now = broker.decide(core.take_answer, agent, question.session)
    if now is None:
        raise Timeout("The person did not answer within a day, so the question is withdrawn.")
    return views.HandoffView(
        session=now.session,
        answer="waiting" if now.answer is None else _HANDOFF_WORDS[now.answer],
        note=now.note or None,
    )


async def answer(broker: Broker, agent: AgentId, op: ops.SessionAnswer) -> views.SessionView:
    session = broker.decide(core.session_for, agent, op.session)
    broker.decide(core.answer_question, session.id, op.answer, op.note)
    return view_of.session(broker, agent, broker.state.sessions[session.id])


def require(broker: Broker, agent: AgentId, session: SessionId | None, wanted: core.Wanted) -> None:
    """Let the running call go on only if the person allows what is wanted.

    ``Caller`` catches the ``ApprovalNeeded`` that this raises, asks the person, and performs the
    work again from its beginning. So call this before the work changes anything. Raises
    ``PolicyDenied`` if the person said no.
    """
    call = running_call()
    if agent == OPERATOR or session is None or wanted in call.approved:
        return
    broker.decide(core.use_approval, agent, session, wanted)
    call.approved = (*call.approved, wanted)


async def ask(broker: Broker, needed: core.ApprovalNeeded) -> None:
    """Ask the person for the approval, and return when the work should be tried again.

    The call holds no tab's turn meanwhile. Raises ``ApprovalPending`` when most of the call's time
    is over; the question stays, and the repeated call continues it. Raises ``ApprovalPending`` at
    once if the caller wants that (``ENDS_WHEN_ASKED``) and the question is new.
    """
    known = broker.state.questions.get(needed.session)
    question = broker.decide(core.ask_approval, needed)
    if known is None and ENDS_WHEN_ASKED.get(False):
        raise needed.shown()
    left = running_call().ends_at - broker.clock.now()
    try:
        async with asyncio.timeout(max(0.0, min(HANDOFF_SECONDS, left * WAIT_SHARE))):
            await _ended(broker, question)
    except TimeoutError:
        raise needed.shown() from None


async def _ended(broker: Broker, question: Question) -> None:
    """Wait until the question is answered, withdrawn, or ended with its session."""
    session = question.session

    def is_news(notice: Notice, to: Collection[AgentId]) -> bool:
        ends = (NoticeKind.QUESTION_ANSWERED, NoticeKind.SESSION_ENDED)
        return notice.session == session and notice.kind in ends

    with broker.watchers.listen(is_news) as notices:
        while broker.state.questions.get(session) == question and question.answer is None:
            await anext(notices)
