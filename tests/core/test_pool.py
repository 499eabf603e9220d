from __future__ import annotations

from typing import Any

import pytest

from roost import core
from roost.core import events as ev
from roost.core.effects import CloseStray, CloseTab, OpenTab, Tell, WriteAudit
from roost.core.machine import Decision, Machine
from roost.core.rows import Tab, TabState
from roost.core.settings import CoreSettings
from roost.errors import BadRequest, Paused, PoolFull, SessionGone, TabGone, UrlBlocked
from roost.vocabulary import (
    OPERATOR,
    SHARE_RETRY_SECONDS,
    SHARE_SECONDS,
    AgentId,
    JarPolicy,
    Lifetime,
    SessionId,
    TabHandle,
    TabId,
)
from tests.core.play import B1, B2, HOME, URL, Ask, Play, named, of, tab_of


def opening(agent: AgentId, *, evict: bool = True, url: str = URL) -> Ask[core.OpenTabAnswer]:
    return Ask(core.open_tab, agent=agent, session=None, url=url, evict=evict)


def use(agent: AgentId, tab: str | None = None) -> Ask[Tab]:
    return Ask(core.use_tab, agent=agent, session=None, tab=tab, action="click", acts=True)


def popup(opener: Tab | None, handle: str = "popup", jar: str | None = None) -> ev.TabOpened:
    return ev.TabOpened(
        browser=B1,
        handle=TabHandle(handle),
        opener=None if opener is None else opener.handle,
        jar=jar,
        url=f"{URL}{handle}",
    )


def reserved(outcome: Decision[Any]) -> list[str]:
    return [told.session for told in of(outcome, Tell) if told.kind == "slot_reserved"]


def test_a_new_tab_is_its_openers_current_one_in_a_jar_of_its_session() -> None:
    play = Play()
    ada = play.agent("ada")
    outcome = play.do(opening(ada))
    tab = outcome.answer.tab
    assert tab.state is TabState.OPENING
    assert tab.jar is not None
    assert of(outcome, OpenTab) == [OpenTab(tab.id, B1, tab.jar)]
    play.do(ev.TabReady(tab.id, TabHandle("h1")))
    member = play.state.member(ada, play.state.agents[ada].own_session)
    assert member is not None
    assert member.current == tab.id


def test_a_tab_that_could_not_be_opened_was_never_the_current_one() -> None:
    """Otherwise the caller's next call would get TAB_GONE for a tab it never saw."""
    play = Play()
    ada = play.agent("ada")
    first = play.tab(ada)
    failed = play.do(Ask(core.open_tab, agent=ada, session=None, url=URL)).answer.tab
    play.do(ev.TabOpenFailed(failed.id))
    member = play.state.member(ada, play.state.agents[ada].own_session)
    assert member is not None
    assert (member.current, member.lost) == (first.id, None)


def test_an_address_that_may_not_be_opened_takes_no_slot() -> None:
    play = Play()
    ada = play.agent("ada")
    play.refused(opening(ada, url="file:///etc/passwd"), UrlBlocked)
    assert not play.state.tabs


def test_a_full_pool_evicts_the_callers_own_least_recently_used_tab() -> None:
    play = Play(limit=3)
    ada, bob = play.agent("ada"), play.agent("bob")
    oldest, older, newer = play.tab(bob), play.tab(ada), play.tab(ada)
    play.do(use(ada, older.id))
    outcome = play.do(opening(ada))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [newer.id]
    assert (outcome.answer.is_new, outcome.answer.evicted) == (True, (newer.id,))
    assert [note.kind for note in of(outcome, WriteAudit)] == ["tab evicted"]
    assert oldest.id in play.state.tabs


def test_a_full_pool_refuses_a_session_without_tabs_to_evict() -> None:
    play = Play(limit=2)
    ada, bob = play.agent("ada"), play.agent("bob")
    play.tab(ada)
    play.tab(ada)
    refusal = play.refused(opening(bob), PoolFull)
    assert refusal.details["tabPool"] == "2/2"
    assert refusal.details["waiting"] == 0
    assert refusal.details["ownerBreakdown"] == {"session 1": 2}, "others' names are theirs"


