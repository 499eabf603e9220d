from __future__ import annotations

import pytest

from roost import core
from roost.core import events as ev
from roost.core import rules, sessions
from roost.core.effects import CloseTab, RemoveFiles, RemoveJar, Tell
from roost.core.rows import Session, Tab
from roost.errors import (
    BadRequest,
    Paused,
    ProfileNotFound,
    SessionGone,
    SessionLimit,
    Unauthorized,
    UrlBlocked,
)
from roost.vocabulary import (
    CLONED_JARS,
    OPERATOR,
    RESUMABLE_SECONDS,
    AgentId,
    BrowserId,
    Color,
    JarPolicy,
    Lifetime,
    SessionId,
    TabId,
)
from tests.core.play import B1, B2, HOME, URL, Ask, Play, named, of

RESUMABLE = named("thread-1", Lifetime.RESUMABLE)
CLONE = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, policy=JarPolicy.CLONE, profile="work")


def opening(
    agent: AgentId,
    alias: str | None = None,
    spec: core.SessionSpec = HOME,
    *,
    exists: bool = True,
    is_open: bool = True,
) -> Ask[Session]:
    """``is_open``: the person lets every agent clone the profile, if one is named."""
    return Ask(
        core.open_session,
        agent=agent,
        alias=alias,
        spec=spec,
        profile_exists=exists,
        profile_for_any_agent=is_open,
    )


def current_of(play: Play, agent: AgentId, session: SessionId) -> TabId | None:
    member = play.state.member(agent, session)
    assert member is not None
    return member.current


def opened(play: Play, ask: Ask[Session]) -> Session:
    return play.do(ask).answer


def test_a_session_has_a_name_a_jar_policy_and_the_rarest_colour() -> None:
    play = Play()
    homes = [play.state.sessions[play.state.agents[play.agent(n)].own_session] for n in ("a", "b")]
    assert [session.color for session in homes] == [Color.BLUE, Color.RED]
    assert homes[0].name
    assert homes[0].policy is JarPolicy.FRESH
    assert homes[0].browser == B1


def test_a_long_name_is_cut() -> None:
    play = Play()
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, name="n" * 1000)
    assert len(opened(play, opening(play.agent("ada"), spec=spec)).name) == sessions.NAME_CHARS


def test_opening_a_session_again_under_its_alias_finds_it() -> None:
    play = Play()
    ada = play.agent("ada")
    session = opened(play, opening(ada, "sub"))
    assert opened(play, opening(ada, "sub")) == session
    assert opened(play, opening(ada)) != session, "without a name it is a new one"


def test_an_agents_aliases_are_unknown_to_other_agents() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    assert opened(play, opening(ada, "sub")) != opened(play, opening(bob, "sub"))


def test_a_joined_session_is_found_by_its_global_id() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    assert opened(play, opening(ada, "shop")).id == "shop"


def test_an_id_inside_an_agents_request_is_not_a_global_one() -> None:
    """Found by review: it would have replaced somebody else's session."""
    play = Play()
    play.agent("ada", named("shop"))
    bob = play.agent("bob")
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, id=SessionId("shop"))
    assert opened(play, opening(bob, spec=spec)).id != "shop"


def test_the_operators_ids_are_global() -> None:
    play = Play()
    session = opened(play, opening(OPERATOR, spec=named("shop")))
    assert (session.id, session.lifetime) == ("shop", Lifetime.NAMED)
    assert opened(play, opening(OPERATOR, spec=named("shop"))) == session
    unnamed = core.SessionSpec(lifetime=Lifetime.NAMED)
    assert opened(play, opening(OPERATOR, spec=unnamed)).id != session.id


def test_counted_ids_pass_over_ids_that_people_chose() -> None:
    play = Play()
    opened(play, opening(OPERATOR, spec=named("s2")))
    assert opened(play, opening(play.agent("ada"))).id == "s4"
    assert set(play.state.sessions) == {"s2", "s3", "s4"}


@pytest.mark.parametrize("id", ["", " ", "a b", "-a", "x" * 65, "../../etc", "é"])
def test_an_invalid_session_id_is_refused_with_its_field(id: str) -> None:
    play = Play()
    assert play.refused(opening(play.agent("ada"), id), BadRequest).details["field"] == "session"
    play.refused(opening(OPERATOR, spec=named(id)), BadRequest)


