"""A part of ``check_broker_api``: the pool, the queue for slots, captures, and crashes."""

from __future__ import annotations

import asyncio

from roost.api import operations as ops
from roost.drivers.events import (
    DialogClosed,
    DialogOpened,
    DownloadBegan,
)
from roost.errors import (
    BadRequest,
    BrowserLost,
    MutexBusy,
    PoolFull,
    SessionGone,
    TabCrashed,
    TabGone,
)
from roost.testing.scene import NEVER, URL, Scene, api_check, next_notice
from roost.testing.waits import answer_of, error_of, started, until
from roost.vocabulary import (
    CAPTURE_WAIT_SECONDS,
    RESERVATION_SECONDS,
    SHARE_RETRY_SECONDS,
    SHARE_SECONDS,
    TabId,
)

DAY = 24 * 3600.0


# --- the pool ----------------------------------------------------------------------------------


@api_check()
async def two_simultaneous_first_tabs_are_both_known(scene: Scene) -> None:
    """In Claudezilla they made two windows, one of which was forgotten."""
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    scene.house.driver.may_open.clear()
    calls = [await started(scene.navigate(api)) for api in (ada, bob)]
    await until(lambda: scene.house.driver.asked == 2)  # the browser works on both at once
    scene.house.driver.may_open.set()
    views = await answer_of(asyncio.gather(*calls))
    assert await scene.tabs(ada) == [views[0].tab]
    assert await scene.tabs(bob) == [views[1].tab]
    assert len(scene.house.browser.pages) == 2


@api_check(pool=12)
async def of_four_concurrent_tabs_at_eleven_of_twelve_one_is_opened(scene: Scene) -> None:
    """In Claudezilla, four tabs created at the same time at 11 of 12 gave 15."""
    first = await scene.agent()
    for _ in range(11):
        await scene.open_tab(first)
    agents = [await scene.agent() for _ in range(4)]
    scene.house.driver.may_open.clear()
    calls = [await started(scene.open_tab(agent)) for agent in agents]
    await until(lambda: sum(call.done() for call in calls) == 3)
    scene.house.driver.may_open.set()
    answers = await answer_of(asyncio.gather(*calls, return_exceptions=True))
    assert sorted(type(answer).__name__ for answer in answers) == ["PoolFull"] * 3 + ["str"]
    assert len(scene.house.browser.pages) == 12