def test_the_breakdown_names_the_callers_own_session() -> None:
    play = Play(limit=1)
    ada = play.agent("ada")
    play.tab(ada)
    refusal = play.refused(opening(ada, evict=False), PoolFull)
    assert refusal.details["ownerBreakdown"] == {play.state.agents[ada].own_session: 1}


def test_a_tab_that_is_opening_is_not_evicted() -> None:
    play = Play(limit=1)
    ada = play.agent("ada")
    play.do(opening(ada))
    play.refused(opening(ada), PoolFull)


def test_a_pool_without_a_limit_admits_every_tab_and_has_no_debt() -> None:
    play = Play(limit=0)
    ada = play.agent("ada")
    tabs = [play.tab(ada) for _ in range(20)]
    outcome = play.do(popup(tabs[0]))
    assert not of(outcome, CloseTab)
    assert play.state.pool(B1).shown == "21/∞"
    assert reserved(play.do(Ask(core.request_space, ada, None))) == [tabs[0].session]


def test_an_agent_whose_own_session_was_disposed_opens_its_next_tab_in_a_new_session() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    play.do(Ask(core.dispose_session, OPERATOR, "shop"))
    play.refused(use(ada), SessionGone)
    tab = play.tab(ada)
    assert tab.session == play.state.agents[ada].own_session != "shop"


def test_the_operator_opens_tabs_in_the_session_it_names() -> None:
    play = Play()
    play.do(Ask(core.open_session, agent=OPERATOR, alias=None, spec=named("shop")))
    play.refused(opening(OPERATOR), BadRequest)
    assert play.tab(OPERATOR, "shop").session == "shop"


# --- popups ----------------------------------------------------------------------------------


def test_a_popup_lives_in_its_openers_jar_also_in_the_shared_one() -> None:
    play = Play()
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, policy=JarPolicy.SHARED)
    tab = play.tab(play.agent("ada", spec))
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "default"))
    spawned = tab_of(play, popup(tab, jar="default"))
    assert (spawned.session, spawned.jar) == (tab.session, tab.jar)
    play.do(ev.BrowserDown(B1))
    back = play.do(ev.BrowserUp(browser=B1))
    assert {opened.tab for opened in of(back, OpenTab)} == {tab.id, spawned.id}


def test_a_tab_without_an_opener_belongs_to_its_jars_session() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    spawned = tab_of(play, popup(None, jar="jar-1"))
    assert spawned.session == tab.session
    assert spawned.opener is None


def test_a_page_in_the_jar_of_an_ended_session_is_a_stray() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(ev.AgentLeft(ada))
    outcome = play.do(popup(None, jar="jar-1"))
    assert outcome.effects == [CloseStray(B1, TabHandle("popup"))]
    assert not play.state.tabs


def test_a_popup_in_the_jar_of_an_ended_session_is_a_stray_whoever_opened_it() -> None:
    """Found by the machine: the jar was about to be removed, and the tab's row stayed."""
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab, opener = play.tab(ada), play.tab(bob)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(ev.AgentLeft(ada))
    outcome = play.do(popup(opener, jar="jar-1"))
    assert outcome.effects == [CloseStray(B1, TabHandle("popup"))]
    assert list(play.state.tabs) == [opener.id]


def test_a_tab_that_the_person_adds_counts_and_belongs_to_no_session() -> None:
    play = Play(limit=1)
    ada = play.agent("ada")
    spawned = tab_of(play, popup(None))
    assert spawned.session is None
    assert play.refused(opening(ada), PoolFull).details["ownerBreakdown"] == {"session 1": 1}


def test_the_same_page_reported_twice_is_one_tab() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    play.do(popup(tab))
    assert not play.do(popup(tab)).changes
    assert len(play.state.tabs) == 2


def test_a_popup_in_a_full_pool_first_evicts_its_own_sessions_tab_but_never_the_opener() -> None:
    play = Play(limit=3)
    ada, bob = play.agent("ada"), play.agent("bob")
    opener, old, foreign = play.tab(ada), play.tab(ada), play.tab(bob)
    outcome = play.do(popup(opener))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [old.id]
    assert {opener.id, foreign.id} < play.state.tabs.keys()


