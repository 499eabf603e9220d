"""Approvals: the person allows, or does not allow, what an agent wants to do.

A call that needs an approval asks ``use_approval``. Without an answer of the person that covers the
call, ``use_approval`` raises ``ApprovalNeeded``; the broker then asks the person (``ask_approval``)
and repeats the work once the question is gone. The question is the session's question, like a
hand-over. Its answer becomes an ``Approval`` row, so a later call finds the answer, also after a
restart of the broker. A question that nobody answers in time is answered with no. A no holds for
``APPROVAL_SECONDS``, so an agent cannot ask the same again and again.
"""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.effects import Tell, WriteAudit
from roost.core.rows import Approval, Question, Session
from roost.core.state import State
from roost.errors import ApprovalPending, PolicyDenied, RoostError
from roost.hints import Hint
from roost.vocabulary import (
    APPROVAL_SECONDS,
    OPERATOR,
    PAUSED_RETRY_MS,
    AgentId,
    NoticeKind,
    QuestionAnswer,
    QuestionKind,
    SessionId,
)

SAID_NO = "The person said no."
NOBODY_ANSWERED = "Nobody answered in time, which means no."


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an agent wants to do and needs an approval for.

    subject: name of what is allowed, such as ``evaluate`` or ``secret github``. Approvals
        for a session, an origin or always are for one subject.
    what: the same in Roost's words, as in "The agent wants to …". No page text.
    origin: the origin of the page that it is about. Empty if it is about none.
    """

    subject: str
    what: str
    origin: str = ""


class ApprovalNeeded(ApprovalPending):
    """The person has not allowed it yet. ``Caller`` asks the person and repeats the work."""

    def __init__(self, agent: AgentId, session: SessionId, wanted: Wanted) -> None:
        super().__init__(
            f"The person is being asked whether you may {wanted.what}.",
            retry_after_ms=PAUSED_RETRY_MS,
            page_said=wanted.origin or None,
            session=session,
        )
        self.agent = agent
        self.session = session
        self.wanted = wanted

    def retold(self, *, message: str | None = None, hint: str | None = None) -> RoostError:
        """Return this error unchanged. ``Caller`` catches it, and ``shown`` makes the error that
        callers read."""
        return self

    def shown(self) -> ApprovalPending:
        """Return the error for a caller whose time is over before the person has answered."""
        return ApprovalPending(
            self.message,
            retry_after_ms=self.retry_after_ms,
            page_said=self.page_said,
            **self.details,
        )


def use_approval(state: State, agent: AgentId, session: SessionId, wanted: Wanted) -> None:
    """Use an answer of the person that allows what is wanted.

    An answer for one call is used up. Raises ``ApprovalNeeded`` if there is no answer yet, and
    ``PolicyDenied`` if the answer is no. The operator needs no approval.
    """
    if agent == OPERATOR:
        return
    approval = _found(state, agent, session, wanted)
    if approval is None:
        raise ApprovalNeeded(agent, session, wanted)
    if not approval.allow:
        raise PolicyDenied(
            f"You may not {wanted.what}. {approval.why}",
            page_said=wanted.origin or None,
            session=session,
        )
    if approval.until is not None:
        state.drop(approval)


def use_up(state: State, session: SessionId, wanted: Wanted) -> None:
    """Forget an answer for one call, because what it allowed has happened."""
    once = Approval(
        session=session, subject=wanted.subject, origin=wanted.origin or None, until=0.0
    )
    if once.key in state.approvals:
        state.drop(once)


def is_approved(state: State, agent: AgentId, session: SessionId, wanted: Wanted) -> bool:
    """Return whether the person allows what is wanted, and use up nothing."""
    found = _found(state, agent, session, wanted)
    return found is not None and found.allow


def _found(state: State, agent: AgentId, session: SessionId, wanted: Wanted) -> Approval | None:
    subject, origin = wanted.subject, wanted.origin or None
    program = _program(state, agent)
    rows = [
        Approval(session=session, subject=subject, origin=origin, until=0.0),
        Approval(session=session, subject=subject, origin=None),
        Approval(session=session, subject=subject, origin=origin),
    ]
    if program:
        rows += [
            Approval(session=None, program=program, subject=subject, origin=origin),
            Approval(session=None, program=program, subject=subject, origin=None),
        ]
    found = (state.approvals.get(row.key) for row in rows)
    return next((row for row in found if row is not None), None)


def ask_approval(state: State, needed: ApprovalNeeded) -> Question:
    """Ask the person, or continue the session's open question, which may be another one.

    Raises ``ApprovalPending`` while the answer to an earlier hand-over waits for the agent.
    """
    known = state.questions.get(needed.session)
    if known is not None and known.answer is not None:
        raise ApprovalPending(
            "The person has answered your earlier question, and you have not read the answer.",
            hint=Hint("Read the answer first[ with {Handoff}], then repeat this call."),
            session=needed.session,
        )
    if known is not None:
        return known
    wanted = needed.wanted
    question = Question(
        session=needed.session,
        kind=QuestionKind.APPROVAL,
        reason=wanted.what,
        agent=needed.agent,
        asked_at=state.now,
        until=state.now + APPROVAL_SECONDS,
        subject=wanted.subject,
        origin=wanted.origin,
    )
    state.put(question)
    about = {"session": question.session, "question": question.kind.value}
    state.emit(WriteAudit("question asked", {**about, **_about(question)}))
    told = {"kind": question.kind.value, "reason": question.reason}
    if question.origin:
        told["origin"] = question.origin
    state.emit(Tell(question.session, NoticeKind.QUESTION_ASKED, told))
    return question


def answered(state: State, question: Question, answer: QuestionAnswer, note: str) -> None:
    """Turn the person's answer into the row that later calls find, and drop the question."""
    # Without a program that the kernel names, any agent could claim to be the same client.
    program = _program(state, question.agent)
    is_wide = bool(program) and answer in (QuestionAnswer.ORIGIN, QuestionAnswer.ALWAYS)
    is_for_any_origin = answer in (QuestionAnswer.SESSION, QuestionAnswer.ALWAYS)
    is_for_next_call = answer in (QuestionAnswer.ONCE, QuestionAnswer.NO)
    row = Approval(
        session=None if is_wide else question.session,
        program=program if is_wide else "",
        subject=question.subject,
        origin=None if is_for_any_origin else question.origin or None,
        allow=answer is not QuestionAnswer.NO,
        until=state.now + APPROVAL_SECONDS if is_for_next_call else None,
        why=f"{SAID_NO} {note}".strip() if answer is QuestionAnswer.NO else "",
    )
    _end(state, question, row, answer, note)


