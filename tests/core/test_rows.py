from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from roost.core import effects, events, rows
from roost.core.rows import ROW_TYPES, Agent, Row, Session, Tab, TabState
from roost.vocabulary import AgentId, BrowserId, Color, JarPolicy, Lifetime, SessionId, TabId

AGENT = Agent(
    id=AgentId("a"),
    pid=1,
    process_started="1",
    name="a",
    own_session=SessionId("s"),
    secret_digest="d",
)
TAB = Tab(id=TabId("t1"), session=None, browser=BrowserId("b"), jar=None, url="about:blank", used=1)


def test_every_row_has_a_table_of_its_own_and_is_frozen() -> None:
    assert set(ROW_TYPES) == set(get_args(Row))
    assert len({row.table for row in ROW_TYPES}) == len(ROW_TYPES)
    with pytest.raises(dataclasses.FrozenInstanceError):
        TAB.url = "x"  # type: ignore[misc]


def test_events_and_effects_are_frozen() -> None:
    for kind in (*get_args(events.Event), *get_args(effects.Effect)):
        assert kind.__dataclass_params__.frozen, kind


def test_every_row_event_and_effect_of_the_module_is_in_its_union() -> None:
    for module, union, others in (
        (rows, Row, {rows.CaptureTurn}),
        (events, events.Event, set()),
        (effects, effects.Effect, set()),
    ):
        classes = {
            thing
            for thing in vars(module).values()
            if dataclasses.is_dataclass(thing) and thing.__module__ == module.__name__
        }
        assert classes - others == set(get_args(union))


def test_an_agent_ends_by_its_lease_or_by_its_grace_or_not_at_all() -> None:
    assert AGENT.deadline is None
    gone = dataclasses.replace(AGENT, connected=False, awaited_until=5.0)
    assert gone.deadline == 5.0
    leased = dataclasses.replace(AGENT, connected=False, lease_until=7.0)
    assert leased.deadline == 7.0


def test_a_session_is_looked_at_again_when_it_has_been_kept_long_enough() -> None:
    session = Session(
        id=SessionId("s"), name="s", color=Color.RED, lifetime=Lifetime.RESUMABLE,
        browser=BrowserId("b"), policy=JarPolicy.FRESH, created_at=0,
    )  # fmt: skip
    assert session.deadline is None
    assert dataclasses.replace(session, kept_until=9.0).deadline == 9.0


@pytest.mark.parametrize("state", TabState)
def test_every_tab_but_a_parked_one_holds_a_slot(state: TabState) -> None:
    assert dataclasses.replace(TAB, state=state).holds_slot is (state is not TabState.PARKED)