def test_a_popup_with_nothing_to_evict_is_debt_and_nothing_is_admitted_until_it_is_paid() -> None:
    play = Play(limit=2)
    ada, bob = play.agent("ada"), play.agent("bob")
    opener, foreign = play.tab(ada), play.tab(bob)
    spawned = tab_of(play, popup(opener))
    assert play.state.pool(B1).shown == "3/2"
    play.refused(opening(bob), PoolFull)
    play.do(Ask(core.request_space, bob, None))
    play.do(Ask(core.request_close, ada, None, spawned.id))
    assert not play.state.reservations, "the first slot freed pays the debt"
    play.do(Ask(core.request_close, bob, None, foreign.id))
    assert len(play.state.reservations) == 1


def test_a_session_that_opens_a_tab_in_a_pool_with_debt_loses_its_own_tabs() -> None:
    play = Play(limit=2)
    ada = play.agent("ada")
    tabs = [play.tab(ada), play.tab(ada)]
    play.do(popup(None))
    outcome = play.do(opening(ada))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [tab.id for tab in tabs]
    assert play.state.pool(B1).shown == "2/2"


def test_more_than_five_popups_of_one_tab_in_a_second_are_closed_with_an_event() -> None:
    play = Play()
    tab, other = play.tab(play.agent("ada")), play.tab(play.agent("bob"))
    for number in range(5):
        tab_of(play, popup(tab, f"p{number}"), after=0.1)
    blocked = play.do(popup(tab, "p5"), after=0.1)
    assert of(blocked, CloseStray) == [CloseStray(B1, TabHandle("p5"))]
    assert [(told.session, told.kind) for told in of(blocked, Tell)] == [
        (tab.session, "popups_blocked")
    ]
    tab_of(play, popup(other, "q"))  # another tab may still open popups
    tab_of(play, popup(tab, "p6"), after=1)  # a second later the tab may open popups again


# --- tab space -------------------------------------------------------------------------------


def test_a_request_in_a_pool_with_room_is_served_at_once() -> None:
    play = Play()
    ada = play.agent("ada")
    assert reserved(play.do(Ask(core.request_space, ada, None))) == [
        play.state.agents[ada].own_session
    ]
    assert not reserved(play.do(Ask(core.request_space, ada, None))), "one reservation at a time"


def test_asking_again_keeps_the_place_in_the_queue() -> None:
    play = Play(limit=1)
    ada, one, two = play.agent("ada"), play.agent("one"), play.agent("two")
    tab = play.tab(ada)
    for waiter in (one, two, one):
        play.do(Ask(core.request_space, waiter, None))
    freed = play.do(Ask(core.request_close, ada, None, tab.id))
    assert reserved(freed) == [play.state.agents[one].own_session]
    lapsed = play.do(ev.TimePassed(), after=30)
    assert [told.kind for told in of(lapsed, Tell)] == ["slot_lapsed", "slot_reserved"]
    assert reserved(lapsed) == [play.state.agents[two].own_session]


def test_the_operator_asks_for_no_space() -> None:
    play = Play()
    home = play.state.agents[play.agent("ada")].own_session
    play.refused(Ask(core.request_space, OPERATOR, home), BadRequest)


def test_sessions_with_more_than_four_tabs_are_told_that_somebody_waits() -> None:
    play = Play(limit=9)
    heavy, light, waiter = play.agent("heavy"), play.agent("light"), play.agent("waiter")
    for _ in range(5):
        play.tab(heavy)
    for _ in range(4):
        play.tab(light)
    told = of(play.do(Ask(core.request_space, waiter, None)), Tell)
    assert [(tell.session, tell.kind) for tell in told] == [
        (play.state.agents[heavy].own_session, "tab_space_wanted")
    ]
    share = {"fairShare": 3, "shareEnforcedInMs": 10_000}
    assert told[0].data == {"waiting": 1, "yourTabs": 5} | share


def test_granting_closes_the_named_tab_or_the_least_recently_used_one() -> None:
    play = Play(limit=3)
    ada, bob = play.agent("ada"), play.agent("bob")
    one, two, three = play.tab(ada), play.tab(ada), play.tab(ada)
    play.refused(Ask(core.grant_space, ada, None, two.id), BadRequest)
    play.do(Ask(core.request_space, bob, None))
    granted = play.do(Ask(core.grant_space, ada, None, two.id))
    assert granted.answer == two
    assert reserved(granted) == [play.state.agents[bob].own_session]
    carl = play.agent("carl")
    play.do(Ask(core.request_space, carl, None))
    assert play.do(Ask(core.grant_space, ada, None, None)).answer == one
    assert set(play.state.tabs) == {three.id}


