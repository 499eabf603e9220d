"""What the person does with tab groups, and how sessions change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roost import core
from roost.core import events as ev
from roost.core.effects import CloseTab, Effect, ForgetGroup, ForgetTab, OpenTab, Tell
from roost.core.machine import Decision, Machine
from roost.core.rows import Session, Tab
from roost.core.rules import own_jar
from roost.errors import JarUnavailable, PoolFull, SessionGone, TabGone
from roost.vocabulary import AgentId, JarPolicy, TabHandle
from tests.core.play import B1, URL, Ask, Play, named, of, tab_of


def grouped_play(limit: int = 12, policy: JarPolicy = JarPolicy.SHARED) -> Play:
    """Return a play whose browser is the person's own."""
    play = Play(limit)
    grouped, jars = frozenset({B1}), {B1: policy}
    play.settings = replace(play.settings, grouped=grouped, default_policy=jars)
    play.machine = Machine(play.settings)
    play.state = play.machine.state
    return play


def home(play: Play, agent: AgentId) -> Session:
    return play.state.sessions[play.state.agents[agent].own_session]


def move(play: Play, tab: Tab, group: str | None) -> Decision[Any]:
    assert tab.handle is not None
    return play.do(ev.TabMoved(B1, tab.handle, group))


def brought(play: Play, session: Session, handle: str = "own", jar: str | None = None) -> Tab:
    """Let the person open a tab in the session's group, and return the tab."""
    opened = ev.TabOpened(
        browser=B1, handle=TabHandle(handle), opener=None, jar=jar, url=URL, group=session.group
    )
    return tab_of(play, opened)


def use(agent: AgentId, tab: str | None = None, session: str | None = None) -> Ask[Tab]:
    return Ask(core.use_tab, agent=agent, session=session, tab=tab, action="click", acts=True)


def told(outcome: Decision[Any]) -> list[tuple[str, str]]:
    return [(effect.session, effect.kind) for effect in of(outcome, Tell)]


def closings(outcome: Decision[Any]) -> list[Effect]:
    return [*of(outcome, CloseTab)]


def test_a_tab_moved_to_another_group_is_the_other_sessions_and_both_are_told() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab, other = play.tab(ada), play.tab(bob)
    outcome = move(play, tab, home(play, bob).group)
    (moved,) = [row for row in play.state.tabs_in(home(play, bob).id) if row != other]
    assert moved.handle == tab.handle
    assert moved.id not in (tab.id, other.id), "an id never names another session's tab"
    assert play.state.tab_count(home(play, ada).id) == 0
    assert told(outcome) == [(tab.session, "tab_moved"), (moved.session, "tab_moved")]
    assert closings(outcome) == [], "the page is as the person left it"
    assert play.do(use(bob, moved.id)).answer == play.state.tabs[moved.id]


def test_an_agent_that_lost_its_tab_gets_the_reason_and_no_other_tab() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.tab(ada)
    tab = play.tab(ada)
    outcome = move(play, tab, home(play, bob).group)
    (forgotten,) = of(outcome, ForgetTab)
    assert forgotten.tab == tab.id
    assert isinstance(forgotten.error, TabGone)
    for refusal in (play.refused(use(ada), TabGone), play.refused(use(ada, tab.id), TabGone)):
        assert "person moved" in refusal.message
        assert refusal.details["tab"] == tab.id


def test_a_tab_moved_out_of_all_groups_is_lost_to_the_session_and_stays_open() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    outcome = move(play, tab, None)
    assert play.state.tabs == {}
    assert told(outcome) == [(tab.session, "tab_moved")]
    assert closings(outcome) == []
    assert "person moved" in play.refused(use(ada), TabGone).message
    assert play.state.pool(B1).held == 0, "the person's own tabs do not count"
    assert home(play, ada), "losing the last tab does not end a session"


def test_a_tab_moved_within_its_group_stays_what_it_is() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert move(play, tab, home(play, ada).group).changes == []


def test_a_moved_tab_keeps_its_jar_and_its_cookies_are_refused_to_the_new_session() -> None:
    play = grouped_play(policy=JarPolicy.FRESH)
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    move(play, tab, home(play, bob).group)
    (moved,) = play.state.tabs_in(home(play, bob).id)
    assert moved.jar == tab.jar
    with pytest.raises(JarUnavailable):
        own_jar(play.state, bob, None, moved.id, action="read")


def test_a_tab_in_another_sessions_jar_ends_with_that_jar() -> None:
    play = grouped_play(policy=JarPolicy.FRESH)
    ada, bob = play.agent("ada"), play.agent("bob")
    move(play, play.tab(ada), home(play, bob).group)
    (moved,) = play.state.tabs_in(home(play, bob).id)
    outcome = play.do(ev.AgentLeft(ada))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [moved.id]
    assert (moved.session, "tab_closed") in told(outcome)


