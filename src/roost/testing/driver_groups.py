"""``check_groups``: the contract of drivers whose browser has tab groups and a person.

Run it beside ``check_driver`` for drivers with ``Capabilities.groups``::

    @pytest.mark.parametrize("check", GROUP_CHECKS, ids=check_name)
    async def test_groups(check: GroupCheck) -> None:
        await check_groups(MyHarness(), check)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from roost.drivers.base import Driver, Group
from roost.drivers.events import (
    GroupClosed,
    TabClosed,
    TabMoved,
    TabOpened,
)
from roost.drivers.panel import Panel, PanelDriver
from roost.errors import TabGone
from roost.testing.driver_rig import CHECK_SECONDS, HREF, DriverHarness, DriverRig, Reports
from roost.testing.waits import error_of
from roost.vocabulary import Color, JarPolicy, TabHandle

ONE = Group("one@1", "One", Color.RED)
TWO = Group("two@2", "Two", Color.GREEN)


class GroupHarness(DriverHarness, Protocol):
    """Lets the checks act as the person at the browser. A driver's tests implement it."""

    async def person_opens(self, driver: Driver, group: str | None, url: str) -> None:
        """Open a tab at that address in that group. None: a tab of the person's own."""

    async def person_moves(self, driver: Driver, tab: TabHandle, group: str | None) -> None:
        """Move the tab into that group. None: out of its group."""

    async def person_closes_group(self, driver: Driver, group: str) -> None: ...


@dataclass(frozen=True, slots=True)
class GroupRig:
    """A rig in a browser with a person."""

    rig: DriverRig
    person: GroupHarness
    jar: str

    @property
    def driver(self) -> Driver:
        return self.rig.driver

    @property
    def reports(self) -> Reports:
        return self.rig.reports

    async def tab(self, group: Group, path: str | None = None) -> TabHandle:
        """Open a tab in that group, at that page if one is named."""
        tab = await self.driver.open_tab(self.jar, group)
        if path is not None:
            await self.rig.navigate(tab, self.rig.url(path))
        return tab

    async def moves(self, tab: TabHandle, group: str | None) -> None:
        """Move the tab as the person, and wait until the driver has noticed."""
        await self.person.person_moves(self.driver, tab, group)
        await self.reports.first(TabMoved, lambda event: event == TabMoved(tab, group))


GroupCheck = Callable[[GroupRig], Awaitable[None]]
GROUP_CHECKS: list[GroupCheck] = []


def group_check(check: GroupCheck) -> GroupCheck:
    """Add a check to ``GROUP_CHECKS``."""
    GROUP_CHECKS.append(check)
    return check


async def check_groups(harness: GroupHarness, check: GroupCheck | None = None) -> None:
    """Run one check or all on the driver, each with a driver of its own."""
    for each in GROUP_CHECKS if check is None else [check]:
        driver, reports = harness.make(), Reports()
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                browser = await driver.start(reports)
                jar = await driver.make_jar(JarPolicy.SHARED)
                await each(GroupRig(DriverRig(harness, driver, reports, browser), harness, jar))
        finally:
            await harness.let_go(driver)


@group_check
async def tabs_in_groups_are_known_at_the_start_with_their_addresses(at: GroupRig) -> None:
    one, two = await at.tab(ONE, "/"), await at.tab(TWO, "/other")
    heir = await at.rig.harness.another(at.driver)
    started = await heir.start(Reports())
    try:
        assert started.tabs >= {one, two}
        assert started.groups[one] == ONE.key
        assert started.groups[two] == TWO.key
        assert started.places[two] == at.rig.url("/other")
        assert started.jar_of[two] == at.jar
    finally:
        await at.rig.harness.let_go(heir)


@group_check
async def a_popup_stands_in_its_openers_group(at: GroupRig) -> None:
    tab = await at.tab(ONE, "/")
    await at.tab(TWO, "/")
    await at.rig.evaluate(tab, f'() => {{ window.open("{at.rig.url("/other")}") }}')
    popup = await at.reports.first(TabOpened)
    assert (popup.opener, popup.group) == (tab, ONE.key)
    await at.rig.works(popup.handle)