def test_granting_needs_an_own_tab_that_holds_a_slot_here() -> None:
    play = Play(limit=1)
    play.settings.pool_limits[B2] = 5  # type: ignore[index]
    ada, bob, carl = play.agent("ada"), play.agent("bob"), play.agent("carl")
    tab = play.tab(ada)
    play.do(Ask(core.request_space, bob, None))
    play.refused(Ask(core.grant_space, carl, None, None), TabGone)
    play.refused(Ask(core.grant_space, carl, None, tab.id), TabGone)
    elsewhere = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, browser=B2)
    play.do(Ask(core.open_session, agent=carl, alias="away", spec=elsewhere))
    away = play.tab(carl, "away")
    play.refused(Ask(core.grant_space, carl, None, away.id), TabGone)
    assert away.id in play.state.tabs, "nobody waits for a slot of that browser"


def test_a_paused_session_gives_no_tab_away() -> None:
    play = Play(limit=1)
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    play.do(Ask(core.request_space, bob, None))
    play.do(Ask(core.pause_session, OPERATOR, str(tab.session), True))
    play.refused(Ask(core.grant_space, ada, None, tab.id), Paused)


def test_the_slot_of_an_expired_reservation_goes_to_the_queue() -> None:
    """Found by the machine: a missing wake-up must not let a stranger pass the queue."""
    play = Play(limit=1)
    holder, waiter, stranger = (play.agent(name) for name in ("holder", "waiter", "stranger"))
    for agent in (holder, waiter):
        play.do(Ask(core.request_space, agent, None))
    play.refused(opening(stranger), PoolFull, after=31)
    assert [r.agent for r in play.state.reservations.values()] == [waiter]


def test_an_ended_agents_queue_place_goes_to_another_member_and_ends_with_the_last() -> None:
    play = Play(limit=1)
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    play.tab(play.agent("other"))
    late = play.agent("late")
    play.do(Ask(core.request_space, ada, None))
    play.do(Ask(core.request_space, late, None))
    play.do(ev.AgentLeft(ada))
    assert [row.agent for row in play.state.pool(B1).queue.values()] == [bob, late]
    play.do(ev.AgentLeft(bob))
    assert [row.agent for row in play.state.requests.values()] == [late]


# --- parking ---------------------------------------------------------------------------------


def parked() -> tuple[Play, Tab, AgentId]:
    """Return a tab of the unattended session ``shop`` that was parked for a waiter."""
    play = Play(limit=1)
    ada, waiter = play.agent("ada", named("shop")), play.agent("waiter")
    tab = play.tab(ada)
    play.do(Ask(core.request_space, waiter, None))
    assert not play.state.reservations, "attended: its tabs are safe"
    outcome = play.do(ev.AgentDisconnected(ada))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [tab.id]
    assert reserved(outcome) == [play.state.agents[waiter].own_session]
    return play, play.state.tabs[tab.id], waiter


def test_a_named_session_nobody_attends_gives_its_tab_to_a_waiter() -> None:
    play, tab, _ = parked()
    assert tab.state is TabState.PARKED
    assert tab.handle is None
    assert play.state.pool(B1).held == 0


def test_a_parked_tab_comes_back_when_asked_for() -> None:
    play, tab, waiter = parked()
    ada = play.agent("ada2", named("shop"))
    play.refused(use(ada, tab.id), PoolFull)
    play.do(ev.AgentLeft(waiter))
    outcome = play.do(use(ada, tab.id))
    assert of(outcome, OpenTab) == [OpenTab(tab.id, B1, tab.jar, tab.url)]  # type: ignore[arg-type]
    assert play.state.tabs[tab.id].state is TabState.LOST
    play.do(ev.TabReady(tab.id, TabHandle("again")))
    assert play.state.tabs[tab.id].state is TabState.OPEN


def test_a_parked_tab_comes_back_for_the_operator_too() -> None:
    play, tab, waiter = parked()
    play.do(ev.AgentLeft(waiter))
    outcome = play.do(use(OPERATOR, tab.id))
    assert [opened.tab for opened in of(outcome, OpenTab)] == [tab.id]
    assert play.state.pool(B1).held == 1


