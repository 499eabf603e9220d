from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roost import core
from roost.core.addresses import ADDRESS_CHARS, short_address
from roost.core.rows import (
    Agent,
    Counter,
    Jar,
    Loop,
    Member,
    Reservation,
    Row,
    Session,
    SlotRequest,
    Tab,
)
from roost.core.settings import CoreSettings
from roost.core.slots import Pool
from roost.core.state import Change, State, restored
from roost.vocabulary import (
    LOOP_SECONDS,
    POOL_LIMIT,
    AgentId,
    BrowserId,
    Color,
    JarId,
    JarPolicy,
    Lifetime,
    SessionId,
    TabHandle,
    TabId,
)
from tests.core.play import B1, URL, Ask, Play, named

RULES = CoreSettings(default_browser=B1)
S1, S2 = SessionId("s1"), SessionId("s2")


def tab(number: int, session: SessionId | None = S1, used: int = 1) -> Tab:
    return Tab(
        id=TabId(f"t{number}"), session=session, browser=B1, jar=None, url=URL, used=used,
        handle=TabHandle(f"h{number}"),
    )  # fmt: skip


def loop(started_at: float) -> Loop:
    return Loop(session=S1, prompt="p", max_iterations=1, phrase=None, started_at=started_at)


def request(session: SessionId, turn: int) -> SlotRequest:
    return SlotRequest(session=session, browser=B1, agent=AgentId("a"), asked_at=0, turn=turn)


def session(name: SessionId) -> Session:
    return Session(
        id=name, name=name, color=Color.BLUE, lifetime=Lifetime.NAMED, browser=B1,
        policy=JarPolicy.FRESH, created_at=0,
    )  # fmt: skip


def agent() -> Agent:
    return Agent(
        id=AgentId("a"), pid=7, process_started="1", name="a", own_session=S1, secret_digest="d"
    )


def jar() -> Jar:
    return Jar(id=JarId("j1"), session=S1, browser=B1, policy=JarPolicy.FRESH)


def test_every_change_is_recorded_once_and_in_order() -> None:
    state = State(RULES)
    one = tab(1)
    state.put(one)
    state.put(one)
    state.drop(one)
    state.drop(one)
    assert state.changes == [Change("tab", "t1", one, None), Change("tab", "t1", None, one)]
    state.begin(1.0)
    assert state.changes == []


def test_numbers_are_never_used_twice_not_even_after_a_restart() -> None:
    state = State(RULES)
    assert [state.next_number("tab"), state.next_number("tab"), state.next_number("jar")] == [
        1,
        2,
        1,
    ]
    again = restored(RULES, state.rows())
    assert again.next_number("tab") == 3


def test_a_pool_counts_what_its_rows_hold() -> None:
    state = State(RULES)
    state.put(tab(1))
    state.put(tab(2, None))
    state.put(Reservation(session=S2, browser=B1, agent=AgentId("a"), until=9))
    pool = state.pool(B1)
    assert (pool.held, pool.reserved, pool.free) == (2, 1, POOL_LIMIT - 3)
    assert pool.holders == {S1: 1, None: 1}
    for row in list(state.rows()):
        state.drop(row)
    assert (pool.held, pool.reserved, pool.holders) == (0, 0, {})


def test_a_pool_is_shown_as_used_slots_and_limit() -> None:
    assert Pool(12, held=3, reserved=1).shown == "4/12"
    assert Pool(0, held=3).shown == "3/∞"
    assert Pool(0, held=3).has_room
    assert not Pool(2, held=1, reserved=1).has_room


def test_tabs_stand_in_order_of_use_also_after_a_restart() -> None:
    state = State(RULES)
    for number in (1, 2, 3):
        state.put(tab(number, used=state.next_use()))
    state.put(tab(1, used=state.next_use()))
    order = [row.id for row in state.tabs_in(S1)]
    assert order == ["t2", "t3", "t1"]
    again = restored(RULES, [session(S1), *state.rows()])
    assert [row.id for row in again.tabs_in(S1)] == order
    assert again.next_use() == 5


def test_a_tab_that_changes_session_is_counted_where_it_is() -> None:
    state = State(RULES)
    state.put(tab(1))
    state.put(tab(1, S2))
    assert (state.tab_count(S1), state.tab_count(S2)) == (0, 1)
    assert state.pool(B1).holders == {S2: 1}


