"""A part of ``check_driver``: cancelled calls, crashes, and restarts of the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from roost.drivers.base import BrowserEnded, Shot, TabAppeared, TabDied, TabDisappeared
from roost.errors import BrowserLost, TabCrashed, TabGone
from roost.testing.driver_rig import (
    COOKIES,
    HREF,
    NEVER,
    Bench,
    Reports,
    driver_check,
    jar_check,
)
from roost.testing.pictures import check_picture
from roost.testing.waits import error_of, started
from roost.vocabulary import JarPolicy

# --- calls that are cut short ------------------------------------------------------------------


@driver_check
async def a_call_running_when_its_tab_closes_fails_at_once(bench: Bench) -> None:
    tab = await bench.tab("/")
    call = await bench.running(tab)
    await bench.driver.close_tab(tab)
    await error_of(TabGone, call)


@jar_check
async def a_call_running_when_its_jar_is_removed_fails_at_once(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    call = await bench.running(await bench.tab("/", jar=jar))
    await bench.driver.remove_jar(jar)
    await error_of(TabGone, call)


@driver_check
async def a_navigation_under_way_ends_with_its_tab(bench: Bench) -> None:
    tab = await bench.tab("/")
    call = await started(bench.driver.navigate(tab, bench.url("/stalls")))
    await bench.works(await bench.tab())
    await bench.driver.close_tab(tab)
    await error_of(TabGone, call)


@driver_check
async def a_navigation_under_way_ends_with_its_browser(bench: Bench) -> None:
    tab = await bench.tab("/")
    call = await started(bench.driver.navigate(tab, bench.url("/stalls")))
    await bench.works(await bench.tab())
    await bench.harness.kill(bench.driver)
    await error_of(BrowserLost, call)


@driver_check
async def cancelling_a_call_leaves_the_tab_usable(bench: Bench) -> None:
    tab = await bench.tab("/")
    for call in (
        bench.driver.evaluate(tab, NEVER),
        bench.driver.navigate(tab, bench.url("/stalls")),
    ):
        task = await started(call)
        await bench.works(await bench.tab())
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        arrival = await bench.driver.navigate(tab, bench.url("/other"))
        assert arrival.title == "Other"
        await bench.works(tab)


@driver_check
async def what_ends_of_a_cancelled_navigation_is_not_taken_for_the_next(bench: Bench) -> None:
    tab = await bench.tab("/")
    for is_under_way in (True, False):
        task = await started(bench.driver.navigate(tab, bench.url("/stalls")))
        if is_under_way:
            await bench.works(await bench.tab())
        task.cancel()
        await asyncio.wait({task})
        assert (await bench.driver.navigate(tab, bench.url("/dribbles"))).title == "At last"


@driver_check
async def cancelling_any_call_at_once_leaves_the_browser_usable(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    tab, doomed = await bench.tab("/", jar=jar), await bench.tab("/", jar=jar)
    calls: list[Awaitable[object]] = [
        bench.fresh_jar(),
        bench.open(jar),
        bench.driver.navigate(tab, bench.url("/other")),
        bench.driver.capture(tab, Shot()),
        bench.driver.evaluate(tab, HREF),
        bench.driver.close_tab(doomed),
    ]
    if bench.policy is JarPolicy.FRESH:
        calls.append(bench.driver.read_storage(jar, ["https://a.example"]))
    for call in calls:
        task = await started(_whatever(call))
        task.cancel()
        await asyncio.wait({task})
    await bench.driver.navigate(tab, bench.url("/"))
    await bench.works(tab)
    check_picture(await bench.driver.capture(tab, Shot()), "jpeg")
    await bench.works(await bench.tab(jar=jar))
    stray = [event for event in bench.reports.events if isinstance(event, TabAppeared)]
    assert stray == [], "a tab that nobody waits for any more is nobody's"


async def _whatever(call: Awaitable[object]) -> None:
    await call


# --- crashes -----------------------------------------------------------------------------------


@driver_check
async def a_crashed_page_is_reported_and_refuses_until_it_navigates(bench: Bench) -> None:
    tab, neighbour = await bench.tab("/"), await bench.tab("/")
    await bench.harness.crash(bench.driver, tab)
    await bench.reports.first(TabDied, lambda event: event.handle == tab)
    await error_of(TabCrashed, bench.driver.evaluate(tab, HREF))
    await error_of(TabCrashed, bench.driver.capture(tab, Shot()))
    await bench.works(neighbour)
    arrival = await bench.driver.navigate(tab, bench.url("/other"))
    assert (arrival.title, arrival.status) == ("Other", 200)
    await bench.works(tab)


@driver_check
async def a_call_running_when_its_page_crashes_fails_at_once(bench: Bench) -> None:
    tab = await bench.tab("/")
    call = await bench.running(tab)
    await bench.harness.crash(bench.driver, tab)
    await error_of(TabCrashed, call)


@driver_check
async def a_crashed_tab_can_be_closed(bench: Bench) -> None:
    tab = await bench.tab("/")
    await bench.harness.crash(bench.driver, tab)
    await bench.reports.first(TabDied)
    await bench.driver.close_tab(tab)
    await bench.reports.first(TabDisappeared, lambda event: event.handle == tab)
    await error_of(TabGone, bench.driver.evaluate(tab, HREF))


@driver_check
async def a_killed_browser_can_be_started_again(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    tab = await bench.tab("/", jar=jar)
    await bench.harness.kill(bench.driver)
    await bench.reports.first(BrowserEnded)
    again = await bench.driver.start(Reports())
    assert not again.resumed
    assert tab not in again.tabs
    if not bench.driver.capabilities.groups:  # a person's own browser keeps its jar
        assert jar not in again.jars
    await bench.works(await bench.tab("/"))


@driver_check
async def a_killed_browser_fails_every_call_and_is_reported_once(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    tabs = [await bench.tab("/", jar=jar) for _ in range(3)]
    calls = [await bench.running(tab) for tab in tabs]
    await bench.harness.kill(bench.driver)
    for call in calls:
        await error_of(BrowserLost, call)
    await bench.reports.first(BrowserEnded)
    later: list[Awaitable[object]] = [
        bench.fresh_jar(),
        bench.open(jar),
        bench.driver.navigate(tabs[0], bench.url("/")),
        bench.driver.evaluate(tabs[0], HREF),
        bench.driver.capture(tabs[0], Shot()),
        bench.driver.close_tab(tabs[0]),
        bench.driver.remove_jar(jar),
    ]
    for call_after in later:
        await error_of(BrowserLost, call_after)
    assert isinstance(bench.reports.events[-1], BrowserEnded)
    assert len([e for e in bench.reports.events if isinstance(e, BrowserEnded)]) == 1


@driver_check
async def stopping_is_safe_after_a_kill(bench: Bench) -> None:
    await bench.harness.kill(bench.driver)
    await bench.reports.first(BrowserEnded)
    await bench.driver.stop()


# --- the driver of the next broker -------------------------------------------------------------


@driver_check
async def the_next_driver_takes_over_tabs_and_jars_as_they_are(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    tab, other = await bench.tab("/other", jar=jar), await bench.tab()
    await bench.driver.evaluate(tab, '() => document.cookie = "who=first"')
    heir, reports = await bench.harness.another(bench.driver), Reports()
    resumed = await heir.start(reports)
    try:
        assert resumed.resumed
        assert {tab, other} <= resumed.tabs
        if bench.policy is not JarPolicy.SHARED:
            assert jar in resumed.jars
        assert await heir.evaluate(tab, HREF) == bench.url("/other")
        assert await heir.evaluate(tab, COOKIES) == "who=first"
        assert (await heir.navigate(tab, bench.url("/"))).title == "Home"
        await heir.close_tab(other)
        await reports.first(TabDisappeared, lambda event: event.handle == other)
        assert await heir.open_tab(jar, bench.group) not in {tab, other}
    finally:
        await bench.harness.let_go(heir)


@driver_check
async def a_tab_that_opens_during_a_start_is_known_exactly_once(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    before = await bench.tab(jar=jar)
    heir, reports = await bench.harness.another(bench.driver), Reports()
    resumed, _ = await asyncio.gather(heir.start(reports), bench.harness.open_page(heir, jar))
    try:
        if resumed.tabs == {before}:
            appeared = await reports.first(TabAppeared)
            assert appeared.handle not in resumed.tabs
        else:
            assert len(resumed.tabs) == 2
            assert not any(isinstance(event, TabAppeared) for event in reports.events)
    finally:
        await bench.harness.let_go(heir)
