from __future__ import annotations

from typing import Any

from roost import core
from roost.core import events as ev
from roost.core.addresses import ADDRESS_CHARS, BLANK, short_address
from roost.core.effects import CloseStray, CloseTab, ForgetTab, OpenTab, RemoveJar, Tell
from roost.core.rows import Tab, TabState
from roost.errors import TabGone
from roost.vocabulary import OPERATOR, AgentId, JarId, TabHandle, TabId
from tests.core.play import B1, B2, URL, Ask, Play, named, of, tab_of


def use(agent: AgentId, tab: str | None = None) -> Ask[Tab]:
    return Ask(core.use_tab, agent=agent, session=None, tab=tab, action="click", acts=True)


def handle(tab: Tab) -> TabHandle:
    assert tab.handle is not None
    return tab.handle


def opening(play: Play, agent: AgentId) -> Tab:
    return play.do(Ask(core.open_tab, agent=agent, session=None, url=URL)).answer.tab


def the_persons(play: Play, name: str = "own") -> Tab:
    opened = ev.TabOpened(browser=B1, handle=TabHandle(name), opener=None, jar=None, url=URL)
    return tab_of(play, opened)


def current(play: Play, agent: AgentId) -> TabId | None:
    member = play.state.member(agent, play.state.agents[agent].own_session)
    assert member is not None
    return member.current


def kinds(effects: list[Tell]) -> list[str]:
    return [told.kind for told in effects]


# --- what callers do -----------------------------------------------------------------------------


def test_closing_the_current_tab_makes_the_most_recently_used_one_current() -> None:
    play = Play()
    ada = play.agent("ada")
    one, two, three = play.tab(ada), play.tab(ada), play.tab(ada)
    play.do(use(ada, one.id))
    assert current(play, ada) == three.id
    outcome = play.do(Ask(core.request_close, ada, None, None))
    assert outcome.answer == three
    assert [closed.tab for closed in of(outcome, CloseTab)] == [three.id]
    assert kinds(of(outcome, Tell)) == ["tab_closed"]
    assert current(play, ada) == one.id
    play.do(Ask(core.request_close, ada, None, two.id))
    assert current(play, ada) == one.id
    play.do(Ask(core.request_close, ada, None, None))
    assert current(play, ada) is None
    assert "tab" not in play.refused(use(ada), TabGone).details, "it closed the last one itself"


def test_a_tab_that_another_member_closed_is_lost_and_not_replaced() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    tab, _ = play.tab(ada), play.tab(bob)
    play.do(Ask(core.request_close, bob, None, tab.id))
    assert play.refused(use(ada), TabGone).details["tab"] == tab.id


def test_selecting_makes_a_tab_current_and_recently_used() -> None:
    play = Play()
    ada = play.agent("ada")
    one, two = play.tab(ada), play.tab(ada)
    play.do(Ask(core.select_tab, ada, None, one.id))
    assert current(play, ada) == one.id
    assert [tab.id for tab in play.state.tabs_in(one.session)] == [two.id, one.id]


def test_selecting_a_tab_clears_the_error_about_a_lost_tab() -> None:
    play = Play()
    ada = play.agent("ada")
    one, two = play.tab(ada), play.tab(ada)
    play.do(ev.TabClosed(B1, handle(two)))
    play.refused(use(ada), TabGone)
    play.do(Ask(core.select_tab, ada, None, one.id))
    assert isinstance(play.do(use(ada)).answer, Tab)


def test_the_operator_selects_and_closes_without_being_a_member() -> None:
    play = Play()
    ada = play.agent("ada")
    tab, own = play.tab(ada), the_persons(play)
    for id in (tab.id, own.id):
        play.do(Ask(core.select_tab, OPERATOR, None, id))
        play.do(Ask(core.request_close, OPERATOR, None, id))
    assert not play.state.tabs
    assert play.refused(use(ada), TabGone).details["tab"] == tab.id


# --- what the browser says -----------------------------------------------------------------------


def test_an_opened_tab_is_told_to_its_session_once() -> None:
    play = Play()
    tab = opening(play, play.agent("ada"))
    outcome = play.do(ev.TabReady(tab.id, TabHandle("h")))
    assert kinds(of(outcome, Tell)) == ["tab_opened"]
    assert not play.do(ev.TabReady(tab.id, TabHandle("h"))).effects


def test_a_second_page_for_one_tab_is_a_stray() -> None:
    play = Play()
    tab = opening(play, play.agent("ada"))
    play.do(ev.TabReady(tab.id, TabHandle("h1")))
    outcome = play.do(ev.TabReady(tab.id, TabHandle("h2")))
    assert outcome.effects == [CloseStray(B1, TabHandle("h2"))]
    assert play.state.tabs[tab.id].handle == "h1"