def test_a_tab_moved_between_sessions_with_the_shared_jar_keeps_its_cookies() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    move(play, play.tab(ada), home(play, bob).group)
    (moved,) = play.state.tabs_in(home(play, bob).id)
    _, jar = own_jar(play.state, bob, None, moved.id, action="read")
    assert jar is not None
    assert closings(play.do(ev.AgentLeft(ada))) == []


def test_a_name_a_session_gave_a_page_stays_with_that_session() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    opening = Ask(core.open_tab, agent=ada, session=None, url=URL, page="cart")
    tab = play.do(opening).answer.tab
    play.do(ev.TabReady(tab.id, TabHandle("h")))
    move(play, play.state.tabs[tab.id], home(play, bob).group)
    assert play.state.page(home(play, ada).id, "cart") is None
    assert play.state.page(home(play, bob).id, "cart") is None


def test_a_tab_the_person_opens_in_a_group_is_visible_there_but_not_current() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    mine = play.tab(ada)
    tab = brought(play, home(play, ada))
    assert tab.session == mine.session
    assert play.do(use(ada)).answer == play.state.tabs[mine.id]
    assert play.do(use(ada, tab.id)).answer == play.state.tabs[tab.id]


def test_a_tab_from_the_persons_own_jar_can_be_used_but_its_cookies_are_the_persons() -> None:
    play = grouped_play(policy=JarPolicy.FRESH)
    ada = play.agent("ada")
    tab = brought(play, home(play, ada))
    play.do(use(ada, tab.id))
    with pytest.raises(JarUnavailable):
        own_jar(play.state, ada, None, tab.id, action="read")


def test_a_tab_from_a_jar_that_is_being_removed_is_not_counted_to_it() -> None:
    play = grouped_play(policy=JarPolicy.FRESH)
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(ev.AgentLeft(ada))
    assert brought(play, home(play, bob), jar="jar-1").jar is None


def test_tabs_the_person_brings_cannot_be_refused_and_are_debt() -> None:
    play = grouped_play(limit=1)
    ada, bob = play.agent("ada"), play.agent("bob")
    mine = play.tab(ada)
    brought(play, home(play, ada))
    assert mine.id in play.state.tabs, "nothing is evicted for what the person does"
    assert play.state.pool(B1).free == -1
    play.refused(Ask(core.open_tab, agent=bob, session=None, url=URL), PoolFull)


def test_a_tab_that_the_person_puts_into_an_ended_sessions_group_is_ignored() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    group = home(play, ada).group
    play.do(ev.AgentLeft(ada))
    outcome = play.do(
        ev.TabOpened(
            browser=B1, handle=TabHandle("own"), opener=None, jar=None, url=URL, group=group
        )
    )
    assert outcome.effects == []
    assert play.state.tabs == {}


def test_a_popup_belongs_to_its_openers_group() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    opened = ev.TabOpened(
        browser=B1,
        handle=TabHandle("p"),
        opener=tab.handle,
        jar=None,
        url=URL,
        group=home(play, ada).group,
    )
    popup = tab_of(play, opened)
    assert (popup.session, popup.opener, popup.jar) == (tab.session, tab.id, tab.jar)


def test_closing_the_group_ends_the_session_and_the_agent_goes_on_in_a_fresh_one() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    tab, was = play.tab(ada), home(play, ada)
    outcome = play.do(ev.GroupClosed(B1, was.group))
    assert was.id not in play.state.sessions
    ended = next(effect for effect in of(outcome, Tell) if effect.kind == "session_ended")
    assert ended.to == (ada,)
    assert of(outcome, ForgetGroup) == [ForgetGroup(B1, was.group)]
    assert "Open a page" in play.refused(use(ada), SessionGone).hint
    play.do(ev.TabClosed(B1, tab.handle or TabHandle("")))  # comes after it, to nobody
    again = play.tab(ada)
    assert again.session not in (None, was.id)
    assert home(play, ada).group != was.group


def test_closing_a_group_harms_no_other_session() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.tab(ada)
    tab = play.tab(bob)
    play.do(ev.GroupClosed(B1, home(play, ada).group))
    assert play.do(use(bob)).answer == play.state.tabs[tab.id]


def test_a_group_is_never_taken_for_that_of_a_later_session_of_the_same_id() -> None:
    play = grouped_play()
    spec = named("shop")
    ada = play.agent("ada", spec)
    before = home(play, ada).group
    play.do(Ask(core.dispose_session, ada, "shop"))
    bob = play.do(
        Ask(
            core.connect_agent, agent=AgentId("agent_bob"), pid=1, process_started="1", name="bob",
            secret_digest="d", session=spec,
        ),
        after=1.0,
    ).answer  # fmt: skip
    assert bob.id == "shop"
    play.do(ev.GroupClosed(B1, before))
    assert "shop" in play.state.sessions


def test_the_agents_own_last_close_leaves_the_session_alone() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    tab, session = play.tab(ada), home(play, ada)
    play.do(Ask(core.request_close, ada, None, tab.id))
    assert home(play, ada) == replace(session, has_opened=True)
    assert of(play.do(Ask(core.open_tab, agent=ada, session=None, url=URL)), OpenTab)
