"""The person is asked, answers, pauses, and ends."""

from __future__ import annotations

from dataclasses import replace

from roost.core import events as ev
from roost.core.effects import OpenTab
from roost.core.machine import Machine
from roost.core.rows import Consent
from roost.errors import Paused, SessionGone, Unauthorized
from roost.vocabulary import OPERATOR, AgentId, JarPolicy, Lifetime
from tests.core.play import B1, URL, Play, named, of
from tests.core.test_groups import brought, grouped_play, home, told, use


def persons_play() -> Play:
    play = grouped_play()
    play.rules = replace(play.rules, personal=frozenset({B1}))
    play.machine = Machine(play.rules)
    play.state = play.machine.state
    return play


def opening(agent: AgentId) -> ev.TabOpenRequested:
    return ev.TabOpenRequested(agent=agent, session=None, url=URL)


def test_the_first_use_by_a_name_waits_for_the_person() -> None:
    play = persons_play()
    ada = play.agent("ada")
    asked = play.say(opening(ada))
    assert isinstance(asked.refusal, Paused)
    assert asked.refusal.retry_after_ms
    assert of(asked, OpenTab) == [], "nothing is done before they have answered"
    consent = play.state.consent(B1, "ada")
    assert consent is not None
    assert consent.allow is None
    play.refused(opening(ada), Paused)
    answered = play.do(ev.PersonAnswered(B1, "ada", True))
    assert told(answered) == [(home(play, ada).id, "person_answered")]
    play.tab(ada)


def test_a_refusal_is_remembered_and_says_who_can_change_it() -> None:
    play = persons_play()
    ada = play.agent("ada")
    play.refused(opening(ada), Paused)
    play.do(ev.PersonAnswered(B1, "ada", False))
    assert "popup" in play.refused(opening(ada), Unauthorized).hint
    play.restart()
    again = play.agent("ada")
    play.refused(opening(again), Unauthorized)
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(again)


def test_an_answer_holds_for_that_name_alone_and_for_every_agent_of_it() -> None:
    play = persons_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(ada)
    play.refused(opening(bob), Paused)
    play.do(ev.AgentLeft(ada))
    play.tab(play.agent("ada"))


def test_an_answer_is_about_the_program_and_not_about_what_it_calls_itself() -> None:
    play = persons_play()
    ada = AgentId("agent_ada")
    spec = ev.SessionSpec(lifetime=Lifetime.ANONYMOUS)

    def comes(agent: AgentId, name: str, program: str) -> None:
        play.do(
            ev.AgentConnected(
                agent=agent, pid=1, process_started="", name=name, secret_digest="",
                session=spec, program=program,
            )
        )  # fmt: skip

    comes(ada, "ada", "/bin/claude in /work")
    play.refused(opening(ada), Paused)
    (asked,) = play.state.consents(B1)
    assert asked.label == "/bin/claude in /work, called “ada”"
    play.do(ev.PersonAnswered(B1, asked.label, True))
    play.tab(ada)
    renamed, other = AgentId("agent_renamed"), AgentId("agent_other")
    comes(renamed, "somebody", "/bin/claude in /work")
    play.tab(renamed)
    comes(other, "ada", "/bin/other in /work")
    play.refused(opening(other), Paused)


def test_answers_of_earlier_releases_which_were_about_names_count_no_more() -> None:
    play = persons_play()
    play.state.put(Consent(browser=B1, name="ada", allow=True))
    ada = play.agent("ada")
    play.refused(opening(ada), Paused)
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(ada)


def test_leave_that_is_taken_back_ends_the_use_of_tabs_that_are_there() -> None:
    play = persons_play()
    ada = play.agent("ada")
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(ada)
    play.do(ev.PersonAnswered(B1, "ada", False))
    play.refused(use(ada), Unauthorized)


def test_a_tab_the_person_brings_is_no_leave_to_use_it() -> None:
    play = persons_play()
    ada = play.agent("ada")
    tab = brought(play, home(play, ada))
    play.refused(use(ada, tab.id), Paused)
    play.refused(ev.JarRequested(agent=ada, session=None), Paused)


def test_a_question_goes_with_the_last_agent_that_asked() -> None:
    play = persons_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.refused(opening(ada), Paused)
    play.refused(opening(bob), Paused)
    play.do(ev.AgentLeft(ada))
    assert [consent.name for consent in play.state.consents(B1)] == ["bob"]


def test_the_operator_is_the_person_and_needs_no_leave() -> None:
    play = persons_play()
    spec = ev.SessionSpec(lifetime=Lifetime.NAMED, policy=JarPolicy.SHARED)
    session = play.do(ev.SessionOpenRequested(agent=OPERATOR, alias=None, spec=spec)).subject
    assert session is not None
    play.do(ev.TabOpenRequested(agent=OPERATOR, session=session.id, url=URL))


def test_in_a_managed_browser_nobody_is_asked() -> None:
    play = grouped_play()
    play.tab(play.agent("ada"))
    assert play.state.consents(B1) == []


def test_the_person_pauses_one_session_and_hands_it_back() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.tab(ada)
    play.tab(bob)
    group = home(play, ada).group
    assert told(play.do(ev.PersonSaid(B1, "pause", group))) == [
        (home(play, ada).id, "session_paused")
    ]
    play.refused(use(ada), Paused)
    play.do(use(bob))
    play.do(ev.PersonSaid(B1, "resume", group))
    play.do(use(ada))


def test_the_person_pauses_all_sessions_of_that_browser_at_once() -> None:
    play = grouped_play()
    agents = [play.agent("ada"), play.agent("bob", named("shop"))]
    for agent in agents:
        play.tab(agent)
    play.do(ev.PersonSaid(B1, "pause"))
    for agent in agents:
        play.refused(use(agent), Paused)
    play.do(ev.PersonSaid(B1, "resume"))
    for agent in agents:
        play.do(use(agent))


def test_the_person_ends_a_session_also_a_paused_one() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    play.tab(ada)
    session = home(play, ada)
    play.do(ev.PersonSaid(B1, "pause", session.group))
    play.do(ev.PersonSaid(B1, "end", session.group))
    assert session.id not in play.state.sessions
    play.refused(use(ada), SessionGone)
    assert play.tab(ada).session != session.id


def test_what_the_person_says_of_a_group_that_is_gone_changes_nothing() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    play.tab(ada)
    assert play.do(ev.PersonSaid(B1, "end", "s9@1")).changes == []