def test_a_late_report_of_a_page_that_belongs_to_another_tab_changes_nothing() -> None:
    play = Play()
    ada = play.agent("ada")
    other, waiting, done = play.tab(ada), opening(play, ada), play.tab(ada)
    for tab in (waiting, done):
        outcome = play.do(ev.TabReady(tab.id, handle(other)))
        assert not outcome.changes
        assert not of(outcome, CloseStray)
    assert play.state.tab_with(B1, handle(other)) == other


def test_a_tab_that_could_not_be_opened_gives_its_slot_back() -> None:
    play = Play(limit=1)
    tab = opening(play, play.agent("ada"))
    play.do(Ask(core.request_space, play.agent("bob"), None))
    outcome = play.do(ev.TabOpenFailed(tab.id))
    assert [type(e) for e in outcome.effects[:1]] == [ForgetTab]
    assert kinds(of(outcome, Tell)) == ["slot_reserved"], "the caller hears it from its call"
    assert not play.do(ev.TabOpenFailed(tab.id)).effects


def test_a_late_report_that_an_open_tab_failed_to_open_changes_nothing() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    play.do(ev.TabOpenFailed(tab.id))
    assert tab.id in play.state.tabs


def test_a_tab_that_could_not_be_restored_is_opened_at_its_address_when_it_is_used() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    play.do(ev.TabNavigated(B1, handle(tab), "https://a.example/", "A"))
    play.do(ev.BrowserDown(B1))
    for _ in range(2):
        outcome = play.do(ev.TabOpenFailed(tab.id))
        assert kinds(of(outcome, Tell)) == ["tab_parked"]
        assert play.state.pool(B1).held == 0, "what did not open holds no slot"
        opened = of(play.do(use(ada)), OpenTab)
        assert [(one.tab, one.restore) for one in opened] == [(tab.id, "https://a.example/")]


def test_an_abandoned_opening_is_closed() -> None:
    play = Play()
    tab = opening(play, play.agent("ada"))
    outcome = play.do(ev.TabOpenAbandoned(tab.id))
    assert [closed.handle for closed in of(outcome, CloseTab)] == [None]
    assert not play.do(ev.TabOpenAbandoned(tab.id)).effects
    assert not play.do(ev.TabReady(tab.id, TabHandle("late"))).changes


def test_events_of_unknown_pages_change_nothing() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    events: list[ev.Event] = [
        ev.TabClosed(B1, TabHandle("?")),
        ev.TabNavigated(B1, TabHandle("?"), URL, ""),
        ev.TabCrashed(B1, TabHandle("?")),
        ev.TabClosed(B2, handle(tab)),
        ev.JarMade(JarId("j9"), "jar"),
        ev.JarRemoved(JarId("j9")),
    ]
    for event in events:
        outcome = play.do(event)
        assert not outcome.effects
        assert not outcome.changes


def test_a_navigated_tab_gets_the_new_address_and_title() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    outcome = play.do(ev.TabNavigated(B1, handle(tab), f"{URL}next", "Next"))
    row = play.state.tabs[tab.id]
    assert (row.url, row.title) == (f"{URL}next", "Next")
    assert kinds(of(outcome, Tell)) == ["tab_navigated"]
    assert not play.do(ev.TabNavigated(B1, handle(tab), f"{URL}next", "Title")).effects


def test_a_crash_is_told_once_and_healed_by_a_new_document() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert kinds(of(play.do(ev.TabCrashed(B1, handle(tab))), Tell)) == ["tab_crashed"]
    assert not play.do(ev.TabCrashed(B1, handle(tab))).effects
    play.do(ev.TabNavigated(B1, handle(tab), URL, ""))
    assert play.state.tabs[tab.id].state is TabState.OPEN


def test_the_persons_tabs_are_recorded_without_a_notice() -> None:
    play = Play()
    tab = the_persons(play)
    for event in (
        ev.TabNavigated(B1, handle(tab), f"{URL}2", ""),
        ev.TabCrashed(B1, handle(tab)),
    ):
        assert not play.do(event).effects
    assert play.state.tabs[tab.id].state is TabState.CRASHED
    outcome = play.do(ev.TabClosed(B1, handle(tab)))
    assert [type(effect) for effect in outcome.effects] == [ForgetTab]


# --- the browser dies and returns ----------------------------------------------------------------


def test_a_browsers_death_answers_every_call_and_keeps_every_row_but_the_persons() -> None:
    play = Play()
    ada = play.agent("ada")
    tab, own = play.tab(ada), the_persons(play)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    outcome = play.do(ev.BrowserDown(B1))
    forgotten = of(outcome, ForgetTab)
    assert {gone.tab for gone in forgotten} == {tab.id, own.id}
    assert {gone.error.code for gone in forgotten} == {"BROWSER_LOST"}
    assert play.state.tabs[tab.id].state is TabState.LOST
    assert own.id not in play.state.tabs
    assert play.state.jars[tab.jar].handle is None
    assert current(play, ada) == tab.id, "it comes back as the same tab"


