"""The person is asked for consent, answers, pauses and ends sessions."""

from __future__ import annotations

from dataclasses import replace

from roost import core
from roost.core import events as ev
from roost.core.effects import OpenTab
from roost.core.machine import Machine
from roost.core.rows import Consent
from roost.errors import Paused, SessionGone, Unauthorized
from roost.vocabulary import OPERATOR, AgentId, JarPolicy, Lifetime
from tests.core.play import B1, URL, Ask, Play, named, of
from tests.core.test_groups import brought, grouped_play, home, told, use


def persons_play() -> Play:
    play = grouped_play()
    play.settings = replace(play.settings, personal=frozenset({B1}))
    play.machine = Machine(play.settings)
    play.state = play.machine.state
    return play


def opening(agent: AgentId) -> Ask[core.OpenTabAnswer]:
    return Ask(core.open_tab, agent=agent, session=None, url=URL)


def ask_person(play: Play, agent: AgentId) -> None:
    """Be refused for lack of consent, and ask the person, as the broker does."""
    refusal = play.refused(opening(agent), core.ConsentNeeded)
    play.do(Ask(core.ask_person, refusal.agent, refusal.browser))


def test_the_first_use_by_a_program_waits_for_the_person() -> None:
    play = persons_play()
    ada = play.agent("ada")
    refused = play.say(opening(ada))
    assert isinstance(refused.refusal, core.ConsentNeeded)
    assert refused.refusal.retry_after_ms
    assert of(refused, OpenTab) == [], "nothing is done before they have answered"
    assert not refused.changes, "a check writes nothing"
    play.do(Ask(core.ask_person, refused.refusal.agent, refused.refusal.browser))
    consent = play.state.consent(B1, "ada")
    assert consent is not None
    assert consent.allow is None
    play.refused(opening(ada), Paused)
    answered = play.do(ev.PersonAnswered(B1, "ada", True))
    assert told(answered) == [(home(play, ada).id, "person_answered")]
    play.tab(ada)


def test_an_answer_is_asked_for_once_and_never_by_an_agent_that_has_ended() -> None:
    play = persons_play()
    ada = play.agent("ada")
    ask_person(play, ada)
    assert not play.do(Ask(core.ask_person, ada, B1)).changes
    play.do(ev.AgentLeft(ada))
    play.do(Ask(core.ask_person, ada, B1))
    assert play.state.consents(B1) == []


def test_a_refusal_is_remembered_and_says_who_can_change_it() -> None:
    play = persons_play()
    ada = play.agent("ada")
    ask_person(play, ada)
    play.do(ev.PersonAnswered(B1, "ada", False))
    assert "popup" in play.refused(opening(ada), Unauthorized).hint
    play.restart()
    again = play.agent("ada")
    play.refused(opening(again), Unauthorized)
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(again)


def test_an_answer_holds_for_every_agent_of_that_program_and_no_other() -> None:
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
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS)

    def comes(agent: AgentId, name: str, program: str) -> None:
        play.do(
            Ask(
                core.connect_agent, agent=agent, pid=1, process_started="", name=name,
                secret_digest="", session=spec, program=program,
            )
        )  # fmt: skip

    comes(ada, "ada", "/bin/claude in /work")
    ask_person(play, ada)
    (asked,) = play.state.consents(B1)
    assert asked.label == "/bin/claude in /work, called “ada”"
    play.do(ev.PersonAnswered(B1, asked.label, True))
    play.tab(ada)
    renamed, other = AgentId("agent_renamed"), AgentId("agent_other")
    comes(renamed, "somebody", "/bin/claude in /work")
    play.tab(renamed)
    comes(other, "ada", "/bin/other in /work")
    play.refused(opening(other), Paused)


def test_answers_of_earlier_releases_which_were_about_names_are_ignored() -> None:
    play = persons_play()
    play.state.put(Consent(browser=B1, name="ada", allow=True))
    ada = play.agent("ada")
    play.refused(opening(ada), Paused)
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(ada)


def test_withdrawn_consent_ends_the_use_of_open_tabs() -> None:
    play = persons_play()
    ada = play.agent("ada")
    play.do(ev.PersonAnswered(B1, "ada", True))
    play.tab(ada)
    play.do(ev.PersonAnswered(B1, "ada", False))
    play.refused(use(ada), Unauthorized)


def test_a_tab_that_the_person_moves_to_a_session_is_no_consent_to_use_it() -> None:
    play = persons_play()
    ada = play.agent("ada")
    tab = brought(play, home(play, ada))
    play.refused(use(ada, tab.id), Paused)
    play.refused(Ask(core.request_jar, agent=ada, session=None), Paused)


def test_a_question_is_dropped_with_the_last_agent_that_asked() -> None:
    play = persons_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    ask_person(play, ada)
    ask_person(play, bob)
    play.do(ev.AgentLeft(ada))
    assert [consent.name for consent in play.state.consents(B1)] == ["bob"]


def test_the_operator_is_the_person_and_needs_no_consent() -> None:
    play = persons_play()
    spec = core.SessionSpec(lifetime=Lifetime.NAMED, policy=JarPolicy.SHARED)
    session = play.do(Ask(core.open_session, agent=OPERATOR, alias=None, spec=spec)).answer
    assert session is not None
    play.do(Ask(core.open_tab, agent=OPERATOR, session=session.id, url=URL))


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
