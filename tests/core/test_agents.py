from __future__ import annotations

import pytest

from roost import core
from roost.core import events as ev
from roost.core.effects import EndAgent, ForgetTab, StartCapture
from roost.core.machine import Machine
from roost.core.rows import Session, Tab
from roost.errors import SessionGone, Unauthorized
from roost.vocabulary import (
    GRACE_SECONDS,
    LATE_SECONDS,
    LEASE_SECONDS,
    OPERATOR,
    RESTART_GRACE_SECONDS,
    Lifetime,
    SessionId,
)
from tests.core.play import B1, URL, Ask, Play, named, of


def test_an_agent_back_within_its_grace_keeps_identity_and_tabs() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    play.do(ev.AgentDisconnected(ada))
    session = play.do(Ask(core.resume_agent, ada), after=GRACE_SECONDS - 0.1).answer
    assert isinstance(session, Session)
    assert session.id == tab.session
    play.do(ev.TimePassed(), after=3600)
    assert tab.id in play.state.tabs


def test_an_agent_that_does_not_come_back_is_ended_when_the_core_is_woken() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(ev.AgentDisconnected(ada))
    assert not of(play.do(Ask(core.renew_lease, ada), after=GRACE_SECONDS), EndAgent)
    assert of(play.do(ev.TimePassed(), after=LATE_SECONDS), EndAgent) == [EndAgent(ada)]
    play.refused(Ask(core.resume_agent, ada), Unauthorized)


def test_an_agent_that_comes_back_before_the_core_is_woken_is_not_ended() -> None:
    """Its hello was read after its deadline, in a turn of the loop that came late."""
    play = Play()
    ada = play.agent("ada")
    play.do(ev.AgentDisconnected(ada))
    play.do(Ask(core.resume_agent, ada), after=GRACE_SECONDS + 0.5)
    play.do(ev.TimePassed(), after=3600)
    assert ada in play.state.agents


@pytest.mark.parametrize("lease", [False, True])
def test_a_late_wake_up_ends_no_agent_and_gives_one_more_grace(lease: bool) -> None:
    play = Play()
    ada = play.agent("ada", lease=lease)
    play.do(ev.AgentDisconnected(ada))
    late = LEASE_SECONDS + LATE_SECONDS + 0.1
    assert not of(play.do(ev.TimePassed(), after=late), EndAgent)
    assert play.machine.next_deadline() == play.now + GRACE_SECONDS
    assert of(play.do(ev.TimePassed(), after=GRACE_SECONDS), EndAgent) == [EndAgent(ada)]


def test_a_second_disconnection_does_not_stretch_the_grace() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(ev.AgentDisconnected(ada))
    play.do(ev.AgentDisconnected(ada), after=5)
    assert of(play.do(ev.TimePassed(), after=5), EndAgent) == [EndAgent(ada)]


def test_goodbye_ends_an_agent_at_once_and_a_second_goodbye_changes_nothing() -> None:
    play = Play()
    ada = play.agent("ada")
    assert of(play.do(ev.AgentLeft(ada)), EndAgent) == [EndAgent(ada)]
    for event in (ev.AgentLeft(ada), ev.AgentDisconnected(ada)):
        assert not play.do(event).effects


def test_an_agent_without_a_connection_lives_by_its_lease() -> None:
    play = Play()
    ada = play.agent("ada", lease=True)
    for _ in range(5):
        play.do(Ask(core.renew_lease, ada), after=LEASE_SECONDS - 1)
    outcome = play.do(ev.TimePassed(), after=LEASE_SECONDS)
    assert of(outcome, EndAgent) == [EndAgent(ada)]
    play.refused(Ask(core.renew_lease, ada), Unauthorized)


def test_a_lease_that_runs_out_never_ends_a_named_session() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"), lease=True)
    tab = play.tab(ada)
    play.do(ev.TimePassed(), after=LEASE_SECONDS)
    assert tab.id in play.state.tabs
    assert list(play.state.sessions) == ["shop"]


def test_a_lease_renewed_within_one_second_is_written_once() -> None:
    play = Play()
    ada = play.agent("ada", lease=True)
    assert play.do(Ask(core.renew_lease, ada), after=0.3).changes
    assert not play.do(Ask(core.renew_lease, ada), after=0.6).changes
    assert play.do(Ask(core.renew_lease, ada), after=0.2).changes
    assert not of(play.do(ev.TimePassed(), after=LEASE_SECONDS - 0.01), EndAgent)


def test_an_agent_of_a_sessions_token_opens_no_other_session_and_gets_no_replacement() -> None:
    play = Play()
    play.agent("bob", named("other"))
    ada = play.agent("ada", named("shop"), lease=True)

    def opened(alias: str | None) -> Ask[Session]:
        spec = core.SessionSpec(lifetime=Lifetime.NAMED)
        return Ask(core.open_session, agent=ada, alias=alias, spec=spec)

    assert play.do(opened("shop")).answer == play.state.sessions[SessionId("shop")]
    foreign, absent = (play.refused(opened(name), SessionGone) for name in ("other", "no-one"))
    assert foreign.hint == absent.hint
    play.refused(opened(None), Unauthorized)
    play.do(Ask(core.dispose_session, OPERATOR, "shop"))
    play.refused(Ask(core.open_tab, agent=ada, session=None, url=URL), SessionGone)
    assert list(play.state.sessions) == ["other"]


