"""Extra jars of sessions (roost.core.jars): CDP clients make them, and they end with those
clients."""

from __future__ import annotations

from roost import core
from roost.core import events as ev
from roost.core.effects import CloseStray, CloseTab, OpenTab, RemoveJar
from roost.core.rows import Jar, Tab
from roost.errors import JarUnavailable, Paused, SessionGone
from roost.vocabulary import JARS_BESIDE, OPERATOR, AgentId, JarId, JarPolicy, SessionId, TabHandle
from tests.core.play import B1, URL, Ask, Play, named, of, tab_of


def jar_of(play: Play, agent: AgentId, *, beside: bool = False) -> Jar:
    """Return a jar that has been made."""
    jar = play.do(Ask(core.request_jar, agent=agent, session=None, beside=beside)).answer
    if jar.handle is None:
        play.do(ev.JarMade(jar.id, f"c-{jar.id}"))
    return play.state.jars[jar.id]


def tab_in(play: Play, agent: AgentId, jar: Jar) -> Tab:
    outcome = play.do(Ask(core.open_tab, agent=agent, session=None, url=URL, jar=jar.id))
    tab = outcome.answer.tab
    assert [effect.jar for effect in of(outcome, OpenTab)] == [jar.id]
    play.do(ev.TabReady(tab.id, TabHandle(f"h-{tab.id}")))
    return play.state.tabs[tab.id]


def test_a_session_has_one_jar_of_its_own_however_often_it_is_asked_for() -> None:
    play = Play()
    agent = play.agent("a")
    own = jar_of(play, agent)
    assert jar_of(play, agent) == own
    assert play.tab(agent).jar == own.id


def test_a_jar_beside_is_fresh_and_never_the_sessions_own() -> None:
    play = Play()
    agent = play.agent("a")
    own, beside = jar_of(play, agent), jar_of(play, agent, beside=True)
    assert beside.id != own.id
    assert beside.policy is JarPolicy.FRESH
    assert play.tab(agent).jar == own.id
    assert tab_in(play, agent, beside).jar == beside.id


def test_popups_of_a_jar_beside_are_its_sessions() -> None:
    play = Play()
    agent = play.agent("a")
    beside = jar_of(play, agent, beside=True)
    spawned = ev.TabOpened(
        browser=B1, handle=TabHandle("pop"), opener=None, jar=beside.handle, url=URL
    )
    tab = tab_of(play, spawned)
    assert (tab.session, tab.jar) == (beside.session, beside.id)


def test_nobody_opens_tabs_in_anothers_jar() -> None:
    play = Play()
    mine, other = play.agent("a"), play.agent("b")
    beside = jar_of(play, other, beside=True)
    for jar in (beside.id, JarId("j99")):
        play.refused(Ask(core.open_tab, agent=mine, session=None, url=URL, jar=jar), JarUnavailable)
    play.refused(Ask(core.request_jar, agent=mine, session=str(beside.session)), SessionGone)


def test_a_released_jar_closes_its_own_tabs_and_no_others() -> None:
    play = Play()
    agent = play.agent("a")
    stays = play.tab(agent)
    beside = jar_of(play, agent, beside=True)
    goes = tab_in(play, agent, beside)
    outcome = play.do(ev.JarReleased(beside.id))
    assert [effect.tab for effect in of(outcome, CloseTab)] == [goes.id]
    assert [effect.jar for effect in of(outcome, RemoveJar)] == [beside.id]
    play.do(ev.JarRemoved(beside.id))
    assert beside.id not in play.state.jars
    assert set(play.state.tabs) == {stays.id}
    assert play.do(ev.JarReleased(beside.id)).effects == [], "twice is as good as once"


def test_a_sessions_own_jar_cannot_be_released() -> None:
    play = Play()
    agent = play.agent("a")
    own = jar_of(play, agent)
    assert play.do(ev.JarReleased(own.id)).effects == []
    assert play.state.jars[own.id] == own


def test_a_session_that_ends_takes_all_its_jars_along() -> None:
    play = Play()
    agent = play.agent("a")
    jars = {jar_of(play, agent).id, jar_of(play, agent, beside=True).id}
    outcome = play.do(ev.AgentLeft(agent))
    assert {effect.jar for effect in of(outcome, RemoveJar)} == jars


def test_after_a_broker_restart_extra_jars_of_cdp_clients_belong_to_no_session() -> None:
    play = Play()
    agent = play.agent("a", named("kept"))
    stays = play.tab(agent)
    own, beside = jar_of(play, agent), jar_of(play, agent, beside=True)
    goes = tab_in(play, agent, beside)
    play.restart()
    assert set(play.state.tabs) == {stays.id}
    up = ev.BrowserUp(
        browser=B1,
        handles=frozenset({TabHandle(f"h-{stays.id}"), TabHandle(f"h-{goes.id}")}),
        jars=frozenset({str(own.handle), str(beside.handle)}),
    )
    outcome = play.do(up)
    assert [effect.jar for effect in of(outcome, RemoveJar)] == [beside.id]
    assert [effect.handle for effect in of(outcome, CloseStray)] == [f"h-{goes.id}"]


def test_extra_jars_are_not_restored_after_their_browser_died() -> None:
    play = Play()
    agent = play.agent("a")
    stays, beside = play.tab(agent), jar_of(play, agent, beside=True)
    tab_in(play, agent, beside)
    play.do(ev.BrowserDown(B1))
    assert set(play.state.tabs) == {stays.id}
    assert beside.id not in play.state.jars
    outcome = play.do(ev.BrowserUp(browser=B1))
    assert [effect.tab for effect in of(outcome, OpenTab)] == [stays.id]


def test_while_a_person_has_the_session_no_jar_is_made_in_it() -> None:
    play = Play()
    agent = play.agent("a", named("kept"))
    play.do(Ask(core.pause_session, OPERATOR, SessionId("kept"), True))
    play.refused(Ask(core.request_jar, agent=agent, session=None, beside=True), Paused)


def test_a_session_has_a_limited_number_of_extra_jars() -> None:
    play = Play()
    agent, other = play.agent("a"), play.agent("b")
    jars = [jar_of(play, agent, beside=True) for _ in range(JARS_BESIDE)]
    one_more = Ask(core.request_jar, agent=agent, session=None, beside=True)
    assert play.refused(one_more, JarUnavailable).details["limit"] == JARS_BESIDE
    jar_of(play, other, beside=True)
    play.do(ev.JarReleased(jars[0].id))
    jar_of(play, agent, beside=True)