def test_a_clone_needs_a_profile_and_only_a_clone_takes_one() -> None:
    play = Play()
    ada = play.agent("ada")
    lifetime = Lifetime.ANONYMOUS
    for spec in (
        core.SessionSpec(lifetime=lifetime, policy=JarPolicy.CLONE),
        core.SessionSpec(lifetime=lifetime, profile="work"),
    ):
        assert play.refused(opening(ada, spec=spec), BadRequest).details["field"] == "jar"


def test_opening_an_existing_session_never_changes_what_it_is_made_of() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    lifetime, id = Lifetime.NAMED, SessionId("shop")
    for field, spec in {
        "browser": core.SessionSpec(lifetime=lifetime, id=id, browser=B2),
        "jar": core.SessionSpec(lifetime=lifetime, id=id, policy=JarPolicy.SHARED),
        "profile": core.SessionSpec(lifetime=lifetime, id=id, profile="work"),
    }.items():
        refusal = play.refused(opening(OPERATOR, spec=spec), BadRequest)
        assert refusal.details["field"] == field
        play.refused(opening(ada, "shop", spec), BadRequest)
    same = core.SessionSpec(lifetime=lifetime, id=id, browser=B1, policy=JarPolicy.FRESH)
    assert opened(play, opening(OPERATOR, spec=same)).id == "shop"


def connecting(name: str, spec: core.SessionSpec) -> Ask[Session]:
    return Ask(
        core.connect_agent, agent=AgentId(f"agent_{name}"), pid=7, process_started="1", name=name,
        secret_digest="d", session=spec,
    )  # fmt: skip


def test_domain_lists_are_checked_when_a_session_is_opened() -> None:
    play = Play()
    good = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, allow=("Example.com.",), deny=("*.x.org",))
    session = opened(play, opening(OPERATOR, spec=good))
    assert (session.allow, session.deny) == (("example.com",), ("*.x.org",))
    bad = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, deny=("https://x.org",))
    play.refused(opening(OPERATOR, spec=bad), BadRequest)


def test_an_agent_cannot_shed_the_domain_lists_it_was_started_with() -> None:
    play = Play()
    lists = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, allow=("example.com",))
    ada = play.agent("ada", lists)
    assert opened(play, opening(ada, "sub")).allow == ("example.com",)
    play.do(Ask(core.dispose_session, ada, play.state.agents[ada].own_session))
    play.refused(Ask(core.open_tab, agent=ada, session=None, url="https://other.org/"), UrlBlocked)
    renewed = play.state.sessions[play.state.agents[ada].own_session]
    assert renewed.allow == ("example.com",)


def test_a_session_is_not_joined_with_other_domain_lists_than_it_has() -> None:
    play = Play()
    play.agent("ada", named("shop"))
    other = core.SessionSpec(id=SessionId("shop"), lifetime=Lifetime.NAMED, deny=("x.org",))
    play.refused(connecting("bob", other), BadRequest)


def test_the_ids_of_anonymous_sessions_cannot_be_joined_or_taken() -> None:
    play = Play()
    ada = play.agent("ada")
    home = play.state.agents[ada].own_session
    for name in (home, "s99"):
        spec = core.SessionSpec(id=SessionId(name), lifetime=Lifetime.NAMED)
        play.refused(connecting("bob", spec), BadRequest)


def test_agents_of_a_session_are_told_when_it_ends() -> None:
    play = Play()
    ada = play.agent("ada")
    outcome = play.do(Ask(core.dispose_session, OPERATOR, play.state.agents[ada].own_session))
    (told,) = [tell for tell in of(outcome, Tell) if tell.kind == "session_ended"]
    assert told.to == (ada,)


def test_the_limit_of_cloned_jars_counts_those_not_yet_made_and_not_yet_removed() -> None:
    play = Play()
    ada = play.agent("ada")
    ids = [opened(play, opening(ada, f"c{n}", CLONE)).id for n in range(CLONED_JARS)]
    assert play.refused(opening(ada, "more", CLONE), SessionLimit).details["limit"] == CLONED_JARS
    assert opened(play, opening(ada, "c0", CLONE)).id == ids[0], "an existing one never counts"
    tab = play.tab(ada, "c0")
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(Ask(core.dispose_session, ada, "c0"))
    play.refused(opening(ada, "more", CLONE), SessionLimit)
    play.do(ev.JarRemoved(tab.jar))
    opened(play, opening(ada, "more", CLONE))