def test_a_late_page_does_not_bring_a_parked_tab_back_past_the_pool() -> None:
    """Found by the machine: a page opened late, or reported twice, must not take a slot."""
    play, tab, _ = parked()
    outcome = play.do(ev.TabReady(tab.id, TabHandle("late")))
    assert outcome.effects == [CloseStray(B1, TabHandle("late"))]
    play.do(ev.TabOpenFailed(tab.id))
    assert play.state.tabs[tab.id] == tab


def test_a_paused_session_counts_as_attended() -> None:
    play = Play(limit=1)
    ada, waiter = play.agent("ada", named("shop")), play.agent("waiter")
    tab = play.tab(ada)
    play.do(Ask(core.request_space, waiter, None))
    play.do(Ask(core.pause_session, OPERATOR, "shop", True))
    play.do(ev.AgentLeft(ada))
    assert play.state.tabs[tab.id].state is TabState.OPEN
    play.do(Ask(core.pause_session, OPERATOR, "shop", False))
    assert play.state.tabs[tab.id].state is TabState.PARKED


def test_only_as_many_tabs_are_parked_as_there_are_waiters() -> None:
    play = Play(limit=3)
    ada = play.agent("ada", named("shop"))
    old, _, _ = play.tab(ada), play.tab(ada), play.tab(ada)
    play.do(ev.AgentLeft(ada))
    play.do(Ask(core.request_space, play.agent("waiter"), None))
    assert [tab.id for tab in play.state.tabs.values() if tab.state is TabState.PARKED] == [old.id]


def test_a_parked_tab_may_pay_the_debt_before_it_serves_the_waiter() -> None:
    play = Play(limit=2)
    ada, waiter = play.agent("ada", named("shop")), play.agent("waiter")
    play.tab(ada)
    play.tab(ada)
    play.do(popup(None))
    play.do(Ask(core.request_space, waiter, None))
    outcome = play.do(ev.AgentLeft(ada))
    assert [note.kind for note in of(outcome, WriteAudit)].count("tab parked") == 2
    assert reserved(outcome) == [play.state.agents[waiter].own_session]
    assert play.state.pool(B1).shown == "2/2"


def test_a_parked_tab_stays_parked_when_its_browser_returns() -> None:
    play, tab, _ = parked()
    play.do(ev.BrowserDown(B1))
    assert not of(play.do(ev.BrowserUp(browser=B1)), OpenTab)
    assert play.state.tabs[tab.id] == tab


def test_a_session_that_waits_itself_is_not_parked_for_another() -> None:
    play = Play(limit=1)
    ada, waiter = play.agent("ada", named("shop")), play.agent("waiter")
    tab = play.tab(ada)
    play.do(Ask(core.request_space, ada, None))
    play.do(Ask(core.request_space, waiter, None))
    play.do(ev.AgentDisconnected(ada))
    assert play.state.tabs[tab.id].state is TabState.OPEN


def test_an_opening_tab_and_anonymous_sessions_are_not_parked() -> None:
    play = Play(limit=2)
    ada, bob, waiter = play.agent("ada", named("shop")), play.agent("bob"), play.agent("waiter")
    play.do(opening(ada))
    play.tab(bob)
    play.do(Ask(core.request_space, waiter, None))
    play.do(ev.AgentDisconnected(ada))
    play.do(ev.AgentDisconnected(bob))
    assert not play.state.reservations


def test_a_popup_of_the_persons_own_tab_is_the_persons() -> None:
    play = Play(limit=1)
    mine = tab_of(play, popup(None, "mine"))
    second = tab_of(play, popup(mine, "second"))
    assert second.session is None
    assert second.jar is None
    play.do(Ask(core.request_space, play.agent("ada"), None))
    assert not play.state.reservations, "a person's tab is never parked"


def test_each_browser_has_its_own_pool() -> None:
    rules = CoreSettings(default_browser=B1, pool_limits={B1: 1, B2: 1})
    play = Play()
    play.settings, play.machine = rules, Machine(rules)
    play.state = play.machine.state
    ada = play.agent("ada")
    bob = play.agent("bob", core.SessionSpec(lifetime=HOME.lifetime, browser=B2))
    assert (play.tab(ada).browser, play.tab(bob).browser) == (B1, B2)