def expired(state: State, question: Question) -> None:
    """Nobody answered in time: refuse the agent's next such call."""
    refused = Approval(
        session=question.session,
        subject=question.subject,
        origin=question.origin or None,
        allow=False,
        until=state.now + APPROVAL_SECONDS,
        why=NOBODY_ANSWERED,
    )
    _end(state, question, refused, None, "")


def _end(
    state: State,
    question: Question,
    approval: Approval,
    answer: QuestionAnswer | None,
    note: str,
) -> None:
    state.drop(question)
    state.put(approval)
    given = "none" if answer is None else answer.value
    about = {"session": question.session, "answer": given}
    state.emit(WriteAudit("question answered", {**about, **_about(question)}))
    data = {"answer": None if answer is None else answer.value, "note": note}
    state.emit(Tell(question.session, NoticeKind.QUESTION_ANSWERED, data))


def _about(question: Question) -> dict[str, str]:
    about = {"subject": question.subject}
    return {**about, "origin": question.origin} if question.origin else about


def forget(state: State, session: Session) -> None:
    """Drop the approvals of a session that ends."""
    for row in [row for row in state.approvals.values() if row.session == session.id]:
        state.drop(row)


def withdraw_approvals(state: State, session: SessionId | None) -> None:
    """Forget what the person approved for a session; for None, everywhere."""
    for row in list(state.approvals.values()):
        if session is None or row.session == session:
            state.drop(row)
    state.emit(WriteAudit("approvals withdrawn", {"session": session}))


def _program(state: State, agent: AgentId) -> str:
    row = state.agents.get(agent)
    return "" if row is None else row.program
