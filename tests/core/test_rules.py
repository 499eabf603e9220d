from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roost import core
from roost.core import events as ev
from roost.core import rules
from roost.core.rows import Tab
from roost.core.state import ANY_AGENT
from roost.errors import (
    BadRequest,
    JarUnavailable,
    Ownership,
    Paused,
    RoostError,
    SessionGone,
    TabCrashed,
    TabGone,
)
from roost.vocabulary import OPERATOR, AgentId, JarId, Lifetime, Reads, TabHandle
from tests.core.play import B1, URL, Ask, Play, named, tab_of


def use(
    agent: AgentId,
    tab: str | None = None,
    session: str | None = None,
    *,
    acts: bool = True,
    revives: bool = False,
    action: str = "navigate",
) -> Ask[Tab]:
    return Ask(
        core.use_tab,
        agent=agent,
        session=session,
        tab=tab,
        action=action,
        acts=acts,
        revives=revives,
    )


def test_a_session_is_found_as_own_by_alias_and_by_joined_id() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    sub = play.do(
        Ask(core.open_session, agent=ada, alias="sub", spec=core.SessionSpec(lifetime=_ANONYMOUS))
    ).answer
    assert rules.session_for(play.state, ada, None).id == "shop"
    assert rules.session_for(play.state, ada, "shop").id == "shop"
    assert rules.session_for(play.state, ada, "sub") == sub


def test_foreign_and_absent_sessions_get_the_same_error() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    home = play.state.agents[ada].own_session
    answers = []
    for session in (home, "s99"):
        with pytest.raises(SessionGone) as caught:
            rules.session_for(play.state, bob, session)
        answers.append((caught.value.hint, caught.value.details.keys()))
    assert answers[0] == answers[1]


def test_an_agents_own_name_hides_a_foreign_session_of_that_id() -> None:
    play = Play()
    play.agent("ada", named("shop"))
    bob = play.agent("bob")
    play.refused(Ask(core.open_tab, agent=bob, session="shop", url=URL), SessionGone)
    own = play.do(
        Ask(core.open_session, agent=bob, alias="shop", spec=core.SessionSpec(lifetime=_ANONYMOUS))
    ).answer
    assert rules.session_for(play.state, bob, "shop") == own
    assert own is not None
    assert own.id != "shop"


def test_a_dead_agent_has_no_session_and_no_tab() -> None:
    play = Play(reads=Reads.SHARED)
    ada, dead = play.agent("ada"), play.agent("dead")
    tab = play.tab(ada)
    play.do(ev.AgentLeft(dead))
    play.refused(use(dead), SessionGone)
    play.refused(use(dead, tab.id, acts=False), SessionGone)
    play.refused(Ask(core.open_session, agent=dead, alias=None, spec=_SPEC), SessionGone)


def test_the_operator_may_type_the_beginning_of_a_long_session_id() -> None:
    play = Play()
    for id in ("0f5c1f1e-aaaa-1111", "0f5c1f1e-aaaa-2222", "77777777-aaaa-1111"):
        play.do(Ask(core.open_session, agent=OPERATOR, alias=None, spec=named(id)))
    shown = Ask(core.session_for, OPERATOR, "77777777…")
    assert play.do(shown).answer.id == "77777777-aaaa-1111"
    assert play.do(Ask(core.session_for, OPERATOR, "0f5c1f1e-aaaa-2")).answer.id.endswith("2222")
    play.refused(Ask(core.session_for, OPERATOR, "0f5c1f1e"), SessionGone)  # two begin like that
    play.refused(Ask(core.session_for, OPERATOR, "7777777"), SessionGone)  # too short
    ada = play.agent("ada")
    play.refused(Ask(core.session_for, ada, "77777777"), SessionGone)


def test_the_operator_must_name_what_it_means() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert play.refused(use(OPERATOR), BadRequest).details["field"] == "tab"
    refusal = play.refused(Ask(core.stop_loop, OPERATOR, None), BadRequest)
    assert refusal.details["field"] == "session"
    play.refused(Ask(core.stop_loop, OPERATOR, "s99"), SessionGone)
    assert play.do(use(OPERATOR, tab.id)).answer == tab
    assert play.do(use(OPERATOR, tab.id, tab.session)).answer == tab
    play.refused(use(OPERATOR, tab.id, "s99"), TabGone)
    play.refused(use(OPERATOR, "t99"), TabGone)


def test_a_tab_named_with_another_of_the_callers_sessions_is_not_there() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    play.do(Ask(core.open_session, agent=ada, alias="sub", spec=_SPEC))
    play.refused(use(ada, tab.id, "sub"), TabGone)
    assert isinstance(play.do(use(ada, tab.id, tab.session)).answer, Tab)


def test_the_persons_own_tab_belongs_to_no_agent() -> None:
    play = Play(reads=Reads.SHARED)
    ada = play.agent("ada")
    tab = tab_of(play, _spawned("mine"))
    play.refused(use(ada, tab.id, acts=False), TabGone)
    assert play.do(use(OPERATOR, tab.id)).answer == tab
    assert play.state.owner_shown(tab) == OPERATOR


