from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from roost.broker.browser.held_input import HeldInputs
from roost.core.rows import Tab
from roost.core.state import State
from roost.testing.clock import FakeClock
from roost.testing.waits import answer_of, started
from roost.vocabulary import OPERATOR, AgentId, BrowserId, SessionId, TabHandle, TabId

ADA, SESSION = AgentId("ada"), SessionId("s1")
TAB = Tab(
    id=TabId("t1"),
    session=SESSION,
    browser=BrowserId("fake"),
    jar=None,
    url="http://x/",
    used=1,
    handle=TabHandle("page"),
)


class Rows:
    """The few rows that ``HeldInputs`` looks at."""

    def __init__(self) -> None:
        self.tabs = {TAB.id: TAB}
        self.sessions: dict[str, Any] = {SESSION: SimpleNamespace(paused=False)}
        self.members = {(ADA, SESSION)}

    def member(self, agent: AgentId, session: SessionId) -> object | None:
        return (agent, session) if (agent, session) in self.members else None


class Desk:
    def __init__(self) -> None:
        self.rows, self.clock = Rows(), FakeClock()
        self.released: list[TabId] = []
        state = cast(State, self.rows)
        self.holds = HeldInputs(lambda: state, self.clock, self.released.append)


def paused(rows: Rows) -> None:
    rows.sessions[SESSION].paused = True


def moved(rows: Rows) -> None:
    rows.tabs[TAB.id] = replace(TAB, session=SessionId("s2"))
    rows.sessions[SessionId("s2")] = SimpleNamespace(paused=False)


def closed(rows: Rows) -> None:
    del rows.tabs[TAB.id]


def opened_anew(rows: Rows) -> None:
    rows.tabs[TAB.id] = replace(TAB, handle=TabHandle("another page"))


def left(rows: Rows) -> None:
    rows.members.clear()


ENDS = [paused, moved, closed, opened_anew, left]


@pytest.mark.parametrize("end", ENDS)
async def test_a_button_is_released_once_when_its_session_loses_the_tab(end: Any) -> None:
    desk = Desk()
    desk.holds.pressed(TAB, ADA, "left")
    desk.holds.pressed(TAB, ADA, "right")
    desk.holds.rows_changed(())
    assert desk.released == []
    end(desk.rows)
    desk.holds.rows_changed(())
    desk.holds.rows_changed(())
    assert desk.released == [TAB.id]


@pytest.mark.parametrize("end", ENDS)
async def test_a_key_is_held_until_its_session_loses_the_tab(end: Any) -> None:
    desk = Desk()
    holding = await started(desk.holds.key_held(TAB, ADA, 20))
    end(desk.rows)
    desk.holds.rows_changed(())
    assert await answer_of(holding) is True
    assert desk.released == [], "the call itself releases its key"


async def test_a_key_is_held_for_its_time() -> None:
    desk = Desk()
    holding = await started(desk.holds.key_held(TAB, ADA, 20))
    desk.clock.advance(19)
    desk.holds.rows_changed(())
    assert not holding.done()
    desk.clock.advance(1)
    assert await answer_of(holding) is False


async def test_a_key_is_not_held_in_a_tab_that_was_lost_before() -> None:
    desk = Desk()
    paused(desk.rows)
    assert await answer_of(desk.holds.key_held(TAB, ADA, 20)) is True


async def test_a_button_that_its_agent_released_is_forgotten() -> None:
    desk = Desk()
    desk.holds.pressed(TAB, ADA, "left")
    desk.holds.released(TAB.id, "left")
    paused(desk.rows)
    desk.holds.rows_changed(())
    assert desk.released == []


async def test_a_button_that_was_pressed_after_the_pause_is_released_by_the_review() -> None:
    desk = Desk()
    paused(desk.rows)
    desk.holds.pressed(TAB, ADA, "left")
    desk.holds.review()
    assert desk.released == [TAB.id]


async def test_the_operator_holds_a_button_without_being_a_member() -> None:
    desk = Desk()
    desk.holds.pressed(TAB, OPERATOR, "left")
    desk.holds.rows_changed(())
    assert desk.released == []