def test_the_queue_stands_in_order_of_turn_whatever_order_the_journal_gives() -> None:
    rows: list[Row] = [request(S2, 2), request(S1, 1), session(S1), session(S2), agent()]
    again = restored(RULES, rows)
    assert list(again.pool(B1).queue) == [S1, S2]
    assert again.next_turn() == 3


def test_rows_that_point_at_nothing_are_left_out_of_a_restart() -> None:
    member = Member(agent=AgentId("a"), session=S1)
    alone: list[Row] = [tab(1), request(S1, 1), loop(0), member, jar()]
    assert list(restored(RULES, alone).rows()) == []


def due(state: State, now: float) -> list[Row]:
    state.begin(now)
    return list(state.due())


def test_a_row_is_due_once_its_deadline_has_come_and_only_then() -> None:
    state = State(RULES)
    state.put(loop(0))
    assert state.next_deadline() == LOOP_SECONDS
    assert due(state, LOOP_SECONDS - 1) == []
    assert due(state, LOOP_SECONDS) == [loop(0)]
    assert state.next_deadline() is None


def test_alarms_of_moved_deadlines_and_dropped_rows_are_skipped() -> None:
    state = State(RULES)
    state.put(loop(0))
    state.put(replace(loop(0), iteration=1))
    state.put(loop(100))
    assert due(state, LOOP_SECONDS) == []
    state.drop(loop(100))
    assert due(state, 10 * LOOP_SECONDS) == []


def test_an_alarm_of_a_removed_deadline_is_skipped() -> None:
    state = State(RULES)
    agent = Agent(
        id=AgentId("a"), pid=1, process_started="1", name="a", own_session=S1, secret_digest="d",
        connected=False, awaited_until=0,
    )  # fmt: skip
    state.put(agent)
    state.put(replace(agent, connected=True, awaited_until=None))
    assert due(state, 1000) == []


def test_lookups_of_unknown_ids_return_none() -> None:
    state = State(RULES)
    assert state.jar_of(S1) is None
    assert state.tab_with(B1, None) is None
    assert state.tab_with(B1, TabHandle("?")) is None
    assert state.jar_with(B1, None) is None
    assert state.jar_with(B1, "?") is None
    assert state.tabs_in(S1) == []
    assert list(state.agents_in(S1)) == []
    assert state.aliased(AgentId("a"), "x") is None
    assert not state.is_attended(S1)


def test_settings_have_defaults_and_exceptions_per_browser() -> None:
    mine = BrowserId("mine")
    rules = CoreSettings(
        default_browser=B1, pool_limits={mine: 3}, default_policy={mine: JarPolicy.SHARED}
    )
    assert (rules.limit(B1), rules.limit(mine)) == (POOL_LIMIT, 3)
    assert (rules.policy(B1), rules.policy(mine)) == (JarPolicy.FRESH, JarPolicy.SHARED)


@given(st.randoms(use_true_random=False))
def test_replay_does_not_depend_on_the_order_of_the_journal(die: object) -> None:
    play = Play(limit=2)
    ada, bob = play.agent("ada", named("shop")), play.agent("bob")
    one = play.tab(ada)
    play.tab(ada)
    play.do(Ask(core.select_tab, ada, None, one.id))
    play.do(Ask(core.request_space, bob, None))
    play.do(Ask(core.request_space, play.agent("carl"), None))
    rows = list(play.journal.values())
    die.shuffle(rows)  # type: ignore[attr-defined]
    again = restored(play.settings, rows)
    assert again.tabs_in(SessionId("shop")) == play.state.tabs_in(SessionId("shop"))
    assert list(again.pool(B1).queue) == list(play.state.pool(B1).queue)
    assert again.changes == [], "reading the journal is not a change"
    assert {row.key for row in again.rows() if isinstance(row, Counter)} == {
        "tab", "jar", "session",
    }  # fmt: skip


def test_a_long_address_in_the_journal_of_an_earlier_release_is_cut() -> None:
    play = Play()
    tab = play.tab(play.agent("ada"))
    rows = [row for row in play.state.rows() if row != tab]
    long = replace(tab, url=f"{URL}#{'a' * ADDRESS_CHARS}")
    assert restored(play.settings, [*rows, long]).tabs[tab.id].url == short_address(long.url)
