from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.broker.browser.browser import GOOD_MINUTE, Browser
from roost.drivers.base import Report, RunningBrowser
from roost.drivers.events import (
    BrowserEnded,
    TabNavigated,
    TabOpened,
)
from roost.drivers.fake.browser import FakeBrowser, FakeResponse, any_page
from roost.errors import (
    BrowserLost,
    Internal,
    NotFound,
    SessionGone,
    TabCrashed,
    Timeout,
    Unsupported,
)
from roost.testing.house import FakeHouse, HeldDriver, fake_house
from roost.testing.waits import answer_of, error_of, started, until
from roost.vocabulary import BrowserId, JarId, JarPolicy, SessionId, TabHandle
from roost.wire.hello import ClientKind

URL = "https://site.test/"
LOST = BrowserLost("It does not start.")
RESTART = "restart fake"


def browser_of(house: FakeHouse) -> Browser:
    return house.broker.browsers[BrowserId("fake")]


async def test_the_browser_starts_with_the_first_page_and_not_before(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Status())
        assert house.driver.starts == 0
        await agent.api.call(ops.Navigate(url=URL))
        assert house.driver.starts == 1


async def test_all_callers_wait_for_the_same_start(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        house.driver.may_start.clear()
        agents = [house.admit() for _ in range(5)]
        calls = [await started(agent.api.call(ops.Navigate(url=URL))) for agent in agents]
        await until(lambda: house.driver.starts == 1)
        house.driver.may_start.set()
        await answer_of(asyncio.gather(*calls))
        assert house.driver.starts == 1


async def test_one_callers_deadline_does_not_stop_the_start_others_wait_for(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        house.driver.may_start.clear()
        hasty, patient = house.admit(), house.admit()
        waiting = await started(patient.api.call(ops.Navigate(url=URL)))
        await error_of(Timeout, hasty.api.call(ops.Navigate(url=URL), timeout=0.01))
        house.driver.may_start.set()
        assert (await answer_of(waiting)).url == URL
        assert house.driver.starts == 1
        await until(lambda: len(house.browser.pages) == 1)


async def test_a_failed_start_raises_and_can_be_repeated(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        house.driver.failing = Unsupported("There is no browser here.")
        await error_of(Unsupported, agent.api.call(ops.Navigate(url=URL)))
        assert not house.state.tabs
        house.driver.failing = None
        await agent.api.call(ops.Tabs(action="new", url=URL))


async def test_a_browser_is_restarted_at_once_then_with_growing_delays(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        house.driver.failing = LOST
        house.driver.kill()
        waits = []
        for _ in range(8):
            waits.append(await answer_of(house.clock.waited(RESTART)))
            house.clock.advance(waits[-1])
        assert waits == [1, 2, 4, 8, 16, 30, 30, 30]
        house.driver.failing = None
        await until(lambda: house.browser.pages)
        view = await agent.api.call(ops.Evaluate(function="() => location.href"))
        assert (view.tab, view.value) == (tab, URL)


async def test_restart_delays_are_reset_only_after_a_minute_of_running(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        for up, pause in ((0.0, None), (0.0, 1.0), (GOOD_MINUTE - 1, 2.0), (GOOD_MINUTE, None)):
            house.clock.advance(up)
            house.driver.kill()
            if pause is not None:
                assert await answer_of(house.clock.waited(RESTART)) == pause
                assert not house.browser.pages
                house.clock.advance(pause)
            await until(lambda: house.browser.pages)
            assert not any(task.get_name() == RESTART for task in asyncio.all_tasks())


async def test_a_browser_without_tabs_is_not_restarted(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        await agent.api.call(ops.Close())
        house.driver.kill()
        assert (await agent.api.call(ops.Status())).browsers == []
        house.clock.advance(GOOD_MINUTE)
        await agent.api.call(ops.Ping())
        assert house.driver.starts == 1
        await agent.api.call(ops.Navigate(url=URL))
        assert house.driver.starts == 2


async def test_a_page_call_restarts_the_browser_before_the_next_delay_ends(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        house.driver.failing = LOST
        house.driver.kill()
        assert await answer_of(house.clock.waited(RESTART)) == 1
        house.driver.failing = None
        await answer_of(agent.api.call(ops.Evaluate(function="() => 1")))
        starts = house.driver.starts
        house.clock.advance(60)
        await agent.api.call(ops.Ping())
        assert house.driver.starts == starts


class Talkative(HeldDriver):
    """A driver that reports a popup and its document before its own start returns."""

    async def start(self, report: Report) -> RunningBrowser:
        started = await super().start(report)
        page = self.browser.new_page("default")
        report(TabOpened(handle=page.handle, opener=None, jar=None, url=URL))
        report(TabNavigated(page.handle, URL, "Half \ud800"))
        return started


async def test_events_reported_during_the_start_are_handled_after_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        browser_of(house).driver = Talkative()
        await browser_of(house).ready()
        tab = next(iter(house.state.tabs.values()))
        assert (tab.session, tab.url, tab.title) == (None, URL, "Half ?")


class Stillborn(HeldDriver):
    async def start(self, report: Report) -> RunningBrowser:
        started = await super().start(report)
        report(BrowserEnded("died at birth"))
        return started


async def test_a_browser_that_dies_while_it_starts_is_down(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        browser_of(house).driver = Stillborn()
        await browser_of(house).ready()
        assert browser_of(house).started is None


async def test_a_jar_is_made_once_for_many_concurrent_callers(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        calls = [agent.api.call(ops.Tabs(action="new")) for _ in range(5)]
        await answer_of(asyncio.gather(*calls))
        assert len(house.browser.jars) == 1 + 1  # the browser's own, and this session's


async def test_the_jar_of_a_session_that_ended_meanwhile_is_removed(tmp_path: Path) -> None:
    class SlowJars(HeldDriver):
        gate = asyncio.Event()

        async def make_jar(self, policy: JarPolicy, **options: Any) -> str:
            jar = await super().make_jar(policy, **options)
            await self.gate.wait()
            return jar

    async with fake_house(tmp_path) as house:
        driver = SlowJars()
        browser_of(house).driver = driver
        agent = house.admit()
        call = await started(agent.api.call(ops.Tabs(action="new")))
        await until(lambda: len(driver.browser.jars) == 2)
        house.door.leave(agent, goodbye=True)
        driver.gate.set()
        await error_of(SessionGone, call)
        await until(lambda: len(driver.browser.jars) == 1)
        assert not house.state.jars


async def test_an_ended_session_gets_no_jar(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        await error_of(SessionGone, browser_of(house).jars.handle(JarId("j99")))


async def test_a_driver_without_links_refuses_a_link(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        with pytest.raises(Unsupported):
            browser_of(house).linked(object())  # type: ignore[arg-type]
        with pytest.raises(Unsupported):
            house.broker.browser(BrowserId("lynx"))


async def test_stopping_waits_for_a_start_under_way(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        house.driver.may_start.clear()
        starting = await started(browser_of(house).ready())
        stopping = await started(browser_of(house).stop())
        assert not stopping.done()
        house.driver.may_start.set()
        await answer_of(stopping)
        await asyncio.wait({starting})
        assert not house.browser.is_running


# --- bringing tabs back ------------------------------------------------------------------------


async def test_a_tab_whose_page_cannot_be_restored_says_so_and_stays(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab

        def gone(url: str) -> None:
            raise NotFound(f"{url} is gone.", reason="refused")

        house.browser.web = gone  # type: ignore[assignment]
        house.driver.kill()
        await error_of(NotFound, agent.api.call(ops.Evaluate(function="() => 1")))
        view = await agent.api.call(ops.Evaluate(function="() => location.href"))
        assert (view.tab, view.value) == (tab, "about:blank")


async def test_a_tab_that_could_not_be_opened_again_comes_back_at_its_next_use(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        house.driver.failing = TabCrashed("The page's process died.")
        house.driver.kill()
        await error_of(TabCrashed, agent.api.call(ops.Evaluate(function="() => 1")))
        house.driver.failing = None
        view = await agent.api.call(ops.Evaluate(function="() => location.href"))
        assert (view.tab, view.value) == (tab, URL)


async def test_a_page_that_crashes_while_restored_is_restored_at_the_second_try(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        web, crashes = house.browser.web, [TabCrashed("The page's process died.")]

        def crashing(url: str) -> FakeResponse:
            if crashes:
                raise crashes.pop()
            return web(url)

        house.browser.web = crashing
        house.driver.kill()
        view = await agent.api.call(ops.Evaluate(function="() => location.href"))
        assert (view.tab, view.value) == (tab, URL)


async def test_no_tab_is_lost_if_the_browser_dies_again_during_the_restore(tmp_path: Path) -> None:
    """The next start may be over before the opening that the last one began has failed."""
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tabs = {(await agent.api.call(ops.Tabs(action="new", url=URL))).opened for _ in range(3)}
        house.driver.kill()
        house.driver.may_open.clear()
        await until(lambda: house.driver.asked == 6)  # all three are being brought back
        house.clock.advance(GOOD_MINUTE)
        house.driver.kill()
        house.driver.may_open.set()
        await until(lambda: len(house.browser.pages) == 3)
        view = await agent.api.call(ops.Tabs(action="list"))
        assert {(tab.tab, tab.state) for tab in view.tabs} == {(tab, None) for tab in tabs}


async def test_tabs_come_back_in_a_browser_that_an_earlier_broker_had_only_begun_to_start(
    tmp_path: Path,
) -> None:
    """Browser and broker died together, then a broker that had just started the next browser."""
    async with fake_house(tmp_path, browser=FakeBrowser(any_page)) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
    another = FakeBrowser(any_page)
    another.is_running = True
    async with fake_house(tmp_path, browser=another) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        await browser_of(house).ready()  # its keeper came by itself
        view = await again.api.call(ops.Evaluate(function="() => location.href"))
        assert (view.tab, view.value) == (tab, URL)


async def test_a_driver_with_a_bug_leaves_no_tab_half_open(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        agent = house.admit()
        house.driver.failing = ValueError("a bug")
        await browser_of_started(house)
        error = await error_of(Internal, agent.api.call(ops.Navigate(url=URL)))
        assert "a bug" not in str(error.to_wire())
        await until(lambda: not house.state.tabs)
        house.driver.failing = None
        await agent.api.call(ops.Tabs(action="new", url=URL))


async def browser_of_started(house: FakeHouse) -> None:
    failing, house.driver.failing = house.driver.failing, None
    await browser_of(house).ready()
    house.driver.failing = failing


async def test_a_named_sessions_parked_tab_comes_back_when_it_is_asked_for(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        operator = house.admit(house.hello(ClientKind.CLI))
        await operator.api.call(ops.SessionOpen(session="kept", url=URL))
        tab = house.state.tabs_in(SessionId("kept"))[0].id
        agent = house.admit()
        assert (await agent.api.call(ops.TabSpaceRequest())).you_have_reservation
        await agent.api.call(ops.Tabs(action="new"))
        await until(lambda: len(house.browser.pages) == 1)
        shown = await operator.api.call(ops.SessionShow(session="kept"))
        assert [(row.tab, row.state) for row in shown.tabs] == [(tab, "parked")]
        await agent.api.call(ops.Close())
        view = await operator.api.call(ops.Evaluate(function="() => location.href", tab=tab))
        assert view.value == URL


async def test_callers_never_see_a_browsers_own_handles(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        handle = house.handle(tab)
        assert isinstance(handle, str)
        assert handle == TabHandle(next(iter(house.browser.pages)))
        text = str((await agent.api.call(ops.Status())).to_wire())
        assert handle not in text