@group_check
async def a_tab_the_person_opens_in_a_group_is_reported_and_can_be_used(at: GroupRig) -> None:
    await at.tab(ONE, "/")
    await at.person.person_opens(at.driver, ONE.key, at.rig.url("/other"))
    tab = await at.reports.first(TabOpened)
    assert (tab.opener, tab.group) == (None, ONE.key)
    await at.rig.works(tab.handle)


@group_check
async def the_persons_own_tabs_are_neither_reported_nor_listed(at: GroupRig) -> None:
    mine = await at.tab(ONE, "/")
    await at.person.person_opens(at.driver, None, at.rig.url("/other"))
    await at.rig.navigate(mine, at.rig.url("/other"))  # comes after earlier events
    assert not any(isinstance(event, TabOpened) for event in at.reports.events)
    heir = await at.rig.harness.another(at.driver)
    started = await heir.start(Reports())
    try:
        assert started.tabs == {mine}
    finally:
        await at.rig.harness.let_go(heir)


@group_check
async def a_tab_moved_to_another_group_is_reported_and_stays_usable(at: GroupRig) -> None:
    tab = await at.tab(ONE, "/other")
    await at.tab(TWO, "/")
    await at.moves(tab, TWO.key)
    assert await at.rig.evaluate(tab, HREF) == at.rig.url("/other")


@group_check
async def a_tab_moved_out_of_all_groups_is_gone_for_the_driver_at_once(at: GroupRig) -> None:
    tab = await at.tab(ONE, "/")
    await at.tab(ONE, "/")
    call = await at.rig.running(tab)
    await at.moves(tab, None)
    await error_of(TabGone, call)
    await error_of(TabGone, at.rig.evaluate(tab, HREF))
    await error_of(TabGone, at.rig.navigate(tab, at.rig.url("/other")))


@group_check
async def a_tab_brought_back_into_a_group_appears_anew(at: GroupRig) -> None:
    tab = await at.tab(ONE, "/other")
    await at.tab(TWO, "/")
    await at.moves(tab, None)
    await at.person.person_moves(at.driver, tab, TWO.key)
    again = await at.reports.first(TabOpened)
    assert (again.opener, again.group, again.url) == (None, TWO.key, at.rig.url("/other"))
    await at.rig.works(again.handle)


@group_check
async def closing_a_group_is_reported_before_the_end_of_its_tabs(at: GroupRig) -> None:
    tabs = [await at.tab(ONE, "/"), await at.tab(ONE, "/other")]
    other = await at.tab(TWO, "/")
    await at.person.person_closes_group(at.driver, ONE.key)
    for tab in tabs:
        await at.reports.first(TabClosed, lambda event, tab=tab: event.handle == tab)  # type: ignore[misc]
    kinds = [type(event) for event in at.reports.events]
    assert at.reports.events[kinds.index(GroupClosed)] == GroupClosed(ONE.key)
    assert kinds.index(GroupClosed) < kinds.index(TabClosed)
    assert kinds.count(GroupClosed) == 1
    await at.rig.works(other)


@group_check
async def a_group_that_loses_its_last_tab_otherwise_is_not_closed(at: GroupRig) -> None:
    closed, moved = await at.tab(ONE, "/"), await at.tab(TWO, "/")
    await at.driver.close_tab(closed)
    await at.reports.first(TabClosed, lambda event: event.handle == closed)
    await at.moves(moved, None)
    assert not any(isinstance(event, GroupClosed) for event in at.reports.events)
    await at.rig.works(await at.tab(ONE, "/"))


@group_check
async def a_forgotten_group_belongs_to_the_person(at: GroupRig) -> None:
    tab, other = await at.tab(ONE, "/"), await at.tab(TWO, "/")
    assert isinstance(at.driver, PanelDriver)
    at.driver.show(Panel())
    at.driver.forget_group(ONE.key)
    await at.rig.works(other)
    await at.person.person_opens(at.driver, ONE.key, at.rig.url("/other"))
    await at.rig.navigate(other, at.rig.url("/other"))
    assert not any(isinstance(event, TabOpened) for event in at.reports.events)
    await error_of(TabGone, at.rig.evaluate(tab, HREF))
