"""What the person allows agents to do, once or for longer (``roost.core.approvals``)."""

from __future__ import annotations

from typing import Any

import pytest

from roost import core
from roost.core import events as ev
from roost.core.approvals import ApprovalNeeded
from roost.core.effects import Tell, WriteAudit
from roost.core.rows import Question
from roost.errors import ApprovalPending, BadRequest, PolicyDenied
from roost.vocabulary import (
    APPROVAL_ANSWERS,
    APPROVAL_SECONDS,
    HANDOFF_ANSWERS,
    OPERATOR,
    AgentId,
    NoticeKind,
    QuestionAnswer,
    QuestionKind,
    SessionId,
)
from tests.core.play import HOME, Ask, Play, of

HERE, THERE = "https://here.example", "https://there.example"
RUN = core.Wanted("evaluate", "run JavaScript", HERE)
RUN_THERE = core.Wanted("evaluate", "run JavaScript", THERE)
UPLOAD = core.Wanted("browser_file_upload", "upload files", HERE)


class Person(Play):
    """A play with agents whose client program the kernel names."""

    def programmed(self, name: str, program: str = "/bin/coder") -> tuple[AgentId, SessionId]:
        agent = AgentId(f"agent_{name.encode().hex():0<32}_7")
        self.do(
            Ask(
                core.connect_agent, agent=agent, pid=7, process_started="1", name=name,
                secret_digest="d", session=HOME, lease=False, program=program,
            )
        )  # fmt: skip
        return agent, self.state.agents[agent].own_session

    def used(self, agent: AgentId, wanted: core.Wanted = RUN, session: str = "") -> Ask[None]:
        meant = SessionId(session) if session else self.state.agents[agent].own_session
        return Ask(core.use_approval, agent, meant, wanted)

    def asked(self, agent: AgentId, wanted: core.Wanted = RUN) -> Question:
        needed = self.refused(self.used(agent, wanted), ApprovalNeeded)
        return self.do(Ask(core.ask_approval, needed)).answer

    def answered(self, agent: AgentId, answer: QuestionAnswer, wanted: core.Wanted = RUN) -> None:
        self.do(Ask(core.answer_question, self.asked(agent, wanted).session, answer))

    def may(self, agent: AgentId, wanted: core.Wanted = RUN) -> bool:
        return self.say(self.used(agent, wanted)).refusal is None


def test_without_an_answer_the_person_is_asked_and_the_repeated_call_continues_the_question() -> (
    None
):
    play = Person()
    ada, session = play.programmed("ada")
    first = play.asked(ada)
    assert (first.kind, first.subject, first.origin) == (
        QuestionKind.APPROVAL, "evaluate", HERE,
    )  # fmt: skip
    assert play.asked(ada) == first
    play.restart()
    assert play.state.questions[session] == first


def test_once_is_for_one_call() -> None:
    play = Person()
    ada, _ = play.programmed("ada")
    play.answered(ada, QuestionAnswer.ONCE)
    assert not play.may(ada, UPLOAD)
    assert not play.may(ada, RUN_THERE)
    assert play.may(ada)
    assert not play.may(ada)
    assert not play.state.approvals


def test_an_answer_for_one_call_is_forgotten_after_a_while() -> None:
    play = Person()
    ada, _ = play.programmed("ada")
    play.answered(ada, QuestionAnswer.ONCE)
    play.do(ev.TimePassed(), after=APPROVAL_SECONDS)
    play.refused(play.used(ada), ApprovalNeeded)


@pytest.mark.parametrize(
    ("answer", "elsewhere", "to_a_later_session", "to_another_program"),
    [
        (QuestionAnswer.SESSION, True, False, False),
        (QuestionAnswer.ORIGIN, False, True, False),
        (QuestionAnswer.ALWAYS, True, True, False),
    ],
)
def test_an_approval_covers_what_its_answer_says_and_no_more(
    answer: QuestionAnswer, elsewhere: bool, to_a_later_session: bool, to_another_program: bool
) -> None:
    play = Person()
    ada, session = play.programmed("ada")
    play.answered(ada, answer)
    assert play.may(ada)
    assert play.may(ada)
    assert play.may(ada, RUN_THERE) is elsewhere
    assert not play.may(ada, UPLOAD)
    bob, _ = play.programmed("bob")
    eve, _ = play.programmed("eve", program="/bin/other")
    assert play.may(bob) is to_a_later_session
    assert play.may(eve) is to_another_program
    play.restart()
    play.do(Ask(core.dispose_session, OPERATOR, session))
    assert bool(play.state.approvals) is to_a_later_session


