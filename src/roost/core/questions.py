"""Questions to the person: an agent hands its session over, or needs an approval, and waits.

A session has at most one question. The person answers it on the dashboard or by a command. The
agent takes the answer with its next call, however much later, so an answer is not lost when the
agent's client gives up waiting.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import approvals, rules
from roost.core.effects import Tell, WriteAudit
from roost.core.rows import Question
from roost.core.sessions import set_paused
from roost.core.state import State
from roost.errors import ApprovalPending, BadRequest, NotFound
from roost.vocabulary import (
    APPROVAL_ANSWERS,
    HANDOFF_ANSWERS,
    PAUSED_RETRY_MS,
    QUESTION_SECONDS,
    AgentId,
    NoticeKind,
    QuestionAnswer,
    QuestionKind,
    SessionId,
)

REASON_CHARS = 500
NOTE_CHARS = 2000


def ask_question(
    state: State, *, agent: AgentId, session: str | None, kind: QuestionKind, reason: str
) -> Question:
    """Ask the person, or continue the session's open question, which may have its answer
    already."""
    row = rules.session_for(state, agent, session)
    known = state.questions.get(row.id)
    if known is not None and known.kind is not kind:
        raise ApprovalPending(
            f"The person is being asked first whether you may {known.reason}.",
            hint="Repeat the call once they have answered.",
            retry_after_ms=PAUSED_RETRY_MS,
            session=row.id,
        )
    if known is not None:
        return known
    shown = " ".join(reason.split())[:REASON_CHARS]
    if not shown:
        raise BadRequest("reason: say what the person should do.", field="reason")
    question = Question(
        session=row.id,
        kind=kind,
        reason=shown,
        agent=agent,
        asked_at=state.now,
        until=state.now + QUESTION_SECONDS,
    )
    state.put(question)
    state.emit(WriteAudit("question asked", {"session": row.id, "question": kind.value}))
    state.emit(Tell(row.id, NoticeKind.QUESTION_ASKED, {"kind": kind.value, "reason": shown}))
    return question


def answer_question(
    state: State, session: SessionId, answer: QuestionAnswer, note: str = ""
) -> Question:
    """Record the person's answer, and give the session back if the person has it."""
    question = state.questions.get(session)
    if question is None or question.answer is not None:
        raise NotFound(f"Session {session} asks nothing now.")
    _check_answer(question, answer)
    note = note.strip()[:NOTE_CHARS]
    if question.kind is QuestionKind.APPROVAL:
        approvals.answered(state, question, answer, note)
        return replace(question, answer=answer, note=note)
    question = replace(question, answer=answer, note=note)
    state.put(question)
    set_paused(state, state.sessions[session], paused=False)
    state.emit(WriteAudit("question answered", {"session": session, "answer": answer.value}))
    state.emit(
        Tell(session, NoticeKind.QUESTION_ANSWERED, {"answer": answer.value, "note": question.note})
    )
    return question


def _check_answer(question: Question, answer: QuestionAnswer) -> None:
    """Refuse an answer that does not belong to this kind of question."""
    fitting: tuple[QuestionAnswer, ...] = HANDOFF_ANSWERS
    if question.kind is QuestionKind.APPROVAL:
        is_placed = bool(question.origin)
        fitting = tuple(
            one for one in APPROVAL_ANSWERS if is_placed or one is not QuestionAnswer.ORIGIN
        )
    if answer not in fitting:
        wanted = ", ".join(one.value for one in fitting)
        raise BadRequest(
            f"answer: session {question.session} asks for {question.kind}, so expected one of"
            f" {wanted}.",
            field="answer",
        )


def take_answer(state: State, agent: AgentId, session: str | None) -> Question | None:
    """Return the session's hand-over, or None. An answered one is gone afterwards."""
    row = rules.session_for(state, agent, session)
    question = state.questions.get(row.id)
    if question is None or question.kind is not QuestionKind.HANDOFF:
        return None
    if question.answer is not None:
        state.drop(question)
    return question


def expired(state: State, question: Question) -> None:
    """Drop a question that the person did not answer in time, or whose answer no agent took."""
    if question.kind is QuestionKind.APPROVAL:
        approvals.expired(state, question)
        return
    state.drop(question)
    if question.answer is None:
        data = {"answer": None, "note": ""}
        state.emit(Tell(question.session, NoticeKind.QUESTION_ANSWERED, data))