def test_a_browser_that_returns_gets_its_lost_tabs_back() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    play.do(ev.BrowserDown(B1))
    outcome = play.do(ev.BrowserUp(browser=B1))
    assert tab.jar is not None
    assert outcome.effects == [OpenTab(tab.id, B1, tab.jar, tab.url)]


def test_a_tab_that_waits_for_the_browser_to_start_is_not_taken_for_a_leftover() -> None:
    """Found by review: the first tab of all is opening when its browser comes up."""
    play = Play()
    tab = opening(play, play.agent("ada"))
    outcome = play.do(ev.BrowserUp(browser=B1))
    assert tab.jar is not None
    assert outcome.effects == [OpenTab(tab.id, B1, tab.jar)]
    play.do(ev.TabReady(tab.id, TabHandle("h")))
    assert play.state.tabs[tab.id].state is TabState.OPEN


def test_rows_are_compared_with_the_pages_and_jars_that_the_browser_has() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    kept, gone = play.tab(ada), play.tab(bob)
    assert kept.jar is not None
    assert gone.jar is not None
    play.do(ev.JarMade(kept.jar, "jar-1"))
    play.do(ev.JarMade(gone.jar, "jar-2"))
    outcome = play.do(
        ev.BrowserUp(
            browser=B1,
            handles=frozenset({handle(kept), TabHandle("stray")}),
            jars=frozenset({"jar-1", "jar-3"}),
        )
    )
    assert list(play.state.tabs) == [kept.id]
    assert of(outcome, CloseStray) == [CloseStray(B1, TabHandle("stray"))]
    assert of(outcome, RemoveJar) == [RemoveJar(None, B1, "jar-3")]
    assert play.state.jars[kept.jar].handle == "jar-1"
    assert play.state.jars[gone.jar].handle is None


def test_a_leftover_jar_is_removed_when_its_browser_returns() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(ev.AgentLeft(ada))
    play.restart()
    outcome = play.do(ev.BrowserUp(browser=B1, jars=frozenset({"jar-1"})))
    assert of(outcome, RemoveJar) == [RemoveJar(None, B1, "jar-1")]
    assert not play.state.jars


def test_a_jar_in_use_is_not_forgotten_because_a_late_removal_is_reported() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert tab.jar is not None
    play.do(ev.JarRemoved(tab.jar))
    assert tab.jar in play.state.jars


def test_another_browsers_death_touches_nothing() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert not play.do(ev.BrowserDown(B2)).effects
    assert not play.do(ev.BrowserUp(browser=B2)).effects
    assert play.state.tabs[tab.id] == tab


# --- what operations read ------------------------------------------------------------------------


def read(tab: Tab, next_ref: int, **known: Any) -> ev.TabRead:
    given: dict[str, Any] = {"title": "", "next_frame": 1, "frames": ()} | known
    return ev.TabRead(tab=tab.id, next_ref=next_ref, **given)


def test_the_next_free_ref_survives_a_restart() -> None:
    play = Play()
    tab = play.tab(play.agent("ada", named("work")))
    play.do(read(tab, 40, title="Now", next_frame=3, frames=(("F", "f2"),)))
    play.restart()
    row = play.state.tabs[tab.id]
    assert (row.title, row.next_ref, row.next_frame, row.frames) == ("Now", 40, 3, (("F", "f2"),))


def test_a_late_reading_never_decreases_the_next_free_ref() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    play.do(read(tab, 40, next_frame=3, frames=(("F", "f2"),)))
    play.do(read(tab, 12, next_frame=2, frames=(("E", "f1"),)))
    row = play.state.tabs[tab.id]
    assert (row.next_ref, row.next_frame, row.frames) == (40, 3, (("F", "f2"),))


def test_a_reading_without_changes_writes_nothing() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert play.do(read(tab, 40)).changes
    assert not play.do(read(tab, 40)).changes
    play.do(Ask(core.request_close, ada, None, tab.id))
    assert not play.do(read(tab, 41)).changes, "of a tab that is gone"


def test_a_tab_whose_address_was_cut_comes_back_blank_and_not_somewhere_else() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert tab.handle is not None
    cut = short_address(f"{URL}?{'a' * ADDRESS_CHARS}")
    play.do(ev.TabNavigated(B1, tab.handle, cut, ""))
    play.do(ev.BrowserDown(B1))
    outcome = play.do(ev.BrowserUp(browser=B1))
    assert [(one.tab, one.restore) for one in of(outcome, OpenTab)] == [(tab.id, BLANK)]


def test_a_caller_may_open_an_address_that_is_longer_than_what_the_row_keeps() -> None:
    play = Play()
    agent = play.agent("ada")
    url = f"{URL}?{'a' * ADDRESS_CHARS}"
    opened = play.do(Ask(core.open_tab, agent=agent, session=None, url=url)).answer
    assert opened.tab.url == short_address(url)