def test_an_agent_clones_the_profile_it_was_started_with_and_no_other() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob", CLONE)
    foreign = play.refused(opening(ada, "x", CLONE, is_open=False), ProfileNotFound)
    missing = opening(ada, "x", CLONE, exists=False)
    assert play.refused(missing, ProfileNotFound).to_wire() == foreign.to_wire()
    assert opened(play, opening(bob, "x", CLONE, is_open=False)).profile == "work"
    assert opened(play, opening(OPERATOR, None, CLONE, is_open=False)).profile == "work"


# --- lifetimes -----------------------------------------------------------------------------------


def test_an_anonymous_session_ends_with_its_agent() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    outcome = play.do(ev.AgentLeft(ada))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [tab.id]
    assert of(outcome, RemoveFiles) == [RemoveFiles(SessionId(str(tab.session)))]
    assert not play.state.sessions
    assert tab.jar is not None
    play.do(ev.JarRemoved(tab.jar))
    assert not play.state.jars


def test_a_resumable_session_loses_its_tabs_and_keeps_the_rest_for_a_day() -> None:
    play = Play()
    ada = play.agent("ada", RESUMABLE)
    tab = play.tab(ada)
    session = play.state.sessions[SessionId("thread-1")]
    outcome = play.do(ev.AgentLeft(ada))
    assert [closed.tab for closed in of(outcome, CloseTab)] == [tab.id]
    kept = play.state.sessions[session.id]
    assert (kept.id, kept.name, kept.color) == (session.id, session.name, session.color)
    assert play.state.jar_of(session.id) is not None
    assert kept.kept_until == play.now + RESUMABLE_SECONDS
    play.agent("ada again", RESUMABLE)
    assert play.state.sessions[session.id].kept_until is None
    play.do(ev.TimePassed(), after=2 * RESUMABLE_SECONDS)
    assert session.id in play.state.sessions


def test_a_resumable_session_nobody_comes_back_to_is_forgotten() -> None:
    play = Play()
    ada = play.agent("ada", RESUMABLE)
    play.tab(ada)
    play.do(ev.AgentLeft(ada))
    outcome = play.do(ev.TimePassed(), after=RESUMABLE_SECONDS)
    assert of(outcome, RemoveFiles) == [RemoveFiles(SessionId("thread-1"))]
    assert not play.state.sessions


def test_a_resumable_session_that_opened_nothing_ends_with_its_agent() -> None:
    play = Play()
    outcome = play.do(ev.AgentLeft(play.agent("ada", RESUMABLE)))
    assert of(outcome, RemoveFiles) == [RemoveFiles(SessionId("thread-1"))]
    assert not play.state.sessions


def test_an_agent_that_returns_to_a_named_session_continues_in_its_tab() -> None:
    play = Play()
    for start in range(9):
        ada = play.agent(f"ada{start}", named("shop"))
        if current_of(play, ada, SessionId("shop")) is None:
            play.tab(ada)
        play.do(ev.AgentLeft(ada))
    assert len(play.state.tabs) == 1


def test_two_agents_that_return_to_a_named_session_get_a_tab_each() -> None:
    play = Play()
    shop = SessionId("shop")
    agents = [play.agent(name, named("shop")) for name in ("ada", "bob")]
    tabs = [play.tab(agent).id for agent in agents]
    for agent in agents:
        play.do(ev.AgentLeft(agent))
    back = [play.agent(name, named("shop")) for name in ("eve", "dan", "new")]
    current = [current_of(play, agent, shop) for agent in back]
    assert sorted(filter(None, current)) == sorted(tabs)
    assert current[2] is None, "nothing is left for a third"


def test_an_agent_that_joins_a_named_session_gets_no_tab_of_another_agent() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    play.tab(ada)
    play.tab(ada)  # the first one is now in the background, and still ada's work
    bob = play.agent("bob", named("shop"))
    assert current_of(play, bob, SessionId("shop")) is None


