from __future__ import annotations

from roost.core import events as ev
from roost.core.effects import RefuseCapture, StartCapture
from roost.core.rows import Tab
from roost.errors import MutexBusy, SessionGone, TabGone
from roost.vocabulary import CAPTURE_RETRY_MS, OPERATOR, AgentId, TabId
from tests.core.play import Play, named, of


def two_agents_one_tab() -> tuple[Play, AgentId, AgentId, Tab]:
    play = Play(limit=12)
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    return play, ada, bob, play.tab(ada)


def test_captures_of_one_tab_take_turns_in_order() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    assert play.do(ev.CaptureRequested(ada, tab.id, 1)).effects == [StartCapture(1)]
    assert not play.do(ev.CaptureRequested(bob, tab.id, 2)).effects
    assert not play.do(ev.CaptureRequested(ada, tab.id, 3)).effects
    assert play.do(ev.CaptureEnded(tab.id, 1)).effects == [StartCapture(2)]
    assert play.do(ev.CaptureEnded(tab.id, 2)).effects == [StartCapture(3)]
    assert not play.do(ev.CaptureEnded(tab.id, 3)).effects
    assert not play.do(ev.CaptureEnded(tab.id, 3)).effects, "twice is once"
    assert play.machine.next_deadline() is None


def test_waiting_behind_another_agent_ends_after_three_seconds_with_who_and_how_long() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    play.do(ev.CaptureRequested(ada, tab.id, 1))
    play.do(ev.CaptureRequested(bob, tab.id, 2), after=1)
    assert play.machine.next_deadline() == play.now + 3
    refused = of(play.do(ev.TimePassed(), after=3), RefuseCapture)
    assert [refusal.capture for refusal in refused] == [2]
    error = refused[0].error
    assert isinstance(error, MutexBusy)
    assert error.retry_after_ms == CAPTURE_RETRY_MS == 2000
    assert error.details == {"holder": ada[:12], "heldForMs": 4000, "tabPool": "1/12"}
    assert not play.do(ev.CaptureEnded(tab.id, 1)).effects, "the line is empty"


def test_waiting_behind_oneself_is_not_limited() -> None:
    play, ada, _, tab = two_agents_one_tab()
    play.do(ev.CaptureRequested(ada, tab.id, 1))
    play.do(ev.CaptureRequested(ada, tab.id, 2))
    assert play.machine.next_deadline() is None
    assert not play.do(ev.TimePassed(), after=60).effects
    assert play.do(ev.CaptureEnded(tab.id, 1)).effects == [StartCapture(2)]


def test_a_call_that_is_given_up_leaves_the_line() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    play.do(ev.CaptureRequested(ada, tab.id, 1))
    play.do(ev.CaptureRequested(bob, tab.id, 2))
    assert not play.do(ev.CaptureEnded(tab.id, 2)).effects
    assert not play.do(ev.TimePassed(), after=5).effects


def test_a_dead_agent_gets_no_turn() -> None:
    """Found by review: its call may ask after its end."""
    play, ada, bob, tab = two_agents_one_tab()
    play.do(ev.AgentLeft(bob))
    play.refused(ev.CaptureRequested(bob, tab.id, 1), SessionGone)
    assert play.do(ev.CaptureRequested(ada, tab.id, 2)).effects == [StartCapture(2)]


def test_a_tab_that_is_gone_has_no_line() -> None:
    play, ada, _, _ = two_agents_one_tab()
    play.refused(ev.CaptureRequested(ada, TabId("t99"), 1), TabGone)


def test_the_operator_waits_in_line_like_everybody() -> None:
    play, ada, _, tab = two_agents_one_tab()
    play.do(ev.CaptureRequested(ada, tab.id, 1))
    assert not play.do(ev.CaptureRequested(OPERATOR, tab.id, 2)).effects
    assert play.do(ev.CaptureEnded(tab.id, 1)).effects == [StartCapture(2)]


def test_the_holder_of_a_tab_that_closed_meanwhile_is_named_without_a_pool() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    play.do(ev.CaptureRequested(ada, tab.id, 1))
    play.do(ev.CaptureRequested(bob, tab.id, 2))
    play.do(ev.TabCloseRequested(ada, None, tab.id))
    refused = of(play.do(ev.TimePassed(), after=3), RefuseCapture)
    assert refused[0].error.details["tabPool"] == ""
