"""Questions to the person: an agent hands its session over and waits for the answer.

A session has at most one question. The person answers it on the dashboard or by a command. The
agent takes the answer with its next call, however much later, so an answer is not lost when the
agent's client gives up waiting.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import rules
from roost.core.effects import Tell, WriteAudit
from roost.core.rows import Question
from roost.core.sessions import set_paused
from roost.core.state import State
from roost.errors import BadRequest, NotFound
from roost.vocabulary import (
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
    """Ask the person, or continue the session's open question. Returns an answer that waits."""
    row = rules.session_for(state, agent, session)
    known = state.questions.get(row.id)
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
    question = replace(question, answer=answer, note=note.strip()[:NOTE_CHARS])
    state.put(question)
    set_paused(state, state.sessions[session], paused=False)
    state.emit(WriteAudit("question answered", {"session": session, "answer": answer.value}))
    state.emit(
        Tell(session, NoticeKind.QUESTION_ANSWERED, {"answer": answer.value, "note": question.note})
    )
    return question


def take_answer(state: State, agent: AgentId, session: str | None) -> Question | None:
    """Return the session's question. An answered one is gone afterwards; None if there is none."""
    row = rules.session_for(state, agent, session)
    question = state.questions.get(row.id)
    if question is not None and question.answer is not None:
        state.drop(question)
    return question


def expired(state: State, question: Question) -> None:
    """Nobody answered in time, or nobody took the answer."""
    state.drop(question)
    if question.answer is None:
        data = {"answer": None, "note": ""}
        state.emit(Tell(question.session, NoticeKind.QUESTION_ANSWERED, data))