def test_a_paused_session_says_so_also_to_an_agent_without_a_tab() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    play.do(Ask(core.pause_session, OPERATOR, "shop", paused=True))
    with pytest.raises(Paused):
        rules.tab_for(play.state, ada, None, None, action="read", acts=False)


def test_a_named_session_stays_until_it_is_disposed() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"))
    tab = play.tab(ada)
    play.do(ev.AgentLeft(ada))
    play.do(ev.TimePassed(), after=365 * 24 * 3600)
    assert tab.id in play.state.tabs
    play.do(Ask(core.dispose_session, OPERATOR, "shop"))
    assert not play.state.sessions
    assert not play.state.tabs


def test_a_shared_session_ends_with_the_last_of_its_agents() -> None:
    play = Play()
    ada = play.agent("ada", RESUMABLE)
    play.agent("bob", RESUMABLE)
    tab = play.tab(ada)
    play.do(ev.AgentLeft(ada))
    assert tab.id in play.state.tabs


def test_disposing_gives_everything_back() -> None:
    play = Play()
    ada = play.agent("ada")
    tab = play.tab(ada)
    home = play.state.agents[ada].own_session
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(Ask(core.request_space, ada, None))
    play.do(Ask(core.start_loop, agent=ada, session=None, prompt="go"))
    outcome = play.do(Ask(core.dispose_session, ada, home))
    assert of(outcome, RemoveJar) == [RemoveJar(tab.jar, B1, "jar-1")]
    assert of(outcome, RemoveFiles) == [RemoveFiles(home)]
    assert "session_ended" in [told.kind for told in of(outcome, Tell)]
    assert [jar.session for jar in play.state.jars.values()] == [None]
    state = play.state
    assert not [*state.sessions, *state.tabs, *state.reservations, *state.loops]
    assert ada in state.agents, "the agent lives on"
    play.do(ev.JarRemoved(tab.jar))
    assert not state.jars


def test_disposing_drops_a_waiting_request() -> None:
    play = Play(limit=1)
    ada, waiter = play.agent("ada"), play.agent("waiter")
    play.tab(ada)
    play.do(Ask(core.request_space, waiter, None))
    play.do(Ask(core.dispose_session, waiter, play.state.agents[waiter].own_session))
    assert not play.state.requests


def test_the_shared_jar_is_never_removed() -> None:
    play = Play()
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, policy=JarPolicy.SHARED)
    ada = play.agent("ada", spec)
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "default"))
    assert not of(play.do(ev.AgentLeft(ada)), RemoveJar)
    assert not play.state.jars


def test_a_foreign_session_cannot_be_disposed() -> None:
    play = Play()
    play.agent("ada", named("shop"))
    play.refused(Ask(core.dispose_session, play.agent("bob"), "shop"), SessionGone)
    assert "shop" in play.state.sessions


def test_the_browsers_own_policy_is_the_default() -> None:
    play = Play()
    mine = BrowserId("mine")
    play.settings.default_policy[mine] = JarPolicy.SHARED  # type: ignore[index]
    spec = core.SessionSpec(lifetime=Lifetime.ANONYMOUS, browser=mine)
    assert opened(play, opening(play.agent("ada"), spec=spec)).policy is JarPolicy.SHARED


# --- pausing -------------------------------------------------------------------------------------


def test_an_agent_may_pause_its_session_and_only_the_person_resumes_it() -> None:
    play = Play()
    ada = play.agent("ada")
    home = play.state.agents[ada].own_session
    outcome = play.do(Ask(core.pause_session, ada, None, True))
    assert [told.kind for told in of(outcome, Tell)] == ["session_paused"]
    assert not play.do(Ask(core.pause_session, ada, None, True)).effects, "twice is once"
    play.refused(Ask(core.pause_session, ada, None, False), Unauthorized)
    outcome = play.do(Ask(core.pause_session, OPERATOR, home, False))
    assert [told.kind for told in of(outcome, Tell)] == ["session_resumed"]
    play.do(Ask(core.pause_session, ada, None, False))
    play.do(Ask(core.open_tab, agent=ada, session=None, url=URL))