# --- pages by name -------------------------------------------------------------------------------


def page(agent: AgentId, name: str = "cart", session: str | None = None) -> Ask[core.OpenTabAnswer]:
    return Ask(core.open_tab, agent=agent, session=session, url=URL, page=name)


def test_a_page_is_opened_once_and_found_again_while_it_opens_and_after_a_restart() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    tab = play.do(page(ada)).answer.tab
    again = play.do(page(ada))
    assert (again.answer.tab.id, again.answer.is_new, of(again, OpenTab)) == (tab.id, False, [])
    play.do(ev.TabReady(tab.id, TabHandle("h1")))
    play.restart()
    found = play.do(page(OPERATOR, session="shop")).answer.tab
    assert found.id == tab.id


def test_a_name_means_the_sessions_own_page_and_is_free_again_when_it_is_closed() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tabs = [play.do(one).answer.tab for one in (page(ada), page(bob), page(ada, "help"))]
    assert len({tab.id for tab in tabs}) == 3
    play.do(Ask(core.request_close, ada, None, tabs[0].id))
    anew = play.do(page(ada)).answer.tab
    assert anew.id not in {tab.id for tab in tabs}


def test_a_found_page_is_the_callers_current_tab_and_a_parked_one_comes_back() -> None:
    play = Play(limit=1)
    ada = play.agent("ada", named("shop"))
    tab = play.do(page(ada)).answer.tab
    play.do(ev.TabReady(tab.id, TabHandle("h1")))
    play.do(ev.AgentLeft(ada))
    bob = play.agent("bob")
    play.do(Ask(core.request_space, bob, None))
    assert play.state.tabs[tab.id].state is TabState.PARKED
    play.do(ev.AgentLeft(bob))
    carl = play.agent("carl", named("shop"))
    assert [opened.tab for opened in of(play.do(page(carl)), OpenTab)] == [tab.id]
    member = play.state.member(carl, SessionId("shop"))
    assert member is not None
    assert member.current == tab.id


# --- fair share ----------------------------------------------------------------------------------


def full(limit: int = 4) -> tuple[Play, AgentId, AgentId, list[TabId]]:
    """Let one agent take all slots while another waits."""
    play = Play(limit=limit)
    heavy, waiter = play.agent("heavy"), play.agent("waiter")
    tabs = [play.tab(heavy).id for _ in range(limit)]
    play.do(Ask(core.request_space, waiter, None))
    return play, heavy, waiter, tabs


def taken(play: Play) -> list[TabId]:
    return [tab.id for tab in play.state.tabs.values() if tab.state is TabState.PARKED]


def test_after_ten_seconds_a_waiter_gets_a_slot_of_a_session_above_its_share() -> None:
    play, heavy, waiter, tabs = full()
    play.do(ev.TimePassed(), after=SHARE_SECONDS - 0.1)
    assert not taken(play)
    outcome = play.do(ev.TimePassed(), after=0.1)
    assert taken(play) == [tabs[0]]
    told = [(tell.session, tell.kind) for tell in of(outcome, Tell)]
    assert told == [
        (play.state.agents[heavy].own_session, "tab_parked"),
        (play.state.agents[waiter].own_session, "slot_reserved"),
    ]
    assert play.tab(waiter).state is TabState.OPEN


def test_a_parked_tab_comes_back_in_place_of_another_of_its_session() -> None:
    play, heavy, waiter, tabs = full()
    play.do(ev.TimePassed(), after=SHARE_SECONDS)
    play.tab(waiter)
    use = Ask(core.use_tab, agent=heavy, session=None, tab=tabs[0], action="read", acts=False)
    assert [opened.tab for opened in of(play.do(use), OpenTab)] == [tabs[0]]
    assert taken(play) == [tabs[1]]
    assert set(tabs) <= play.state.tabs.keys()


def test_the_share_is_enforced_until_everybody_has_its_own_and_no_further() -> None:
    play, _, waiter, tabs = full()
    for expected in (1, 2, 2):
        play.do(Ask(core.request_space, waiter, None))
        play.do(ev.TimePassed(), after=SHARE_SECONDS)
        if play.state.reservations:
            play.tab(waiter)
        assert len(taken(play)) == expected
    assert taken(play) == tabs[:2]