def test_an_agent_that_only_calls_itself_like_another_gets_none_of_its_approvals() -> None:
    play = Person()
    ada, _ = play.programmed("ada", program="")
    play.answered(ada, QuestionAnswer.ALWAYS)
    assert play.may(ada)
    eve, _ = play.programmed("ada2", program="")
    assert not play.may(eve)


def test_the_answer_no_holds_for_a_while_so_that_the_person_is_not_asked_again() -> None:
    play = Person()
    ada, session = play.programmed("ada")
    play.asked(ada)
    play.do(Ask(core.answer_question, session, QuestionAnswer.NO, "Use the API."))
    refusal = play.refused(play.used(ada), PolicyDenied)
    assert refusal.message.endswith("The person said no. Use the API.")
    assert HERE not in refusal.message
    assert refusal.page_said == HERE
    play.refused(play.used(ada), PolicyDenied)
    play.refused(play.used(ada), ApprovalNeeded, after=APPROVAL_SECONDS)


def test_no_answer_in_time_means_no() -> None:
    play = Person()
    ada, _ = play.programmed("ada")
    play.asked(ada)
    decision = play.do(ev.TimePassed(), after=APPROVAL_SECONDS)
    told = [one for one in of(decision, Tell) if one.kind is NoticeKind.QUESTION_ANSWERED]
    assert [one.data["answer"] for one in told] == [None]
    assert [one.data["answer"] for one in of(decision, WriteAudit)] == ["none"]
    play.refused(play.used(ada), PolicyDenied)
    play.refused(play.used(ada), ApprovalNeeded, after=APPROVAL_SECONDS)


def test_a_session_has_one_open_question() -> None:
    play = Person()
    ada, session = play.programmed("ada")
    first = play.asked(ada)
    assert play.asked(ada, UPLOAD) == first
    handoff = _handoff(ada)
    play.refused(handoff, ApprovalPending)
    play.do(Ask(core.answer_question, session, QuestionAnswer.ONCE))
    assert play.asked(ada, UPLOAD).subject == "browser_file_upload"


def test_an_approval_waits_until_the_agent_has_read_the_answer_to_its_hand_over() -> None:
    play = Person()
    ada, session = play.programmed("ada")
    play.do(_handoff(ada))
    assert play.asked(ada).kind is QuestionKind.HANDOFF
    play.do(Ask(core.answer_question, session, QuestionAnswer.DONE))
    needed = play.refused(play.used(ada), ApprovalNeeded)
    play.refused(Ask(core.ask_approval, needed), ApprovalPending)
    play.do(Ask(core.take_answer, ada, None))
    assert play.asked(ada).kind is QuestionKind.APPROVAL
    assert play.do(Ask(core.take_answer, ada, None)).answer is None


def test_an_answer_must_belong_to_the_question() -> None:
    play = Person()
    ada, session = play.programmed("ada")
    play.asked(ada)
    for answer in HANDOFF_ANSWERS:
        play.refused(Ask(core.answer_question, session, answer), BadRequest)
    play.do(Ask(core.answer_question, session, QuestionAnswer.NO))
    play.do(_handoff(ada))
    for answer in APPROVAL_ANSWERS:
        play.refused(Ask(core.answer_question, session, answer), BadRequest)


def test_an_approval_about_no_page_cannot_be_for_an_origin() -> None:
    play = Person()
    ada, session = play.programmed("ada")
    play.asked(ada, core.Wanted("cdp", "attach a DevTools client"))
    play.refused(Ask(core.answer_question, session, QuestionAnswer.ORIGIN), BadRequest)


def test_an_answer_to_an_approval_does_not_give_the_session_back() -> None:
    play = Person()
    ada, session = play.programmed("ada")
    play.asked(ada)
    play.do(Ask(core.pause_session, OPERATOR, session, True))
    play.do(Ask(core.answer_question, session, QuestionAnswer.ONCE))
    assert play.state.sessions[session].paused


def test_the_operator_needs_no_approval() -> None:
    play = Person()
    _, session = play.programmed("ada")
    play.do(Ask(core.use_approval, OPERATOR, session, RUN))


def _handoff(agent: AgentId) -> Ask[Any]:
    kind = QuestionKind.HANDOFF
    return Ask(core.ask_question, agent=agent, session=None, kind=kind, reason="Log in")
