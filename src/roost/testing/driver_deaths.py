"""A part of ``check_driver``: cancelled calls, crashes, and restarts of the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from roost.drivers import events
from roost.drivers.base import BLANK, MouseMove, PageDriver, Shot
from roost.drivers.events import (
    BrowserEnded,
    TabClosed,
    TabOpened,
)
from roost.errors import BrowserLost, TabCrashed, TabGone
from roost.testing.driver_rig import (
    COOKIES,
    HREF,
    NEVER,
    DriverRig,
    Reports,
    driver_check,
    jar_check,
)
from roost.testing.pictures import check_picture
from roost.testing.waits import error_of, started
from roost.vocabulary import JarPolicy

# --- calls that are cut short ------------------------------------------------------------------


@driver_check
async def a_call_running_when_its_tab_closes_fails_at_once(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    call = await rig.running(tab)
    await rig.driver.close_tab(tab)
    await error_of(TabGone, call)


@jar_check
async def a_call_running_when_its_jar_is_removed_fails_at_once(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    call = await rig.running(await rig.tab("/", jar=jar))
    await rig.driver.remove_jar(jar)
    await error_of(TabGone, call)


@driver_check
async def a_navigation_under_way_ends_with_its_tab(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    call = await started(rig.navigate(tab, rig.url("/stalls")))
    await rig.works(await rig.tab())
    await rig.driver.close_tab(tab)
    await error_of(TabGone, call)


@driver_check
async def cancelling_a_call_leaves_the_tab_usable(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    for call in (
        rig.evaluate(tab, NEVER),
        rig.navigate(tab, rig.url("/stalls")),
    ):
        task = await started(call)
        await rig.works(await rig.tab())
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        arrival = await rig.navigate(tab, rig.url("/other"))
        assert arrival.title == "Other"
        await rig.works(tab)


@driver_check
async def the_end_of_a_cancelled_navigation_is_not_taken_for_the_next(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    for is_under_way in (True, False):
        task = await started(rig.navigate(tab, rig.url("/stalls")))
        if is_under_way:
            await rig.works(await rig.tab())
        task.cancel()
        await asyncio.wait({task})
        assert (await rig.navigate(tab, rig.url("/dribbles"))).title == "At last"


@driver_check
async def cancelling_any_call_at_once_leaves_the_browser_usable(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    tab, doomed = await rig.tab("/", jar=jar), await rig.tab("/", jar=jar)
    calls: list[Awaitable[object]] = [
        rig.fresh_jar(),
        rig.open(jar),
        rig.navigate(tab, rig.url("/other")),
        rig.capture(tab, Shot()),
        rig.evaluate(tab, HREF),
        rig.driver.close_tab(doomed),
    ]
    if rig.policy is JarPolicy.FRESH:
        calls.append(rig.driver.read_storage(jar, ["https://a.example"]))
    for call in calls:
        task = await started(_whatever(call))
        task.cancel()
        await asyncio.wait({task})
    await rig.navigate(tab, rig.url("/"))
    await rig.works(tab)
    check_picture(await rig.capture(tab, Shot()), "jpeg")
    await rig.works(await rig.tab(jar=jar))
    stray = [event for event in rig.reports.events if isinstance(event, TabOpened)]
    assert stray == [], "the driver kept a tab whose caller had been cancelled"


async def _whatever(call: Awaitable[object]) -> None:
    await call


def _every_call(page: PageDriver) -> list[Awaitable[object]]:
    return [
        page.navigate(BLANK),
        page.reload(),
        page.travel(-1),
        page.evaluate(HREF),
        page.all_frames(),
        page.call_page(None, "snapshot", {}),
        page.act([], None, {}),
        page.act([MouseMove(1, 1)], None, {}),
        page.capture(Shot()),
        page.set_files(None, "e1", []),
        page.choose_files([]),
        page.answer_dialog(accept=True, text=None),
        page.resize(800, 600),
        page.pdf(),
        page.body("1"),
    ]


@driver_check
async def page_work_in_a_closed_tab_raises_tab_gone(rig: DriverRig) -> None:
    page = rig.driver.page(tab := await rig.tab("/"))
    await rig.driver.close_tab(tab)
    for call in _every_call(page):
        await error_of(TabGone, call)
    await error_of(TabGone, rig.evaluate(tab, HREF))


# --- crashes -----------------------------------------------------------------------------------


@driver_check
async def a_crashed_page_is_reported_and_refuses_until_it_navigates(rig: DriverRig) -> None:
    tab, neighbour = await rig.tab("/"), await rig.tab("/")
    await rig.harness.crash(rig.driver, tab)
    await rig.reports.first(events.TabCrashed, lambda event: event.handle == tab)
    await error_of(TabCrashed, rig.evaluate(tab, HREF))
    await error_of(TabCrashed, rig.capture(tab, Shot()))
    await rig.works(neighbour)
    arrival = await rig.navigate(tab, rig.url("/other"))
    assert (arrival.title, arrival.status) == ("Other", 200)
    await rig.works(tab)


@driver_check
async def a_call_running_when_its_page_crashes_fails_at_once(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    call = await rig.running(tab)
    await rig.harness.crash(rig.driver, tab)
    await error_of(TabCrashed, call)


@driver_check
async def a_crashed_tab_can_be_closed(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    await rig.harness.crash(rig.driver, tab)
    await rig.reports.first(events.TabCrashed)
    await rig.driver.close_tab(tab)
    await rig.reports.first(TabClosed, lambda event: event.handle == tab)
    await error_of(TabGone, rig.evaluate(tab, HREF))


@driver_check
async def a_killed_browser_can_be_started_again(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    tab = await rig.tab("/", jar=jar)
    await rig.harness.kill(rig.driver)
    await rig.reports.first(BrowserEnded)
    again = await rig.driver.start(Reports())
    assert not again.resumed
    assert tab not in again.tabs
    if not rig.driver.capabilities.groups:  # a person's own browser keeps its jar
        assert jar not in again.jars
    await rig.works(await rig.tab("/"))


@driver_check
async def a_killed_browser_fails_every_call_and_is_reported_once(rig: DriverRig) -> None:
    """Kill the browser once for all checks, because starting a browser takes seconds."""
    jar = await rig.fresh_jar()
    tabs = [await rig.tab("/", jar=jar) for _ in range(3)]
    calls = [await rig.running(tab) for tab in tabs]
    calls.append(await started(rig.navigate(await rig.tab("/"), rig.url("/stalls"))))
    await rig.works(await rig.tab())  # asked later, so the navigation has begun
    page = rig.driver.page(tabs[0])
    await rig.harness.kill(rig.driver)
    for call in calls:
        await error_of(BrowserLost, call)
    await rig.reports.first(BrowserEnded)
    later: list[Awaitable[object]] = [
        rig.fresh_jar(),
        rig.open(jar),
        rig.navigate(tabs[0], rig.url("/")),
        rig.evaluate(tabs[0], HREF),
        rig.capture(tabs[0], Shot()),
        rig.driver.close_tab(tabs[0]),
        rig.driver.remove_jar(jar),
        *_every_call(page),
    ]
    for call_after in later:
        await error_of(BrowserLost, call_after)
    assert isinstance(rig.reports.events[-1], BrowserEnded)
    assert len([e for e in rig.reports.events if isinstance(e, BrowserEnded)]) == 1
    await rig.driver.stop()  # nothing is left to stop: no error


# --- the driver of the next broker -------------------------------------------------------------


@driver_check
async def the_next_driver_takes_over_tabs_and_jars_as_they_are(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    tab, other = await rig.tab("/other", jar=jar), await rig.tab()
    await rig.evaluate(tab, '() => document.cookie = "who=first"')
    heir, reports = await rig.harness.another(rig.driver), Reports()
    resumed = await heir.start(reports)
    try:
        assert resumed.resumed
        assert {tab, other} <= resumed.tabs
        if rig.policy is not JarPolicy.SHARED:
            assert jar in resumed.jars
        assert await heir.page(tab).evaluate(HREF) == rig.url("/other")
        assert await heir.page(tab).evaluate(COOKIES) == "who=first"
        assert (await heir.page(tab).navigate(rig.url("/"))).title == "Home"
        await heir.close_tab(other)
        await reports.first(TabClosed, lambda event: event.handle == other)
        assert await heir.open_tab(jar, rig.group) not in {tab, other}
    finally:
        await rig.harness.let_go(heir)


@driver_check
async def a_tab_that_opens_during_a_start_is_known_exactly_once(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    before = await rig.tab(jar=jar)
    heir, reports = await rig.harness.another(rig.driver), Reports()
    resumed, _ = await asyncio.gather(heir.start(reports), rig.harness.open_page(heir, jar))
    try:
        if resumed.tabs == {before}:
            appeared = await reports.first(TabOpened)
            assert appeared.handle not in resumed.tabs
        else:
            assert len(resumed.tabs) == 2
            assert not any(isinstance(event, TabOpened) for event in reports.events)
    finally:
        await rig.harness.let_go(heir)