@api_check(pool=3)
async def a_full_pool_evicts_the_callers_own_least_recently_used_tab(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    theirs = await scene.open_tab(bob)
    old, older = await scene.open_tab(ada), await scene.open_tab(ada)
    await ada.call(ops.Evaluate(function="() => 1", tab=old))
    view = await ada.call(ops.Tabs(action="new"))
    assert view.evicted == [older]
    assert view.tab_pool == "3/3"
    assert await scene.tabs(ada) == [old, view.opened]
    assert await scene.tabs(bob) == [theirs]


@api_check(pool=2)
async def a_full_pool_refuses_a_session_without_tabs_and_names_the_owners(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    for _ in range(2):
        await scene.open_tab(ada)
    error = await error_of(PoolFull, bob.call(ops.Tabs(action="new")))
    assert error.details["tabPool"] == "2/2"
    assert list(error.details["ownerBreakdown"].values()) == [2]
    assert "ada" not in str(error.to_wire())
    assert await scene.tabs(bob) == []


@api_check(pool=0)
async def a_pool_without_a_limit_is_never_full(scene: Scene) -> None:
    ada = await scene.agent()
    for _ in range(20):
        await scene.open_tab(ada)
    assert (await ada.call(ops.Tabs(action="list"))).tab_pool == "20/∞"


@api_check(pool=1)
async def a_tab_whose_caller_gives_up_gives_its_slot_back(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    scene.house.driver.may_open.clear()
    call = await scene.under_way(ada, ops.Tabs(action="new"))
    await error_of(PoolFull, scene.open_tab(bob))
    call.cancel()
    await asyncio.wait({call})
    await until(lambda: not scene.house.state.tabs)
    scene.house.driver.may_open.set()
    assert await scene.open_tab(bob)
    await until(lambda: len(scene.house.browser.pages) == 1)  # the unwanted page is closed


# --- tab space ---------------------------------------------------------------------------------


@api_check(pool=2)
async def a_granted_slot_goes_to_the_first_waiter_and_wakes_it(scene: Scene) -> None:
    ada, bob, eve = [await scene.agent(name=name) for name in ("ada", "bob", "eve")]
    given, kept = await scene.open_tab(ada), await scene.open_tab(ada)
    await error_of(PoolFull, scene.open_tab(bob))
    asked = await bob.call(ops.TabSpaceRequest())
    assert (asked.queued, asked.position, asked.you_have_reservation) == (True, 1, False)
    assert (await eve.call(ops.TabSpaceRequest())).position == 2
    assert (await bob.call(ops.TabSpaceRequest())).position == 1  # asking again keeps the place
    waiting = await scene.under_way(bob, ops.TabSpaceStatus(wait_seconds=20))
    with bob.watch() as his:
        grant = await ada.call(ops.TabSpaceGrant())
        assert (grant.closed, grant.pending_requests) == (given, 1)
        assert (await next_notice(his, "slot_reserved")).data["expiresInMs"] == 30_000
    status = await answer_of(waiting)
    assert (status.you_have_reservation, status.queued) == (True, False)
    assert status.reservation_expires_in_ms == 30_000
    # A reservation truly holds the slot: neither a stranger nor the granter gets it.
    await error_of(PoolFull, scene.open_tab(eve))
    await error_of(PoolFull, scene.open_tab(ada))
    assert await scene.open_tab(bob)
    assert await scene.tabs(ada) == [kept]
    assert not (await bob.call(ops.TabSpaceStatus())).you_have_reservation


@api_check(pool=1)
async def a_reservation_lapses_to_the_next_in_the_queue(scene: Scene) -> None:
    ada, bob, eve = [await scene.agent(name=name) for name in ("ada", "bob", "eve")]
    await scene.open_tab(ada)
    for api in (bob, eve):
        await api.call(ops.TabSpaceRequest())
    await ada.call(ops.TabSpaceGrant())
    scene.house.clock.advance(RESERVATION_SECONDS)
    assert not (await bob.call(ops.TabSpaceStatus())).you_have_reservation
    assert (await eve.call(ops.TabSpaceStatus())).you_have_reservation
    await error_of(PoolFull, scene.open_tab(bob))
    assert await scene.open_tab(eve)


@api_check(pool=1)
async def every_way_a_slot_is_freed_serves_the_queue(scene: Scene) -> None:
    """In Claudezilla, only two of six ways to free a slot served the queue."""
    operator = await scene.operator()
    for free in ("close", "vanish", "goodbye", "dispose"):
        ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
        tab = await scene.open_tab(ada, URL)
        await bob.call(ops.TabSpaceRequest())
        waiting = await scene.under_way(bob, ops.TabSpaceStatus(wait_seconds=20))
        if free == "close":
            await ada.call(ops.Close())
        elif free == "vanish":
            scene.house.browser.close_page(scene.house.handle(tab))
        elif free == "dispose":
            session = (await ada.call(ops.SessionShow())).id
            await operator.call(ops.SessionDispose(session=session))
        else:
            await scene.leave(ada)
        assert (await answer_of(waiting)).you_have_reservation, free
        for api in (bob, ada) if free != "goodbye" else (bob,):
            await scene.leave(api)
        await until(lambda: not scene.house.state.agents)


@api_check(pool=1)
async def an_agent_that_left_is_removed_from_the_queue(scene: Scene) -> None:
    """In Claudezilla, an agent that left without tabs stayed in the queue and was served later."""
    ada, ghost, bob = [await scene.agent(name=name) for name in ("ada", "ghost", "bob")]
    await scene.open_tab(ada)
    for api in (ghost, bob):
        await api.call(ops.TabSpaceRequest())
    await scene.leave(ghost)
    await until(lambda: len(scene.house.state.requests) == 1)
    assert (await bob.call(ops.TabSpaceStatus())).position == 1
    await ada.call(ops.TabSpaceGrant())
    assert (await bob.call(ops.TabSpaceStatus())).you_have_reservation


@api_check(pool=5)
async def a_session_with_many_tabs_is_told_that_another_waits(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    for _ in range(5):
        await scene.open_tab(ada)
    with ada.watch() as hers:
        await bob.call(ops.TabSpaceRequest())
        wanted = await next_notice(hers, "tab_space_wanted")
        share = {"fairShare": 2, "shareEnforcedInMs": 10_000}
        assert wanted.data == {"waiting": 1, "yourTabs": 5} | share
    notes = (await ada.call(ops.Ping())).notes
    assert notes is not None
    assert "waits for a tab slot" in notes[0]
    assert (await ada.call(ops.Ping())).notes is None
    assert (await ada.call(ops.TabSpaceStatus())).should_grant


@api_check(pool=4)
async def after_ten_seconds_a_waiter_gets_a_slot_of_a_session_above_its_share(
    scene: Scene,
) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tabs = [await scene.open_tab(ada, URL) for _ in range(4)]
    error = await error_of(PoolFull, scene.open_tab(bob))
    assert (error.details["fairShare"], error.details["shareEnforcedAfterMs"]) == (2, 10_000)
    asked = await bob.call(ops.TabSpaceRequest())
    assert (asked.fair_share, asked.share_enforced_in_ms) == (2, 10_000)
    waiting = await scene.under_way(bob, ops.TabSpaceStatus(wait_seconds=20))
    with ada.watch() as hers:
        await ada.call(ops.Ping())
        scene.house.clock.advance(SHARE_SECONDS)
        assert (await next_notice(hers, "tab_parked")).data["tab"] == tabs[0]
    assert (await answer_of(waiting)).you_have_reservation
    mine = await scene.open_tab(bob)
    notes = (await ada.call(ops.Ping())).notes
    assert notes is not None
    assert any(tabs[0] in note and "lost" in note for note in notes)
    # The owner uses the tab again: it is reopened, and the owner's least recently used tab is
    # parked.
    view = await ada.call(ops.Evaluate(function="() => location.href", tab=tabs[0]))
    assert (view.tab, view.value) == (tabs[0], URL)
    shown = {tab.tab: tab.state for tab in (await ada.call(ops.Tabs(action="list"))).tabs}
    assert shown == {tabs[0]: None, tabs[1]: "parked", tabs[2]: None, tabs[3]: None}
    assert await scene.tabs(bob) == [mine]


@api_check(pool=4)
async def a_tab_in_use_is_not_taken_for_the_fair_share(scene: Scene) -> None:
    """A tab with a call, a dialog or a download is in use, and so is a current tab."""
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tabs = [await scene.open_tab(ada, URL) for _ in range(4)]
    house = scene.house
    house.driver.may_capture.clear()
    running = await scene.under_way(ada, ops.TakeScreenshot(tab=tabs[0]))
    report = house.browser.report
    assert report is not None
    report(DialogOpened(handle=house.handle(tabs[1]), kind="alert", message="?"))
    report(DownloadBegan(handle=house.handle(tabs[2]), download="d", url=URL, name="a.zip"))
    await bob.call(ops.TabSpaceRequest())
    house.clock.advance(SHARE_SECONDS + 5)
    status = await bob.call(ops.TabSpaceStatus())
    assert (status.queued, status.share_enforced_in_ms) == (True, 0)
    report(DialogClosed(house.handle(tabs[1])))
    house.clock.advance(SHARE_RETRY_SECONDS)
    assert (await bob.call(ops.TabSpaceStatus())).you_have_reservation
    assert house.state.tabs[TabId(tabs[1])].state == "parked"
    house.driver.may_capture.set()
    assert (await answer_of(running)).tab == tabs[0]


@api_check(pool=1)
async def waiting_for_a_slot_ends_with_the_seconds_asked_for(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    await scene.open_tab(ada)
    await bob.call(ops.TabSpaceRequest())
    status = await bob.call(ops.TabSpaceStatus(wait_seconds=0.01))
    assert (status.queued, status.position) == (True, 1)
    # A session that is not in the queue has nothing to wait for.
    assert not (await ada.call(ops.TabSpaceStatus(wait_seconds=60))).queued


@api_check()
async def granting_to_an_empty_queue_is_refused(scene: Scene) -> None:
    ada = await scene.agent()
    tab = await scene.open_tab(ada)
    await error_of(BadRequest, ada.call(ops.TabSpaceGrant()))
    assert await scene.tabs(ada) == [tab]


@api_check(pool=2)
async def popups_are_debt_that_is_paid_before_anything_is_admitted(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    theirs = await scene.open_tab(bob)
    opener = (await scene.navigate(ada)).tab
    for _ in range(2):
        await ada.call(ops.Evaluate(function='() => { window.open("/popup") }'))
    view = await ada.call(ops.Tabs(action="list"))
    assert view.tab_pool == "3/2"  # the first popup made room for the second; the opener stays
    assert [tab.tab for tab in view.tabs][0] == opener
    await error_of(PoolFull, scene.open_tab(ada))
    assert await scene.tabs(bob) == [theirs]


@api_check(pool=0)
async def a_burst_of_popups_is_cut_off_and_told(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    with ada.watch() as hers:
        for _ in range(8):
            await ada.call(ops.Evaluate(function='() => { window.open("/popup") }'))
        assert (await next_notice(hers, "popups_blocked")).data["url"].endswith("/popup")
    assert len(await scene.tabs(ada)) == 1 + 5
    await until(lambda: len(scene.house.browser.pages) == 1 + 5)


# --- captures ----------------------------------------------------------------------------------


@api_check()
async def captures_of_different_tabs_run_side_by_side(scene: Scene) -> None:
    ada = await scene.agent()
    tabs = [await scene.open_tab(ada, URL) for _ in range(12)]
    scene.house.driver.may_capture.clear()
    arrived = scene.house.driver.asked
    calls = [await started(ada.call(ops.TakeScreenshot(tab=tab))) for tab in tabs]
    await until(lambda: scene.house.driver.asked == arrived + 12)
    scene.house.driver.may_capture.set()
    pictures = await answer_of(asyncio.gather(*calls))
    assert [picture.tab for picture in pictures] == tabs
    assert {(p.mime_type, p.width, p.height) for p in pictures} == {("image/jpeg", 640, 360)}


@api_check()
async def a_capture_that_waits_three_seconds_is_refused_with_the_holder(
    scene: Scene,
) -> None:
    ada = await scene.agent(name="ada", session="team")
    bob = await scene.agent(name="bob", session="team")
    tab = (await scene.navigate(ada)).tab
    scene.house.driver.may_capture.clear()
    holding = await scene.under_way(ada, ops.TakeScreenshot(tab=tab))
    second = await scene.under_way(ada, ops.TakeScreenshot(tab=tab))
    waiting = await scene.under_way(bob, ops.TakeScreenshot(tab=tab))
    scene.house.clock.advance(CAPTURE_WAIT_SECONDS)
    error = await error_of(MutexBusy, waiting)
    assert error.retry_after_ms == 2000
    assert error.details["heldForMs"] == 3000
    assert len(error.details["holder"]) == 12
    assert error.details["tabPool"] == "1/12"
    assert not second.done()  # an agent's own captures queue without a limit
    scene.house.driver.may_capture.set()
    await answer_of(asyncio.gather(holding, second))
    await answer_of(bob.call(ops.TakeScreenshot(tab=tab)))


@api_check()
async def a_failed_capture_does_not_block_later_ones(scene: Scene) -> None:
    """In Claudezilla, one failed screenshot failed every later one of every agent."""
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tab = (await scene.navigate(ada)).tab
    await scene.navigate(bob)
    scene.house.driver.crash(scene.house.handle(tab))
    await error_of(TabCrashed, ada.call(ops.TakeScreenshot()))
    scene.house.driver.may_capture.clear()
    cancelled = await scene.under_way(bob, ops.TakeScreenshot())
    cancelled.cancel()
    await asyncio.wait({cancelled})
    scene.house.driver.may_capture.set()
    await answer_of(bob.call(ops.TakeScreenshot()))
    await scene.navigate(ada)
    await answer_of(ada.call(ops.TakeScreenshot(type="png", full_page=True)))


@api_check()
async def a_capture_does_not_wait_for_a_script(scene: Scene) -> None:
    ada = await scene.agent()
    await scene.navigate(ada)
    script = await scene.under_way(ada, NEVER)
    await answer_of(ada.call(ops.TakeScreenshot()))
    script.cancel()


# --- crashes and ends --------------------------------------------------------------------------


@api_check()
async def a_crash_affects_only_its_owner_and_navigating_revives_the_page(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tab = (await scene.navigate(ada)).tab
    await scene.navigate(bob)
    running = await scene.under_way(ada, NEVER)
    with ada.watch() as hers:
        await ada.call(ops.Ping())
        scene.house.driver.crash(scene.house.handle(tab))
        assert (await next_notice(hers, "tab_crashed")).data["tab"] == tab
    await error_of(TabCrashed, running)
    await error_of(TabCrashed, ada.call(ops.Evaluate(function="() => 1")))
    assert (await ada.call(ops.Tabs(action="list"))).tabs[0].state == "crashed"
    assert (await bob.call(ops.Evaluate(function="() => 1"))).value == 1
    assert (await scene.navigate(ada)).tab == tab
    assert (await ada.call(ops.Evaluate(function="() => 1"))).tab == tab


@api_check()
async def a_lost_browser_fails_running_calls_and_restores_every_tab(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tabs = {api: (await scene.navigate(api, url)).tab for api, url in ((ada, URL), (bob, URL))}
    running = [await scene.under_way(api, NEVER) for api in (ada, bob)]
    scene.house.driver.kill()
    for call in running:
        await error_of(BrowserLost, call)
    for api, tab in tabs.items():
        view = await answer_of(api.call(ops.Evaluate(function="() => location.href")))
        assert (view.tab, view.value) == (tab, URL)
    assert len(scene.house.browser.pages) == 2
    assert len(scene.house.state.tabs) == 2


@api_check()
async def a_call_running_in_a_closed_tab_fails_with_the_reason(scene: Scene) -> None:
    ada, operator = await scene.agent(), await scene.operator()
    tab = (await scene.navigate(ada)).tab
    running = await scene.under_way(ada, NEVER)
    behind = await scene.under_way(ada, ops.Evaluate(function="() => 1"))
    await ada.call(ops.Close())
    for call in (running, behind):
        assert (await error_of(TabGone, call)).details["tab"] == tab
    await scene.navigate(ada)
    running = await scene.under_way(ada, NEVER)
    session = (await ada.call(ops.SessionShow())).id
    await operator.call(ops.SessionDispose(session=session))
    assert (await error_of(SessionGone, running)).details["session"] == session


@api_check()
async def a_connected_agent_never_ends_for_being_idle(scene: Scene) -> None:
    """In Claudezilla, the sweep closed the tabs of idle agents, not of dead ones."""
    ada = await scene.agent()
    tab = (await scene.navigate(ada)).tab
    for _ in range(3):
        scene.house.clock.advance(DAY)
        scene.house.door.sweep()
    assert (await ada.call(ops.Evaluate(function="() => 1"))).tab == tab


@api_check()
async def leaving_releases_everything_of_the_agent_and_nothing_of_others(scene: Scene) -> None:
    ada, bob = await scene.agent(name="ada"), await scene.agent(name="bob")
    tab = (await scene.navigate(bob)).tab
    await scene.navigate(ada)
    await ada.call(ops.SessionOpen(session="more", url=URL))
    await ada.call(ops.LoopStart(prompt="x"))
    await scene.leave(ada)
    state = scene.house.state
    await until(lambda: len(state.agents) == 1)
    await until(lambda: len(state.jars) == 1)
    assert (len(state.sessions), len(state.tabs), len(state.loops)) == (1, 1, 0)
    await until(lambda: len(scene.house.browser.pages) == 1)
    assert (await bob.call(ops.Evaluate(function="() => 1"))).tab == tab
