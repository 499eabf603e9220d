from __future__ import annotations

from dataclasses import replace

import pytest

from roost.core import events as ev
from roost.core import rules
from roost.core.rows import Tab
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
from tests.core.play import B1, URL, Play, named


def use(
    agent: AgentId,
    tab: str | None = None,
    session: str | None = None,
    *,
    acts: bool = True,
    revives: bool = False,
    action: str = "navigate",
) -> ev.TabUseRequested:
    return ev.TabUseRequested(
        agent=agent, session=session, tab=tab, action=action, acts=acts, revives=revives
    )


def test_a_session_is_found_by_home_by_own_name_and_by_joined_id() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    sub = play.do(
        ev.SessionOpenRequested(agent=ada, alias="sub", spec=ev.SessionSpec(lifetime=_ANONYMOUS))
    ).subject
    assert rules.session_for(play.state, ada, None).id == "shop"
    assert rules.session_for(play.state, ada, "shop").id == "shop"
    assert rules.session_for(play.state, ada, "sub") == sub


def test_foreign_and_absent_sessions_answer_alike() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    home = play.state.agents[ada].home
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
    play.refused(ev.TabOpenRequested(agent=bob, session="shop", url=URL), SessionGone)
    own = play.do(
        ev.SessionOpenRequested(agent=bob, alias="shop", spec=ev.SessionSpec(lifetime=_ANONYMOUS))
    ).subject
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
    play.refused(ev.SessionOpenRequested(agent=dead, alias=None, spec=_SPEC), SessionGone)


def test_the_operator_must_name_what_it_means() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    assert play.refused(use(OPERATOR), BadRequest).details["field"] == "tab"
    refusal = play.refused(ev.LoopStopRequested(OPERATOR, None), BadRequest)
    assert refusal.details["field"] == "session"
    play.refused(ev.LoopStopRequested(OPERATOR, "s99"), SessionGone)
    assert play.do(use(OPERATOR, tab.id)).subject == tab
    assert play.do(use(OPERATOR, tab.id, tab.session)).subject == tab
    play.refused(use(OPERATOR, tab.id, "s99"), TabGone)
    play.refused(use(OPERATOR, "t99"), TabGone)


def test_a_tab_named_with_another_of_the_callers_sessions_is_not_there() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    play.do(ev.SessionOpenRequested(agent=ada, alias="sub", spec=_SPEC))
    play.refused(use(ada, tab.id, "sub"), TabGone)
    assert isinstance(play.do(use(ada, tab.id, tab.session)).subject, Tab)


def test_the_persons_own_tab_is_nobodys() -> None:
    play = Play(reads=Reads.SHARED)
    ada = play.agent("ada")
    tab = play.do(_spawned("mine")).subject
    assert isinstance(tab, Tab)
    play.refused(use(ada, tab.id, acts=False), TabGone)
    assert play.do(use(OPERATOR, tab.id)).subject == tab
    assert rules.owner_shown(play.state, tab) == OPERATOR


def test_an_agent_without_a_tab_is_told_which_it_could_choose() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    tab = play.tab(ada)
    assert play.refused(use(bob), TabGone).details["yourTabs"] == [tab.id]


def test_members_of_one_session_share_its_tabs_but_not_the_current_one() -> None:
    play = Play()
    ada, bob = play.agent("ada", named("shop")), play.agent("bob", named("shop"))
    one, two = play.tab(ada), play.tab(bob)
    assert isinstance(play.do(use(bob, one.id)).subject, Tab)
    for agent, tab in ((ada, one), (bob, two)):
        subject = play.do(use(agent)).subject
        assert subject is not None
        assert subject.id == tab.id


def test_shared_reads_let_anybody_look_and_nobody_touch() -> None:
    play = Play(reads=Reads.SHARED)
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    assert play.do(use(bob, tab.id, acts=False)).subject == tab
    assert play.state.tabs[tab.id] == tab, "a look from outside is not a use"
    refusal = play.refused(use(bob, tab.id), Ownership)
    # The one text that the outer contract fixes (docs/design/contract.md).
    assert str(refusal) == f"OWNERSHIP: Cannot navigate tab {tab.id} (owned by {ada[:12]}...)"
    assert refusal.details["ownerId"] == ada[:12]
    play.refused(ev.TabSelectRequested(bob, None, tab.id), Ownership)
    play.refused(ev.TabCloseRequested(bob, None, tab.id), Ownership)
    play.refused(use(bob, "t99", acts=False), TabGone)


def test_a_tab_whose_owners_are_away_has_an_owner_without_a_name() -> None:
    play = Play(reads=Reads.SHARED)
    ada, bob = play.agent("ada", named("shop")), play.agent("bob")
    tab = play.tab(ada)
    play.do(ev.AgentLeft(ada))
    assert play.refused(use(bob, tab.id), Ownership).details["ownerId"] == rules.ANY_AGENT


def test_a_paused_session_answers_nobody_but_the_person() -> None:
    play = Play()
    ada, waiter = play.agent("ada"), play.agent("waiter")
    tab = play.tab(ada)
    assert tab.session is not None
    play.do(ev.TabSpaceRequested(waiter, None))
    play.do(ev.SessionPauseRequested(OPERATOR, tab.session, True))
    waiter_home = play.state.agents[waiter].home
    play.do(ev.SessionPauseRequested(OPERATOR, waiter_home, True))
    events: list[ev.Event] = [
        use(ada),
        ev.TabOpenRequested(agent=ada, session=None, url=URL),
        ev.TabSelectRequested(ada, None, tab.id),
        ev.TabCloseRequested(ada, None, tab.id),
        ev.SessionDisposeRequested(ada, tab.session),
    ]
    for event in events:
        assert play.refused(event, Paused).details["session"] == tab.session
    assert play.do(use(OPERATOR, tab.id)).subject == tab
    play.do(ev.TabCloseRequested(OPERATOR, None, tab.id))


def test_a_crashed_page_answers_only_what_revives_it() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    assert tab.handle is not None
    play.do(ev.TabBroke(B1, tab.handle))
    assert play.refused(use(ada), TabCrashed).details["tab"] == tab.id
    assert isinstance(play.do(use(ada, revives=True)).subject, Tab)


def test_a_tab_lost_with_its_browser_stays_its_owners() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    tab = play.tab(ada)
    play.do(ev.BrowserDown(B1))
    subject = play.do(use(ada)).subject
    assert subject is not None
    assert subject.id == tab.id
    play.refused(use(bob, tab.id), TabGone)


def test_what_a_caller_wrote_is_cut_before_it_is_shown() -> None:
    def shown(error: RoostError) -> int:
        return len(str(error.to_wire()))

    assert shown(rules.no_tab("t" * 10_000)) < 300
    assert shown(rules.no_session("s" * 10_000)) < 400


_ANONYMOUS = Lifetime.ANONYMOUS
_SPEC = ev.SessionSpec(lifetime=_ANONYMOUS)


def _spawned(handle: str) -> ev.TabSpawned:
    return ev.TabSpawned(browser=B1, handle=TabHandle(handle), opener=None, jar=None, url=URL)


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
