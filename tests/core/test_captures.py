from __future__ import annotations

from roost import core
from roost.core import events as ev
from roost.core.effects import RefuseCapture, StartCapture
from roost.core.rows import Tab
from roost.errors import MutexBusy, SessionGone, TabGone
from roost.vocabulary import CAPTURE_RETRY_MS, OPERATOR, AgentId, TabId
from tests.core.play import Ask, Play, named, of


def two_agents_one_tab() -> tuple[Play, AgentId, AgentId, Tab]:
    play = Play(limit=12)
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    return play, ada, bob, play.tab(ada)


def test_captures_of_one_tab_take_turns_in_order() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    assert play.do(Ask(core.request_capture, ada, tab.id, 1)).effects == [StartCapture(1)]
    assert not play.do(Ask(core.request_capture, bob, tab.id, 2)).effects
    assert not play.do(Ask(core.request_capture, ada, tab.id, 3)).effects
    assert play.do(ev.CaptureEnded(tab.id, 1)).effects == [StartCapture(2)]
    assert play.do(ev.CaptureEnded(tab.id, 2)).effects == [StartCapture(3)]
    assert not play.do(ev.CaptureEnded(tab.id, 3)).effects
    assert not play.do(ev.CaptureEnded(tab.id, 3)).effects, "twice is once"
    assert play.machine.next_deadline() is None


def test_a_capture_that_waits_three_seconds_is_refused_with_the_holder_and_its_time() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, bob, tab.id, 2), after=1)
    assert play.machine.next_deadline() == play.now + 3
    refused = of(play.do(ev.TimePassed(), after=3), RefuseCapture)
    assert [refusal.capture for refusal in refused] == [2]
    error = refused[0].error
    assert isinstance(error, MutexBusy)
    assert error.retry_after_ms == CAPTURE_RETRY_MS == 2000
    assert error.details == {"holder": ada[:12], "heldForMs": 4000, "tabPool": "1/12"}
    assert not play.do(ev.CaptureEnded(tab.id, 1)).effects, "the line is empty"


def test_captures_of_one_agent_wait_for_each_other_without_a_limit() -> None:
    play, ada, _, tab = two_agents_one_tab()
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, ada, tab.id, 2))
    assert play.machine.next_deadline() is None
    assert not play.do(ev.TimePassed(), after=60).effects
    assert play.do(ev.CaptureEnded(tab.id, 1)).effects == [StartCapture(2)]


def test_a_capture_whose_call_ended_leaves_the_queue() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, bob, tab.id, 2))
    assert not play.do(ev.CaptureEnded(tab.id, 2)).effects
    assert not play.do(ev.TimePassed(), after=5).effects


def test_an_agent_that_has_ended_gets_no_turn() -> None:
    """Found by review: its call may ask after its end."""
    play, ada, bob, tab = two_agents_one_tab()
    play.do(ev.AgentLeft(bob))
    play.refused(Ask(core.request_capture, bob, tab.id, 1), SessionGone)
    assert play.do(Ask(core.request_capture, ada, tab.id, 2)).effects == [StartCapture(2)]


def test_a_capture_of_a_tab_that_is_gone_is_refused() -> None:
    play, ada, _, _ = two_agents_one_tab()
    play.refused(Ask(core.request_capture, ada, TabId("t99"), 1), TabGone)


def test_the_operator_waits_in_line_like_everybody() -> None:
    play, ada, _, tab = two_agents_one_tab()
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    assert not play.do(Ask(core.request_capture, OPERATOR, tab.id, 2)).effects
    assert play.do(ev.CaptureEnded(tab.id, 1)).effects == [StartCapture(2)]


def test_the_holder_of_a_tab_that_closed_meanwhile_is_named_without_a_pool() -> None:
    play, ada, bob, tab = two_agents_one_tab()
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, bob, tab.id, 2))
    play.do(Ask(core.request_close, ada, None, tab.id))
    refused = of(play.do(ev.TimePassed(), after=3), RefuseCapture)
    assert refused[0].error.details["tabPool"] == ""
