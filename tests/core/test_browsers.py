"""A person's browser comes back: which session owns which of its tabs."""

from __future__ import annotations

from roost.core import events as ev
from roost.core.effects import CloseStray, CloseTab, OpenTab, RemoveJar
from roost.core.machine import Decision
from roost.core.rows import Tab, TabState
from roost.errors import TabGone
from roost.vocabulary import AgentId, JarPolicy, TabHandle
from tests.core.play import B1, URL, Play, of
from tests.core.test_groups import grouped_play, home, told, use

Strip = dict[str, tuple[str, str]]
"""Handle, group and address of every tab that stands in a group."""


def back(
    play: Play,
    strip: Strip,
    jars: frozenset[str] = frozenset(),
    jar_of: dict[str, str] | None = None,
) -> Decision[None]:
    handles = {TabHandle(handle): place for handle, place in strip.items()}
    return play.do(
        ev.BrowserUp(
            browser=B1,
            handles=frozenset(handles),
            jars=jars,
            groups={handle: group for handle, (group, _) in handles.items()},
            places={handle: url for handle, (_, url) in handles.items()},
            jar_of={TabHandle(handle): jar for handle, jar in (jar_of or {}).items()},
        )
    )


def test_a_tab_that_the_browser_brought_back_is_found_by_group_and_address() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    mine, theirs = play.tab(ada), play.tab(bob)
    play.do(ev.BrowserDown(B1))
    outcome = back(
        play, {"new-1": (home(play, bob).group, URL), "new-2": (home(play, ada).group, URL)}
    )
    assert play.state.tabs[mine.id].handle == "new-2"
    assert play.state.tabs[theirs.id].handle == "new-1"
    assert of(outcome, OpenTab) == []
    assert of(outcome, CloseStray) == []
    assert play.do(use(ada)).answer == play.state.tabs[mine.id], "it is still the current one"


def test_a_tab_that_did_not_come_back_is_opened_again() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    play.do(ev.BrowserDown(B1))
    outcome = back(play, {"new": (home(play, ada).group, "https://example.com/elsewhere")})
    assert [(one.tab, one.restore) for one in of(outcome, OpenTab)] == [(tab.id, URL)]
    (other,) = [one for one in play.state.tabs_in(home(play, ada).id) if one.id != tab.id]
    assert other.handle == "new", "what stands in the session's group is the session's"


def test_two_tabs_at_one_address_get_a_page_each() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    one, two = play.tab(ada), play.tab(ada)
    play.do(ev.BrowserDown(B1))
    group = home(play, ada).group
    back(play, {"new-1": (group, URL), "new-2": (group, URL)})
    handles = {play.state.tabs[one.id].handle, play.state.tabs[two.id].handle}
    assert handles == {"new-1", "new-2"}


def test_a_browser_that_lost_only_its_link_keeps_each_tab_under_its_handle() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    one, two = play.tab(ada), play.tab(ada)
    play.do(ev.BrowserDown(B1))
    assert play.state.tabs[one.id].state is TabState.LOST
    mine, theirs = home(play, ada).group, home(play, bob).group
    back(play, {f"h-{one.id}": (mine, "https://example.com/2"), f"h-{two.id}": (theirs, URL)})
    assert play.state.tabs[one.id].handle == f"h-{one.id}", "wherever its page went meanwhile"
    (moved,) = play.state.tabs_in(home(play, bob).id)
    assert moved.handle == f"h-{two.id}", "the person moved it while nobody looked"
    assert "person moved" in play.refused(use(ada), TabGone).message


def test_tabs_in_groups_of_ended_sessions_are_closed() -> None:
    play = grouped_play()
    ada = play.agent("ada")
    play.tab(ada)
    group = home(play, ada).group
    play.do(ev.BrowserDown(B1))
    play.do(ev.AgentLeft(ada))
    assert of(back(play, {"new": (group, URL)}), CloseStray) == [CloseStray(B1, TabHandle("new"))]


def test_after_a_broker_restart_the_tab_strip_says_whose_a_tab_is() -> None:
    play = grouped_play()
    ada, bob = play.agent("ada"), play.agent("bob")
    mine, moved, closed = play.tab(ada), play.tab(ada), play.tab(ada)
    play.restart()
    outcome = back(
        play,
        {
            f"h-{mine.id}": (home(play, ada).group, URL),
            f"h-{moved.id}": (home(play, bob).group, URL),
        },
    )
    assert [tab.id for tab in play.state.tabs_in(home(play, ada).id)] == [mine.id]
    assert [tab.handle for tab in play.state.tabs_in(home(play, bob).id)] == [f"h-{moved.id}"]
    assert closed.id not in play.state.tabs
    assert of(outcome, CloseTab) == []


def test_a_tab_of_the_persons_own_jar_is_found_again_but_never_opened_again() -> None:
    play = grouped_play(policy=JarPolicy.FRESH)
    ada = play.agent("ada")
    session = home(play, ada)
    for handle, url in (("own-1", URL), ("own-2", "https://example.com/2")):
        play.do(
            ev.TabOpened(
                browser=B1, handle=TabHandle(handle), opener=None, jar=None, url=url,
                group=session.group,
            )
        )  # fmt: skip
    found, lost = play.state.tabs_in(session.id)
    play.do(ev.BrowserDown(B1))
    outcome = back(play, {"new": (session.group, URL)})
    assert play.state.tabs[found.id].handle == "new"
    assert lost.id not in play.state.tabs
    assert of(outcome, OpenTab) == []
    assert (session.id, "tab_closed") in told(outcome)


def test_jars_that_the_browser_still_has_stay_with_their_sessions() -> None:
    play = grouped_play(policy=JarPolicy.FRESH)
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(ev.BrowserDown(B1))
    outcome = back(play, {"new": (home(play, ada).group, URL)}, frozenset({"jar-1"}))
    assert play.state.jars[tab.jar].handle == "jar-1"
    assert of(outcome, RemoveJar) == []
    play.do(ev.BrowserDown(B1))
    back(play, {})
    assert play.state.jars[tab.jar].handle is None, "one that is gone is made again"


def gone_with_a_jar() -> tuple[Play, AgentId, Tab]:
    """Return an agent with its own jar, whose browser has ended."""
    play = grouped_play(policy=JarPolicy.FRESH)
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(ev.BrowserDown(B1))
    return play, ada, tab


def test_a_page_at_the_same_address_in_another_jar_is_another_tab() -> None:
    """Both pages came back in the session's group, but only one has the session's logins."""
    play, ada, tab = gone_with_a_jar()
    group = home(play, ada).group
    for mine, persons in (("new-1", "new-2"), ("new-4", "new-3")):
        strip = {mine: (group, URL), persons: (group, URL)}
        back(play, strip, frozenset({"jar-1"}), {mine: "jar-1", persons: "default"})
        assert play.state.tabs[tab.id].handle == mine
        (other,) = [one for one in play.state.tabs_in(home(play, ada).id) if one.id != tab.id]
        assert (other.handle, other.jar) == (persons, None)
        play.do(ev.BrowserDown(B1))


def test_a_tab_whose_jar_came_back_is_adopted_with_it() -> None:
    play, ada, tab = gone_with_a_jar()
    group = home(play, ada).group
    strip = {"new-1": (group, URL), "new-2": (group, "https://example.com/popup")}
    back(play, strip, frozenset({"jar-1"}), dict.fromkeys(strip, "jar-1"))
    assert {one.jar for one in play.state.tabs_in(home(play, ada).id)} == {tab.jar}
