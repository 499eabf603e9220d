from __future__ import annotations

import asyncio

import pytest

from roost.broker.browser.lanes import Lanes
from roost.errors import BrowserLost, RoostError, SessionGone, TabGone
from roost.testing.waits import error_of, started
from roost.vocabulary import TabId

SOME_TAB, OTHER_TAB = TabId("t1"), TabId("t2")


class Work:
    """Work on a tab that ends or fails when the test says so."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self.order: list[str] = []
        self.gates: dict[str, asyncio.Future[RoostError | None]] = {}

    async def do(self, name: str, tab: TabId = SOME_TAB) -> str:
        gate = self.gates[name] = asyncio.get_running_loop().create_future()
        async with self._lanes.turn(tab):
            self.order.append(name)
            error = await gate
            if error is not None:
                raise error
        return name


async def test_work_on_one_tab_is_done_in_the_order_it_came() -> None:
    lanes = Lanes()
    work = Work(lanes)
    tasks = [await started(work.do(name)) for name in "abc"]
    assert work.order == ["a"]
    for name, task in zip("abc", tasks, strict=True):
        work.gates[name].set_result(None)
        assert await task == name
    assert work.order == ["a", "b", "c"]
    assert len(lanes) == 0


async def test_other_tabs_do_not_wait() -> None:
    lanes = Lanes()
    work = Work(lanes)
    tasks = [await started(work.do("a")), await started(work.do("b", OTHER_TAB))]
    assert work.order == ["a", "b"]
    for name in "ab":
        work.gates[name].set_result(None)
    await asyncio.gather(*tasks)


async def test_failed_and_cancelled_work_lets_the_next_begin() -> None:
    lanes = Lanes()
    work = Work(lanes)
    failing, cancelled, given_up, last = [await started(work.do(name)) for name in "abcd"]
    given_up.cancel()
    work.gates["a"].set_result(BrowserLost("gone"))
    await error_of(BrowserLost, failing)
    cancelled.cancel()
    await asyncio.wait({cancelled, given_up})
    work.gates["d"].set_result(None)
    assert await last == "d"
    assert work.order == ["a", "b", "d"]
    assert len(lanes) == 0


async def test_when_the_tab_ends_all_waiting_work_gets_the_reason() -> None:
    lanes = Lanes()
    work = Work(lanes)
    working, waiting = [await started(work.do(name)) for name in "ab"]
    why = SessionGone("The session ended.")
    lanes.end(SOME_TAB, why)
    work.gates["a"].set_result(TabGone("all a driver knows"))
    assert await error_of(SessionGone, working) is why
    assert await error_of(SessionGone, waiting) is why
    assert work.order == ["a"]


async def test_a_tab_that_closed_before_the_core_knew_it_is_named_in_the_error() -> None:
    lanes = Lanes()
    work = Work(lanes)
    task = await started(work.do("a"))
    work.gates["a"].set_result(TabGone("all a driver knows"))
    assert (await error_of(TabGone, task)).details == {"tab": SOME_TAB}


async def test_work_that_comes_after_a_tab_ended_does_not_wait() -> None:
    """A tab that was lost with its browser comes back under the same id, with a new lane."""
    lanes = Lanes()
    work = Work(lanes)
    old = await started(work.do("a"))
    lanes.end(SOME_TAB, BrowserLost("gone"))
    new = await started(work.do("b"))
    assert work.order == ["a", "b"]
    for name in "ab":
        work.gates[name].set_result(None)
    await asyncio.gather(old, new)
    assert len(lanes) == 0


def test_ending_a_tab_without_work_changes_nothing() -> None:
    lanes = Lanes()
    lanes.end(SOME_TAB, TabGone("gone"))
    assert len(lanes) == 0


@pytest.mark.parametrize("count", [1, 50])
async def test_no_lane_outlives_its_users(count: int) -> None:
    lanes = Lanes()
    for number in range(count):
        async with lanes.turn(TabId(f"t{number}")):
            assert len(lanes) == 1
    assert len(lanes) == 0
