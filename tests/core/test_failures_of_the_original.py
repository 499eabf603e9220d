"""Failures with several agents that were measured in Claudezilla, each with a test that Roost
avoids it.

Each docstring says what Claudezilla did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roost import core
from roost.core import events as ev
from roost.core.effects import CloseTab, RefuseCapture, StartCapture, Tell
from roost.core.rows import Tab
from roost.errors import PoolFull, SessionGone, TabGone
from roost.vocabulary import OPERATOR, AgentId, TabHandle
from tests.core.play import B1, URL, Ask, Play, named, of, tab_of


def opening(agent: AgentId, *, evict: bool = False) -> Ask[core.OpenTabAnswer]:
    return Ask(core.open_tab, agent=agent, session=None, url=URL, evict=evict)


def use(agent: AgentId, tab: str | None = None) -> Ask[Tab]:
    return Ask(core.use_tab, agent=agent, session=None, tab=tab, action="read", acts=False)


def test_an_omitted_tab_is_never_another_agents_tab() -> None:
    """Ownership check: without a tab id a command ran on the shared active tab, so A read and
    changed B's page, and B's default screenshot showed A's."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    mine = play.tab(ada)
    play.refused(use(bob), TabGone)
    theirs = play.tab(bob)
    assert play.do(use(ada)).answer == play.state.tabs[mine.id]
    assert play.do(use(bob)).answer == play.state.tabs[theirs.id]


def test_a_guessed_tab_id_answers_like_one_that_never_was() -> None:
    """Ownership check: tabs of unknown owners were free for all."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    foreign, absent = play.refused(use(bob, tab.id), TabGone), play.refused(use(bob, "t9"), TabGone)
    assert foreign.to_wire().keys() == absent.to_wire().keys()
    assert foreign.hint == absent.hint


def test_a_stranger_cannot_close_another_agents_session() -> None:
    """CloseWindow: a stranger with no tabs closed a window whose five tabs were another's."""
    play = Play()
    ada, stranger = play.agent("ada"), play.agent("stranger")
    home = play.state.agents[ada].own_session
    for _ in range(5):
        play.tab(ada)
    play.refused(Ask(core.dispose_session, stranger, home), SessionGone)
    assert len(play.state.tabs_in(home)) == 5


