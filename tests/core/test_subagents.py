"""Sub-agents: their own sessions, what they may use of their parents, and how they rest and end."""

from __future__ import annotations

from dataclasses import replace

from roost import core
from roost.core import effects as fx
from roost.core import events as ev
from roost.core.rows import Agent, Session, Tab
from roost.core.state import restored
from roost.errors import BadRequest, SessionGone, TabGone
from roost.vocabulary import (
    OPERATOR,
    SUBAGENT_SECONDS,
    SUBAGENTS_RESTING,
    AgentId,
    JarPolicy,
    SessionId,
    TabHandle,
)
from tests.core.play import B1, Ask, Play, named, of


def child_of(play: Play, parent: AgentId, known: str = "a1", kind: str = "") -> Agent:
    new = AgentId(f"agent_{known.encode().hex():0<32}_{len(play.state.agents)}")
    ask = Ask(core.connect_subagent, parent=parent, agent=new, conversation=known, kind=kind)
    row = play.do(ask).answer
    play.do(Ask(core.subagent_called, row.id))
    return play.state.agents[row.id]


def opened(play: Play, agent: AgentId, session: str | None = None) -> Tab:
    answer = play.do(Ask(core.open_tab, agent, session, "https://example.com/")).answer
    play.do(ev.JarMade(answer.tab.jar, f"jar {answer.tab.jar}"))  # type: ignore[arg-type]
    play.do(ev.TabReady(answer.tab.id, TabHandle(f"page {answer.tab.id}")))
    return play.state.tabs[answer.tab.id]


def own(play: Play, agent: AgentId) -> Session:
    return play.state.sessions[play.state.agents[agent].own_session]


def test_a_sub_agent_has_a_session_below_its_parents_with_a_name_and_colour_of_its_own() -> None:
    play = Play()
    parent = play.agent("main")
    one, two = child_of(play, parent, "a1", "Explore"), child_of(play, parent, "a2", "Explore")
    above = own(play, parent)
    assert (own(play, one.id).parent, own(play, two.id).parent) == (above.id, above.id)
    assert own(play, one.id).name == f"{above.name} › Explore 1"
    assert own(play, two.id).name == f"{above.name} › Explore 2"
    assert len({own(play, agent).color for agent in (parent, one.id, two.id)}) == 3
    assert child_of(play, parent, "a1").id == one.id, "the same id is the same sub-agent"


def test_an_id_of_a_sub_agent_is_local_to_its_parent() -> None:
    play = Play()
    mine, other = play.agent("mine"), play.agent("other")
    first = child_of(play, mine, "a1")
    second = child_of(play, other, "a1")
    assert first.id != second.id
    assert own(play, second.id).parent == own(play, other).id


def test_the_jar_of_a_sub_agent_copies_its_parents_and_is_not_counted_as_a_clone() -> None:
    play = Play()
    parent = play.agent("main")
    early = child_of(play, parent, "early")
    jar = play.state.jars[opened(play, early.id).jar or ""]  # type: ignore[index]
    assert jar.copy_of is None, "the parent has nothing yet"
    source = opened(play, parent).jar
    late = child_of(play, parent, "late")
    jar = play.state.jars[opened(play, late.id).jar or ""]  # type: ignore[index]
    assert (jar.copy_of, jar.policy) == (source, JarPolicy.FRESH)
    assert play.state.clones == 0


def test_a_sub_agent_of_a_session_in_the_shared_jar_shares_it_too() -> None:
    play = Play()
    spec = replace(named("shop"), policy=JarPolicy.SHARED)
    parent = play.agent("main", spec)
    opened(play, parent)
    below = opened(play, child_of(play, parent).id)
    jar = play.state.jars[below.jar or ""]  # type: ignore[index]
    assert (jar.policy, jar.copy_of) == (JarPolicy.SHARED, None)


def test_a_sub_agent_keeps_to_the_domains_of_its_parents_session() -> None:
    play = Play()
    spec = replace(named("shop"), allow=("example.com",))
    session = own(play, child_of(play, play.agent("main", spec)).id)
    assert session.allow == ("example.com",)