@pytest.mark.parametrize("why", ["busy", "paused"])
def test_a_session_keeps_waiting_while_no_tab_may_be_parked(why: str) -> None:
    play, heavy, _, tabs = full()
    session = play.state.agents[heavy].own_session
    play.do(Ask(core.pause_session, OPERATOR, session, why == "paused"))
    play.do(ev.TimePassed(frozenset(tabs if why == "busy" else ())), after=SHARE_SECONDS)
    assert not taken(play)
    assert play.machine.next_deadline() == play.now + SHARE_RETRY_SECONDS
    play.do(Ask(core.pause_session, OPERATOR, session, False))
    play.do(ev.TimePassed(), after=SHARE_RETRY_SECONDS)
    assert taken(play) == [tabs[0]]


def test_no_agents_current_tab_is_parked() -> None:
    play = Play(limit=4)
    ada, bob = play.agent("ada", named("team")), play.agent("bob", named("team"))
    tabs = [play.tab(ada).id for _ in range(3)]
    play.tab(bob)
    play.do(Ask(core.select_tab, bob, None, tabs[0]))
    play.do(Ask(core.select_tab, ada, None, tabs[1]))
    for tab in play.state.tabs_in(SessionId("team")):
        if tab.id not in tabs[:2]:
            play.do(use(ada, tab.id))  # so that the two current ones were used least recently
    play.do(Ask(core.select_tab, ada, None, tabs[1]))
    play.do(Ask(core.request_space, play.agent("waiter"), None))
    play.do(ev.TimePassed(), after=SHARE_SECONDS)
    assert taken(play) == [tabs[2]]


def test_only_a_wake_up_takes_a_tab_for_the_fair_share() -> None:
    """Other events do not say which tabs are in use."""
    play, heavy, _, _ = full()
    play.do(Ask(core.renew_lease, heavy), after=60)
    assert not taken(play)
    play.do(ev.TimePassed())
    assert len(taken(play)) == 1


def test_a_waiter_at_its_share_takes_nothing() -> None:
    play = Play(limit=3)
    heavy, waiter = play.agent("heavy"), play.agent("waiter")
    for agent in (heavy, heavy, waiter):
        play.tab(agent)
    play.do(Ask(core.request_space, waiter, None))
    play.do(ev.TimePassed(), after=60)
    assert not taken(play)


def test_the_slot_goes_to_the_first_waiter_below_its_share() -> None:
    play = Play(limit=4)
    heavy, waiter = play.agent("heavy"), play.agent("waiter")
    for _ in range(4):
        play.tab(heavy)
    for agent in (heavy, waiter):
        play.do(Ask(core.request_space, agent, None))
    play.do(ev.TimePassed(), after=SHARE_SECONDS)
    assert [row.agent for row in play.state.reservations.values()] == [waiter]
    assert [row.agent for row in play.state.requests.values()] == [heavy]


def test_after_a_restart_the_wait_for_the_share_begins_again() -> None:
    play, heavy, _, tabs = full()
    play.restart(after=60)
    play.do(Ask(core.resume_agent, heavy))
    play.do(ev.TimePassed(), after=SHARE_SECONDS - 0.1)
    assert not taken(play)
    play.do(ev.TimePassed(), after=0.1)
    assert taken(play) == [tabs[0]]


def test_a_session_that_ends_after_a_restart_leaves_its_share_to_the_others() -> None:
    play, heavy, waiter, _ = full()
    play.restart()
    for agent in (heavy, waiter):
        play.do(Ask(core.resume_agent, agent))
    play.do(ev.AgentLeft(waiter))
    ask = Ask(core.open_tab, agent=heavy, session=None, url=URL, evict=False)
    assert play.refused(ask, PoolFull).details["fairShare"] == 4


def test_a_refusal_says_when_the_share_is_enforced() -> None:
    play, heavy, waiter, _ = full()
    ask = Ask(core.open_tab, agent=waiter, session=None, url=URL)
    told = play.refused(ask, PoolFull).details
    assert (told["fairShare"], told["shareEnforcedAfterMs"]) == (2, 10_000)
    ask = Ask(core.open_tab, agent=heavy, session=None, url=URL, evict=False)
    assert "shareEnforcedAfterMs" not in play.refused(ask, PoolFull).details