def test_two_simultaneous_first_creates_make_two_tracked_tabs() -> None:
    """Check-then-await races: two first creates made two windows, one untracked for ever."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    one, two = play.do(opening(ada)).answer.tab, play.do(opening(bob)).answer.tab
    assert (one.session, two.session) == (
        play.state.agents[ada].own_session,
        play.state.agents[bob].own_session,
    )
    assert one.id != two.id
    assert one.jar != two.jar
    assert play.state.pool(B1).held == 2


def test_two_simultaneous_first_creates_of_one_agent_share_one_jar() -> None:
    """Check-then-await races, within one session."""
    play = Play()
    ada = play.agent("ada")
    one, two = play.do(opening(ada)).answer.tab, play.do(opening(ada)).answer.tab
    assert one.jar == two.jar
    assert len(play.state.jars) == 1


def test_of_four_simultaneous_creates_at_eleven_of_twelve_one_is_admitted() -> None:
    """Check-then-await races: four creates at 11 tabs gave 15/12."""
    play = Play(limit=12)
    ada = play.agent("ada")
    for _ in range(11):
        play.tab(ada)
    others = [play.agent(f"other{number}") for number in range(4)]
    outcomes = [play.say(opening(other)) for other in others]  # no browser has answered yet
    assert [type(outcome.refusal) for outcome in outcomes] == [type(None)] + [PoolFull] * 3
    assert play.state.pool(B1).shown == "12/12"


def test_a_reserved_slot_cannot_be_stolen() -> None:
    """Reservations: E took the slot reserved for C, then C also got in: 13/12."""
    play = Play(limit=2)
    ada, waiter, thief = play.agent("ada"), play.agent("waiter"), play.agent("thief")
    first, _ = play.tab(ada), play.tab(ada)
    play.do(Ask(core.request_space, waiter, None))
    granted = play.do(Ask(core.grant_space, ada, None, first.id))
    assert [told.session for told in of(granted, Tell) if told.kind == "slot_reserved"] == [
        play.state.agents[waiter].own_session
    ]
    play.refused(opening(thief), PoolFull)
    play.tab(waiter)
    assert play.state.pool(B1).shown == "2/2"
    assert not play.state.reservations


def test_a_reservation_used_while_the_pool_has_room_is_used_up() -> None:
    """Reservations: a reservation that was not needed when it was claimed stayed usable."""
    play = Play(limit=2)
    ada, waiter = play.agent("ada"), play.agent("waiter")
    play.do(Ask(core.request_space, waiter, None))
    assert play.state.reservations
    play.tab(waiter)
    assert not play.state.reservations
    play.tab(ada)
    play.refused(opening(ada, evict=False), PoolFull)


def test_a_departed_agent_is_not_queued_any_more() -> None:
    """Mercy: no liveness check; a dead agent received the slot."""
    play = Play(limit=1)
    ada, dead, next_one = play.agent("ada"), play.agent("dead"), play.agent("next")
    tab = play.tab(ada)
    for waiter in (dead, next_one):
        play.do(Ask(core.request_space, waiter, None))
    play.do(ev.AgentDisconnected(dead))
    play.do(ev.TimePassed(), after=11)
    play.do(Ask(core.request_close, ada, None, tab.id))
    assert [r.agent for r in play.state.reservations.values()] == [next_one]


def test_goodbye_without_tabs_gives_everything_back() -> None:
    """Goodbye: it returned early without tabs, before it cleared queue and reservation."""
    play = Play(limit=1)
    ada, waiter = play.agent("ada"), play.agent("waiter", named("kept"))
    tab = play.tab(ada)
    play.do(Ask(core.request_space, waiter, None))
    play.do(ev.AgentLeft(waiter))
    assert not play.state.requests
    play.do(Ask(core.request_close, ada, None, tab.id))
    assert not play.state.reservations
    assert waiter not in play.state.agents


def test_goodbye_gives_back_a_reservation_to_the_next_in_line() -> None:
    """Mercy: the queue was not served by goodbye."""
    play = Play(limit=1)
    holder, waiter = play.agent("holder"), play.agent("waiter")
    play.do(Ask(core.request_space, holder, None))
    play.do(Ask(core.request_space, waiter, None))
    play.do(ev.AgentLeft(holder))
    assert [r.agent for r in play.state.reservations.values()] == [waiter]


def test_every_way_a_slot_is_freed_serves_the_queue() -> None:
    """Mercy: served only by closeTab and grantTabSpace, not by eviction, goodbye, orphan
    clean-up, a person closing a tab, or window close."""

    def freed_by(way: Callable[[AgentId, Tab], ev.Event | Ask[Any]]) -> bool:
        play = Play(limit=1)
        ada, waiter = play.agent("ada"), play.agent("waiter")
        tab = play.tab(ada)
        play.do(Ask(core.request_space, waiter, None))
        play.do(way(ada, tab))
        return [r.agent for r in play.state.reservations.values()] == [waiter]

    assert freed_by(lambda ada, tab: Ask(core.request_close, ada, None, tab.id))
    assert freed_by(lambda ada, tab: Ask(core.grant_space, ada, None, None))
    assert freed_by(lambda ada, tab: ev.AgentLeft(ada))
    assert freed_by(lambda ada, tab: ev.TabClosed(B1, TabHandle(f"h-{tab.id}")))
    assert freed_by(lambda ada, tab: Ask(core.dispose_session, OPERATOR, str(tab.session)))
    assert freed_by(lambda ada, tab: ev.TabOpenAbandoned(tab.id))
    assert freed_by(lambda ada, tab: ev.BrowserUp(browser=B1))


def test_one_failed_capture_does_not_poison_the_next() -> None:
    """Mutex: one failed screenshot made every later one of every agent fail."""
    play = Play()
    ada, bob = play.agent("ada", named("shared")), play.agent("bob", named("shared"))
    tab = play.tab(ada)
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    waits = play.do(Ask(core.request_capture, bob, tab.id, 2))
    assert not waits.effects
    failed = play.do(ev.CaptureEnded(tab.id, 1))
    assert of(failed, StartCapture) == [StartCapture(2)]
    play.do(ev.CaptureEnded(tab.id, 2))
    again = play.do(Ask(core.request_capture, ada, tab.id, 3))
    assert of(again, StartCapture) == [StartCapture(3)]


def test_captures_of_different_tabs_never_wait_for_each_other() -> None:
    """Mutex: one chain for the whole browser."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    mine, theirs = play.tab(ada), play.tab(bob)
    play.do(Ask(core.request_capture, ada, mine.id, 1))
    assert of(play.do(Ask(core.request_capture, bob, theirs.id, 2)), StartCapture) == [
        StartCapture(2)
    ]