def test_an_agent_without_a_tab_is_told_which_it_could_choose() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    tab = play.tab(ada)
    assert play.refused(use(bob), TabGone).details["yourTabs"] == [tab.id]


def test_members_of_one_session_share_its_tabs_but_not_the_current_one() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    one, two = play.tab(ada), play.tab(bob)
    assert isinstance(play.do(use(bob, one.id)).answer, Tab)
    for agent, tab in ((ada, one), (bob, two)):
        subject = play.do(use(agent)).answer
        assert subject is not None
        assert subject.id == tab.id


def test_shared_reads_let_anybody_look_and_nobody_touch() -> None:
    play = Play(reads=Reads.SHARED)
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    assert play.do(use(bob, tab.id, acts=False)).answer == tab
    assert play.state.tabs[tab.id] == tab, "a look from outside is not a use"
    refusal = play.refused(use(bob, tab.id), Ownership)
    # The one text that the outer contract fixes (docs/design/contract.md).
    assert str(refusal) == f"OWNERSHIP: Cannot navigate tab {tab.id} (owned by {ada[:12]}...)"
    assert refusal.details["ownerId"] == ada[:12]
    play.refused(Ask(core.select_tab, bob, None, tab.id), Ownership)
    play.refused(Ask(core.request_close, bob, None, tab.id), Ownership)
    play.refused(use(bob, "t99", acts=False), TabGone)


def test_a_tab_whose_owners_are_away_has_an_owner_without_a_name() -> None:
    play = Play(reads=Reads.SHARED)
    ada, bob = play.agent("ada", named("shop")), play.agent("bob")
    tab = play.tab(ada)
    play.do(ev.AgentLeft(ada))
    assert play.refused(use(bob, tab.id), Ownership).details["ownerId"] == ANY_AGENT


def test_a_paused_session_answers_nobody_but_the_person() -> None:
    play = Play()
    ada, waiter = play.agent("ada"), play.agent("waiter")
    tab = play.tab(ada)
    assert tab.session is not None
    play.do(Ask(core.request_space, waiter, None))
    play.do(Ask(core.pause_session, OPERATOR, tab.session, True))
    waiter_home = play.state.agents[waiter].own_session
    play.do(Ask(core.pause_session, OPERATOR, waiter_home, True))
    events: list[Ask[Any]] = [
        use(ada),
        Ask(core.open_tab, agent=ada, session=None, url=URL),
        Ask(core.select_tab, ada, None, tab.id),
        Ask(core.request_close, ada, None, tab.id),
        Ask(core.dispose_session, ada, tab.session),
    ]
    for event in events:
        assert play.refused(event, Paused).details["session"] == tab.session
    assert play.do(use(OPERATOR, tab.id)).answer == tab
    play.do(Ask(core.request_close, OPERATOR, None, tab.id))


def test_a_crashed_page_allows_only_operations_that_reload_it() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert tab.handle is not None
    play.do(ev.TabCrashed(B1, tab.handle))
    assert play.refused(use(ada), TabCrashed).details["tab"] == tab.id
    assert isinstance(play.do(use(ada, revives=True)).answer, Tab)


def test_a_tab_lost_with_its_browser_stays_its_owners() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    play.do(ev.BrowserDown(B1))
    subject = play.do(use(ada)).answer
    assert subject is not None
    assert subject.id == tab.id
    play.refused(use(bob, tab.id), TabGone)


def test_a_callers_text_is_cut_before_it_is_shown() -> None:
    def shown(error: RoostError) -> int:
        return len(str(error.to_wire()))

    assert shown(rules.no_tab("t" * 10_000)) < 300
    assert shown(rules.no_session("s" * 10_000)) < 400


_ANONYMOUS = Lifetime.ANONYMOUS
_SPEC = core.SessionSpec(lifetime=_ANONYMOUS)


def _spawned(handle: str) -> ev.TabOpened:
    return ev.TabOpened(browser=B1, handle=TabHandle(handle), opener=None, jar=None, url=URL)


def test_cookies_are_the_own_sessions_and_a_foreign_tab_has_none_to_show() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab, foreign = play.tab(ada), play.tab(bob)
    session, jar = rules.own_jar(play.state, ada, None, tab.id, action="read the cookies of")

    assert (session.id, jar) == (tab.session, play.state.jars[tab.jar or JarId("")])
    with pytest.raises(TabGone):
        rules.own_jar(play.state, ada, None, foreign.id, action="read the cookies of")
    with pytest.raises(SessionGone):
        rules.own_jar(play.state, ada, str(foreign.session), None, action="read the cookies of")


def test_a_tab_moved_between_sessions_keeps_its_jar_and_its_cookies_are_refused() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    mine, moved = play.tab(ada), play.tab(bob)
    play.state.put(replace(moved, session=mine.session))

    assert rules.tab_for(play.state, ada, None, moved.id, action="look at", acts=True)
    with pytest.raises(JarUnavailable):
        rules.own_jar(play.state, ada, None, moved.id, action="read the cookies of")