def test_a_token_gives_access_to_any_session_also_one_with_a_counted_id() -> None:
    play = Play()
    home = play.state.agents[play.agent("ada")].own_session
    bob = play.agent("bob", named(home, Lifetime.ANONYMOUS), lease=True)
    assert play.state.agents[bob].own_session == home


def test_renewing_the_lease_of_a_connected_agent_changes_nothing() -> None:
    play = Play()
    ada = play.agent("ada")
    assert not play.do(Ask(core.renew_lease, ada)).changes


def test_a_leased_agent_that_connects_needs_no_lease_any_more() -> None:
    """Found by review: an idle but connected agent is never an orphan."""
    play = Play()
    ada = play.agent("ada", lease=True)
    play.do(Ask(core.resume_agent, ada))
    assert not of(play.do(ev.TimePassed(), after=10 * LEASE_SECONDS), EndAgent)
    play.do(ev.AgentDisconnected(ada))
    assert of(play.do(ev.TimePassed(), after=GRACE_SECONDS), EndAgent) == [EndAgent(ada)]


def test_resuming_never_shows_a_foreign_session_that_took_over_an_id() -> None:
    """Found by review: the agent's home was disposed, and another's has its id now."""
    play = Play()
    ada = play.agent("ada", named("shop"))
    play.do(Ask(core.dispose_session, OPERATOR, "shop"))
    play.agent("bob", named("shop"))
    assert play.do(Ask(core.resume_agent, ada)).answer is None


def test_after_a_restart_every_agent_has_the_same_grace() -> None:
    """Found by review: nobody could renew or come back while the broker was away."""
    play = Play()
    connected, away = play.agent("connected"), play.agent("away")
    leased = play.agent("leased", lease=True)
    play.do(ev.AgentDisconnected(away))
    assert not of(play.restart(after=3600), EndAgent)
    play.do(ev.TimePassed(), after=RESTART_GRACE_SECONDS - 1)
    assert set(play.state.agents) == {connected, away, leased}
    play.do(ev.TimePassed(), after=1)
    assert set(play.state.agents) == {leased}
    play.do(ev.TimePassed(), after=LEASE_SECONDS - RESTART_GRACE_SECONDS)
    assert not play.state.agents


def test_after_a_restart_the_grace_begins_when_the_broker_listens() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob", lease=True)
    play.machine = Machine(play.settings, play.journal.values())
    play.state = play.machine.state
    play.do(ev.BrokerRestarted())
    play.do(ev.BrokerListens(), after=LEASE_SECONDS + 1)  # a machine under load took that long
    play.do(ev.TimePassed(), after=RESTART_GRACE_SECONDS - 0.1)
    assert set(play.state.agents) == {ada, bob}
    assert of(play.do(ev.TimePassed(), after=0.1), EndAgent) == [EndAgent(ada)]


def test_an_agent_that_reconnects_before_the_broker_listens_gets_no_grace() -> None:
    play = Play()
    ada = play.agent("ada")
    play.machine = Machine(play.settings, play.journal.values())
    play.state = play.machine.state
    play.do(ev.BrokerRestarted())
    play.do(Ask(core.resume_agent, ada))
    play.do(ev.BrokerListens())
    assert play.state.agents[ada].deadline is None


def test_a_tab_that_was_opening_when_the_broker_died_is_dropped() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.do(Ask(core.open_tab, agent=ada, session=None, url=URL)).answer.tab
    kept = play.tab(ada)
    outcome = play.restart()
    assert [gone.tab for gone in of(outcome, ForgetTab)] == [tab.id]
    assert list(play.state.tabs) == [kept.id]
    assert play.state.pool(B1).held == 1


def test_the_end_of_an_agent_frees_its_capture_turn() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    tab = play.tab(ada)
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, bob, tab.id, 2))
    assert of(play.do(ev.AgentLeft(ada)), StartCapture) == [StartCapture(2)]


def test_a_second_connect_of_one_agent_makes_one_membership() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    tab = play.tab(ada)
    play.agent("ada", named("shop"))
    member = play.state.member(ada, play.state.agents[ada].own_session)
    assert member is not None
    assert member.current == tab.id


def test_an_agent_may_join_a_session_that_another_agent_left() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    tab = play.tab(ada)
    play.do(ev.AgentLeft(ada))
    bob = play.agent("bob", named("shop"))
    use = Ask(core.use_tab, agent=bob, session=None, tab=tab.id, action="read", acts=False)
    assert isinstance(play.do(use).answer, Tab)
