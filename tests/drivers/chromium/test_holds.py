"""Tabs that wait (roost.drivers.chromium.holds): until the last who holds them lets go."""

from __future__ import annotations

from roost.drivers.chromium.holds import Holds
from roost.vocabulary import TabHandle

T1, T2 = TabHandle("T1"), TabHandle("T2")


def test_a_tab_runs_when_the_last_holder_lets_go_and_only_once() -> None:
    ran: list[str] = []
    holds = Holds(ran.append)
    holds.hold(T1, ["a", "b"])
    holds.release(T1, "a")
    holds.release(T1, "a")
    assert ran == []
    holds.release(T1, "b")
    holds.release(T1, "b")
    assert ran == [T1]


def test_nothing_waits_for_a_holder_that_is_gone() -> None:
    ran: list[str] = []
    holds = Holds(ran.append)
    holds.hold(T1, ["a"])
    holds.hold(T2, ["a", "b"])
    holds.leave("a")
    assert ran == [T1]


def test_a_tab_that_is_gone_is_not_let_run() -> None:
    ran: list[str] = []
    holds = Holds(ran.append)
    holds.hold(T1, ["a"])
    holds.forget(T1)
    holds.release(T1, "a")
    assert ran == []