def test_a_parents_tab_and_session_work_when_named_and_a_siblings_do_not() -> None:
    play = Play()
    parent = play.agent("main")
    tab = opened(play, parent)
    play.do(
        Ask(core.open_session, agent=parent, alias="a", spec=core.SessionSpec(lifetime="anonymous"))  # type: ignore[arg-type]
    )
    one, two = child_of(play, parent, "a1"), child_of(play, parent, "a2")
    siblings = opened(play, two.id)
    assert play.do(Ask(core.acting_agent, one.id, None, None)).answer == one.id
    assert play.do(Ask(core.acting_agent, one.id, None, tab.id)).answer == parent
    assert play.do(Ask(core.acting_agent, one.id, "a", None)).answer == parent
    assert play.do(Ask(core.acting_agent, one.id, None, siblings.id)).answer == one.id
    use = Ask(core.use_tab, one.id, None, siblings.id, action="click", acts=True)
    assert "started you" in str(play.refused(use, TabGone).hint)
    assert play.do(Ask(core.acting_agent, parent, None, siblings.id)).answer == parent
    play.refused(Ask(core.use_tab, parent, None, siblings.id, action="x", acts=True), TabGone)


def test_a_sub_agents_own_names_take_precedence_over_its_parents() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    spec = core.SessionSpec(lifetime="anonymous")  # type: ignore[arg-type]
    for agent in (parent, one.id):
        play.do(Ask(core.open_session, agent=agent, alias="a", spec=spec))
    assert play.do(Ask(core.acting_agent, one.id, "a", None)).answer == one.id


def test_a_sub_agent_does_not_change_its_parents_current_tab() -> None:
    play = Play()
    parent = play.agent("main")
    tab = opened(play, parent)
    one = child_of(play, parent)
    play.refused(Ask(core.acting_agent, one.id, None, tab.id, selects=True), BadRequest)


def test_a_sub_agent_without_a_tab_is_told_of_its_parents() -> None:
    play = Play()
    parent = play.agent("main")
    tab = opened(play, parent)
    one = child_of(play, parent)
    use = Ask(core.use_tab, one.id, None, None, action="click", acts=True)
    refusal = play.refused(use, TabGone)
    assert refusal.details["parentTabs"] == [tab.id]
    assert "sub-agent" in str(refusal.hint)
    play.refused(Ask(core.use_tab, parent, None, "t99", action="x", acts=True), TabGone)


def test_a_sub_agent_that_ended_leaves_no_tab_and_gets_its_name_colour_and_jar_back() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    tab = opened(play, one.id)
    before = own(play, one.id)
    ended = play.do(ev.SubagentEnded(one.id))
    assert [effect.tab for effect in of(ended, fx.CloseTab)] == [tab.id]
    assert not of(ended, fx.RemoveJar)
    assert play.state.tabs_in(before.id) == []
    again = child_of(play, parent)
    assert again.id == one.id
    session = own(play, one.id)
    assert (session.name, session.color, session.kept_until) == (before.name, before.color, None)
    assert opened(play, one.id).jar == tab.jar


def test_a_sub_agent_that_opened_nothing_leaves_nothing() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    session = own(play, one.id).id
    play.do(ev.SubagentEnded(one.id))
    assert one.id not in play.state.agents
    assert session not in play.state.sessions


def test_an_idle_sub_agents_tabs_close_and_a_busy_ones_stay() -> None:
    play = Play()
    parent = play.agent("main")
    idle, busy = child_of(play, parent, "idle"), child_of(play, parent, "busy")
    opened(play, idle.id)
    kept = opened(play, busy.id)
    play.do(Ask(core.subagent_called, busy.id), after=SUBAGENT_SECONDS - 1)
    play.do(ev.TimePassed(), after=2)
    assert list(play.state.tabs) == [kept.id]
    assert parent in play.state.agents


def test_the_number_of_resting_sub_agents_is_limited() -> None:
    play = Play(limit=0)
    parent = play.agent("main")
    made = [child_of(play, parent, f"a{number}") for number in range(SUBAGENTS_RESTING + 2)]
    for row in made:
        opened(play, row.id)
        play.do(ev.SubagentEnded(row.id), after=1)
    left = [row.id for row in made if row.id in play.state.agents]
    assert left == [row.id for row in made[2:]], "the oldest ended"


