from __future__ import annotations

import pytest

from roost import core
from roost.core.effects import Tell
from roost.core.questions import NOTE_CHARS, REASON_CHARS
from roost.core.rows import Question
from roost.errors import BadRequest, NotFound, SessionGone
from roost.vocabulary import (
    HANDOFF_ANSWERS,
    OPERATOR,
    QUESTION_SECONDS,
    AgentId,
    NoticeKind,
    QuestionAnswer,
    QuestionKind,
    SessionId,
)
from tests.core.play import Ask, Play, of


def asked(agent: AgentId, reason: str = "Log in", session: str | None = None) -> Ask[Question]:
    kind = QuestionKind.HANDOFF
    return Ask(core.ask_question, agent=agent, session=session, kind=kind, reason=reason)


def taken(agent: AgentId) -> Ask[Question | None]:
    return Ask(core.take_answer, agent, None)


def answered(session: SessionId, note: str = "") -> Ask[Question]:
    return Ask(core.answer_question, session, QuestionAnswer.DONE, note)


def test_a_session_has_one_question_and_the_same_call_continues_it() -> None:
    play = Play()
    ada = play.agent("ada")
    first = play.do(asked(ada)).answer
    again = play.do(asked(ada, "Something else"), after=30.0).answer
    assert again == first
    assert play.do(asked(play.agent("bob"))).answer != first


def test_the_answer_waits_until_the_agent_takes_it_and_is_gone_then() -> None:
    play = Play()
    ada = play.agent("ada")
    question = play.do(asked(ada)).answer
    play.do(answered(question.session, "  Use the other account.  "))
    assert play.do(asked(ada)).answer.answer is QuestionAnswer.DONE
    got = play.do(taken(ada), after=600.0).answer
    assert got is not None
    assert (got.answer, got.note) == (QuestionAnswer.DONE, "Use the other account.")
    assert play.do(taken(ada)).answer is None
    assert play.do(asked(ada)).answer.answer is None


def test_an_open_question_is_not_taken_away_by_looking() -> None:
    play = Play()
    ada = play.agent("ada")
    question = play.do(asked(ada)).answer
    assert play.do(taken(ada)).answer == question
    assert play.state.questions[question.session] == question


def test_an_answer_gives_the_session_back() -> None:
    play = Play()
    question = play.do(asked(play.agent("ada"))).answer
    play.do(Ask(core.pause_session, OPERATOR, question.session, True))
    play.do(answered(question.session))
    assert not play.state.sessions[question.session].paused


def test_only_an_open_question_is_answered() -> None:
    play = Play()
    ada = play.agent("ada")
    session = play.state.agents[ada].own_session
    play.refused(answered(session), NotFound)
    play.do(asked(ada))
    play.do(answered(session))
    play.refused(answered(session), NotFound)


def test_another_agent_neither_asks_nor_reads_in_a_foreign_session() -> None:
    play = Play()
    ada, eve = play.agent("ada"), play.agent("eve")
    question = play.do(asked(ada)).answer
    play.do(answered(question.session, "secret"))
    play.refused(asked(eve, session=question.session), SessionGone)
    play.refused(Ask(core.take_answer, eve, question.session), SessionGone)


def test_a_question_survives_a_restart_and_ends_with_its_session() -> None:
    play = Play()
    ada = play.agent("ada")
    question = play.do(asked(ada)).answer
    play.restart()
    assert play.state.questions[question.session] == question
    play.do(Ask(core.dispose_session, OPERATOR, question.session))
    assert not play.state.questions


def test_a_question_is_withdrawn_after_a_day() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(asked(ada))
    decision = play.do(taken(ada), after=QUESTION_SECONDS)
    assert decision.answer is None
    told = [one for one in of(decision, Tell) if one.kind is NoticeKind.QUESTION_ANSWERED]
    assert [one.data["answer"] for one in told] == [None]


def test_reason_and_note_are_cut_and_a_reason_is_needed() -> None:
    play = Play()
    ada = play.agent("ada")
    play.refused(asked(ada, " \n "), BadRequest)
    question = play.do(asked(ada, "x\n" * 5000)).answer
    assert len(question.reason) == REASON_CHARS
    assert "\n" not in question.reason
    assert len(play.do(answered(question.session, "y" * 9999)).answer.note) == NOTE_CHARS


@pytest.mark.parametrize("answer", HANDOFF_ANSWERS)
def test_the_session_is_told_of_question_and_answer(answer: QuestionAnswer) -> None:
    play = Play()
    asking = play.do(asked(play.agent("ada")))
    assert [one.kind for one in of(asking, Tell)] == [NoticeKind.QUESTION_ASKED]
    answering = play.do(Ask(core.answer_question, asking.answer.session, answer))
    assert [one.kind for one in of(answering, Tell)] == [NoticeKind.QUESTION_ANSWERED]