def test_a_queue_behind_a_capture_has_an_end() -> None:
    """Mutex: callers waited in a queue without limit or timeout."""
    play = Play()
    ada, bob = play.agent("ada", named("shared")), play.agent("bob", named("shared"))
    tab = play.tab(ada)
    play.do(Ask(core.request_capture, ada, tab.id, 1))
    play.do(Ask(core.request_capture, bob, tab.id, 2))
    outcome = play.do(ev.TimePassed(), after=3)
    assert [refused.capture for refused in of(outcome, RefuseCapture)] == [2]


def test_a_live_idle_agent_keeps_its_tabs_however_long_it_is_silent() -> None:
    """Orphans: a live agent idle for ten minutes had its tabs closed by its own server."""
    play = Play()
    idle = play.agent("idle")
    tab = play.tab(idle)
    outcome = play.do(ev.TimePassed(), after=7 * 24 * 3600)
    assert not outcome.effects
    assert play.do(use(idle)).answer == play.state.tabs[tab.id]


def test_a_killed_agents_tabs_are_closed_after_the_grace() -> None:
    """Orphans: a killed agent's tabs were never cleaned up by anyone."""
    play = Play()
    killed = play.agent("killed")
    tab = play.tab(killed)
    play.do(ev.AgentDisconnected(killed))
    assert play.machine.next_deadline() == play.now + 10
    outcome = play.do(ev.TimePassed(), after=10)
    assert [closed.tab for closed in of(outcome, CloseTab)] == [tab.id]
    assert not play.state.sessions


def test_a_lost_tab_is_not_replaced_by_another() -> None:
    """Orphans: the next default-tab call read a dead agent's tab."""
    play = Play()
    ada = play.agent("ada")
    kept, lost = play.tab(ada), play.tab(ada)
    assert lost.handle is not None
    play.do(ev.TabClosed(B1, lost.handle))
    refusal = play.refused(use(ada), TabGone)
    assert refusal.details == {"tab": lost.id, "yourTabs": [kept.id]}


def test_a_popup_belongs_to_its_openers_session_at_once() -> None:
    """Wrong-tab capture: popups were visible but untracked."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    opened = ev.TabOpened(
        browser=B1, handle=TabHandle("popup"), opener=tab.handle, jar=None, url=URL
    )
    popup = tab_of(play, opened)
    assert popup.session == tab.session
    play.refused(use(bob, popup.id), TabGone)


def test_a_broker_restart_forgets_no_owner() -> None:
    """State loss: a reload forgot window and owners; old tabs stayed open, unreachable."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    play.restart(after=60)
    play.do(Ask(core.resume_agent, ada))
    play.do(Ask(core.resume_agent, bob))
    assert tab.handle is not None
    play.do(ev.BrowserUp(browser=B1, handles=frozenset({tab.handle})))
    assert play.do(use(ada)).answer == play.state.tabs[tab.id]
    play.refused(use(bob, tab.id), TabGone)