def test_a_token_is_recognised_by_its_digest_until_its_session_ends() -> None:
    play = Play()
    play.agent("ada", named("shop"))
    play.do(Ask(core.record_token, SessionId("shop"), "salt", "first"))
    play.do(Ask(core.record_token, SessionId("shop"), "salt", "second"))
    play.restart()
    found = play.state.session_with("second")
    assert found is not None
    assert found.id == "shop"
    assert play.state.session_with("first") is None
    play.do(Ask(core.dispose_session, OPERATOR, "shop"))
    assert play.state.session_with("second") is None
    assert not play.do(Ask(core.record_token, SessionId("shop"), "salt", "late")).changes


# --- first tabs ----------------------------------------------------------------------------------


def _side_session(play: Play, agent: AgentId) -> SessionId:
    session = play.do(opening(agent, "side")).answer
    return session.id


def _opening(play: Play, agent: AgentId, session: str | None) -> Tab:
    return play.do(Ask(core.open_tab, agent=agent, session=session, url=URL)).answer.tab


@pytest.mark.parametrize("failure", [ev.TabOpenFailed, ev.TabOpenAbandoned])
def test_a_session_whose_first_tab_fails_to_open_is_disposed(
    failure: type[ev.TabOpenFailed],
) -> None:
    play = Play()
    ada = play.agent("ada")
    session = _side_session(play, ada)
    tab = _opening(play, ada, session)
    outcome = play.do(failure(tab.id))

    assert session not in play.state.sessions
    assert of(outcome, RemoveJar) == [RemoveJar(tab.jar, B1, None)]
    assert of(outcome, RemoveFiles) == [RemoveFiles(session)]


def test_a_session_stays_while_another_first_tab_may_still_open() -> None:
    play = Play()
    ada = play.agent("ada")
    session = _side_session(play, ada)
    first, second = _opening(play, ada, session), _opening(play, ada, session)
    play.do(ev.TabOpenFailed(first.id))
    assert session in play.state.sessions
    play.do(ev.TabOpenFailed(second.id))
    assert session not in play.state.sessions


def test_a_session_stays_once_one_of_its_tabs_has_opened() -> None:
    play = Play()
    ada = play.agent("ada")
    session = _side_session(play, ada)
    play.do(Ask(core.request_close, ada, session, play.tab(ada, session).id))
    play.do(ev.TabOpenFailed(_opening(play, ada, session).id))
    assert session in play.state.sessions


def test_an_agents_own_session_stays_though_its_first_tab_fails() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(ev.TabOpenFailed(_opening(play, ada, None).id))
    assert play.state.agents[ada].own_session in play.state.sessions


def test_a_tokens_session_is_disposed_if_its_first_tab_fails() -> None:
    play = Play()
    ada = play.agent("ada", named("shop"), lease=True)
    play.do(ev.TabOpenFailed(_opening(play, ada, None).id))
    assert "shop" not in play.state.sessions


# --- jars that are being made, or removed --------------------------------------------------------


def test_disposing_during_a_clone_ends_that_one_and_keeps_its_row_until_it_is_gone() -> None:
    play = Play()
    ada, bob = play.agent("ada", CLONE), play.agent("bob", CLONE)
    cloning, other = _opening(play, ada, None), _opening(play, bob, None)
    outcome = play.do(Ask(core.dispose_session, ada, str(cloning.session)))

    assert of(outcome, RemoveJar) == [RemoveJar(cloning.jar, B1, None)]
    assert cloning.jar is not None
    assert play.state.jars[cloning.jar].session is None, "recorded until it is gone"
    assert play.state.clones == 2, "and counted"
    play.do(ev.JarRemoved(cloning.jar))
    assert list(play.state.jars) == [other.jar]
    assert play.state.clones == 1


def test_a_restart_forgets_jars_whose_removal_was_under_way_and_what_is_left_is_collected() -> None:
    play = Play()
    ada = play.agent("ada", CLONE)
    tab = play.tab(ada)
    assert tab.jar is not None
    play.do(ev.JarMade(tab.jar, "jar-1"))
    play.do(Ask(core.dispose_session, ada, str(tab.session)))
    play.restart()

    assert not play.state.jars
    assert play.state.clones == 0
    up = play.do(ev.BrowserUp(browser=B1, jars=frozenset({"jar-1"})))
    assert of(up, RemoveJar) == [RemoveJar(None, B1, "jar-1")]
