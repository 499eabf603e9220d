"""New tabs stay paused (roost.drivers.chromium.holds) until the last client that holds them
releases them."""

from __future__ import annotations

from roost.drivers.chromium.holds import Holds
from roost.vocabulary import TabHandle

T1, T2 = TabHandle("T1"), TabHandle("T2")


def test_a_tab_runs_once_when_the_last_hold_is_released() -> None:
    ran: list[str] = []
    holds = Holds(ran.append)
    holds.hold(T1, ["a", "b"])
    holds.release(T1, "a")
    holds.release(T1, "a")
    assert ran == []
    holds.release(T1, "b")
    holds.release(T1, "b")
    assert ran == [T1]


def test_a_tab_does_not_wait_for_a_client_that_left() -> None:
    ran: list[str] = []
    holds = Holds(ran.append)
    holds.hold(T1, ["a"])
    holds.hold(T2, ["a", "b"])
    holds.leave("a")
    assert ran == [T1]


def test_a_closed_tab_is_not_resumed() -> None:
    ran: list[str] = []
    holds = Holds(ran.append)
    holds.hold(T1, ["a"])
    holds.forget(T1)
    holds.release(T1, "a")
    assert ran == []