def test_sub_agents_end_with_their_parent_whether_they_rest_or_not() -> None:
    play = Play()
    parent = play.agent("main")
    for known in ("rests", "works"):
        opened(play, child_of(play, parent, known).id)
    play.do(ev.SubagentEnded(play.state.subagent(parent, "rests") or AgentId("")))
    play.do(ev.AgentLeft(parent))
    assert not play.state.agents
    assert not play.state.sessions
    assert not play.state.tabs


def test_a_session_of_a_sub_agent_ends_with_its_parents_session_and_is_made_anew() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    opened(play, one.id)
    play.do(Ask(core.dispose_session, parent, own(play, parent).id))
    assert not play.state.tabs
    play.refused(Ask(core.session_for, one.id, None), SessionGone)
    opened(play, parent)
    opened(play, one.id)
    assert own(play, one.id).parent == own(play, parent).id


def test_a_person_who_has_the_session_keeps_its_tabs_when_the_sub_agent_ends() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    tab = opened(play, one.id)
    play.do(Ask(core.pause_session, OPERATOR, own(play, one.id).id, True))
    play.do(ev.SubagentEnded(one.id))
    assert list(play.state.tabs) == [tab.id]


def test_a_sub_agent_outlives_a_restart_of_the_broker_with_its_parent() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    opened(play, one.id)
    play.restart(after=2 * SUBAGENT_SECONDS)
    assert one.id in play.state.agents
    play.do(Ask(core.resume_agent, parent))
    play.do(ev.TimePassed(), after=60)
    assert play.state.tabs


def test_a_row_whose_parent_could_not_be_read_has_no_parent() -> None:
    play = Play()
    parent = play.agent("main")
    one = child_of(play, parent)
    rows = [row for row in play.journal.values() if getattr(row, "agent", None) != parent]
    broken = [row for row in rows if row not in (play.state.agents[parent], own(play, parent))]
    state = restored(play.settings, broken)
    assert state.agents[one.id].parent is None
    assert state.sessions[one.own_session].parent is None


def test_a_thread_with_a_connection_of_its_own_becomes_a_child_before_its_first_page() -> None:
    play = Play()
    parent, thread, late = play.agent("main"), play.agent("thread"), play.agent("late")
    opened(play, late)
    for agent, known in ((thread, "t1"), (late, "t2")):
        play.do(Ask(core.adopt_agent, agent, parent, conversation=known))
    assert own(play, thread).parent == own(play, parent).id
    assert own(play, late).parent is None, "its jar is in use already"
    play.do(ev.AgentLeft(parent))
    assert thread in play.state.agents, "it has a connection of its own"
    assert own(play, thread).parent is None
    assert own(play, thread).id != SessionId("")


def test_no_agent_is_adopted_by_its_own_child() -> None:
    play = Play()
    one, two = play.agent("one"), play.agent("two")
    play.do(Ask(core.adopt_agent, two, one, conversation="t2"))
    play.do(Ask(core.adopt_agent, one, two, conversation="t1"))
    play.do(Ask(core.adopt_agent, one, one, conversation="t1"))
    assert play.state.agents[one].parent is None


def test_a_further_conversation_gets_no_child_session() -> None:
    play = Play()
    first = play.agent("editor")
    tab = opened(play, first)
    new = AgentId("agent_second_0")
    row = play.do(Ask(core.connect_conversation, beside=first, agent=new, conversation="c2")).answer
    assert own(play, row.id).parent is None
    assert play.do(Ask(core.acting_agent, row.id, None, tab.id)).answer == row.id
    jar = play.state.jars[opened(play, row.id).jar or ""]  # type: ignore[index]
    assert jar.copy_of is None
    assert jar.browser == B1


def test_tabs_of_sub_agents_are_parked_before_those_of_main_conversations() -> None:
    play = Play(limit=6)
    main, waiter = play.agent("main"), play.agent("waiter")
    one = child_of(play, main)
    mine = [opened(play, main) for _ in range(3)]
    theirs = [opened(play, one.id) for _ in range(3)]
    assert len(mine) == len(theirs)
    play.do(Ask(core.request_space, waiter, None))
    parked = play.do(ev.TimePassed(), after=11)
    assert [effect.tab for effect in of(parked, fx.CloseTab)] == [theirs[0].id]
