from __future__ import annotations

from typing import Any

from roost import core
from roost.core import events as ev
from roost.core.effects import EndAgent, RefuseCapture, Tell
from roost.core.machine import Machine
from roost.core.settings import CoreSettings
from roost.errors import TabGone
from roost.vocabulary import LOOP_SECONDS
from tests.core.play import B1, URL, Ask, Play, named, of


def test_a_refusal_is_data_and_changes_nothing() -> None:
    play = Play()
    ada = play.agent("ada")
    outcome = play.say(Ask(core.request_close, ada, None, "t1"))
    assert isinstance(outcome.refusal, TabGone)
    assert (outcome.answered, outcome.effects, outcome.changes) == (None, [], [])


def test_the_same_events_at_the_same_times_lead_to_the_same_outcome() -> None:
    def story() -> list[object]:
        play = Play(limit=2)
        ada, bob = play.agent("ada", named("shop")), play.agent("bob")
        events: list[ev.Event | Ask[Any]] = [
            Ask(core.open_tab, agent=ada, session=None, url=URL),
            Ask(core.request_space, bob, None),
            ev.AgentDisconnected(ada),
            ev.BrowserDown(B1),
        ]
        return [(o.effects, o.changes) for o in (play.say(event, after=1) for event in events)]

    assert story() == story()


def test_what_is_due_expires_before_the_event_is_handled() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.do(ev.AgentDisconnected(ada))
    play.do(Ask(core.start_loop, agent=bob, session=None, prompt="go"))
    outcome = play.do(ev.AgentDisconnected(ada), after=LOOP_SECONDS)
    assert not play.state.loops
    # But for an agent: its hello may wait unread. Only a wake-up ends it.
    assert not of(outcome, EndAgent)
    assert play.machine.next_deadline() == play.state.agents[ada].deadline


def test_the_next_deadline_is_the_earliest_of_rows_and_captures() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    assert play.machine.next_deadline() is None
    play.do(Ask(core.start_loop, agent=ada, session=None, prompt="go"))
    assert play.machine.next_deadline() == play.now + 3600
    tab = play.tab(ada)
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, bob, tab.id, 2))
    assert play.machine.next_deadline() == play.now + 3
    assert of(play.do(ev.TimePassed(), after=3), RefuseCapture)


def test_being_woken_early_or_twice_is_harmless() -> None:
    play = Play()
    play.do(ev.AgentDisconnected(play.agent("ada")))
    for _ in range(3):
        outcome = play.do(ev.TimePassed(), after=1)
        assert not outcome.effects
        assert not outcome.changes


def test_a_reservation_that_ran_out_while_the_broker_was_away_lapses_with_the_restart() -> None:
    play = Play(limit=1)
    ada = play.agent("ada")
    play.do(Ask(core.request_space, ada, None))
    outcome = play.restart(after=31)
    assert [told.kind for told in of(outcome, Tell)] == ["slot_lapsed"]
    assert not play.state.reservations


def test_a_waiter_in_the_journal_is_served_after_a_restart() -> None:
    play = Play(limit=1)
    ada, bob = play.agent("ada"), play.agent("bob")
    play.tab(ada)
    play.do(Ask(core.request_space, bob, None))
    play.settings = CoreSettings(default_browser=B1, pool_limits={B1: 2})
    outcome = play.restart()
    assert [told.kind for told in of(outcome, Tell)] == ["slot_reserved"]


def test_a_machine_without_rows_has_no_state_and_no_deadline() -> None:
    machine = Machine(CoreSettings(default_browser=B1))
    assert list(machine.state.rows()) == []
    assert machine.next_deadline() is None
