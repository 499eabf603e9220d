"""The fake as a person's own browser passes the contract with groups."""

from __future__ import annotations

import pytest

from roost.drivers.base import SHARED_JAR, Driver
from roost.drivers.fake import GroupedBrowser, GroupedDriver
from roost.testing.driver_groups import GROUP_CHECKS, GroupCheck, check_groups
from roost.testing.driver_rig import GROUP
from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from roost.testing.site import fake_web
from roost.vocabulary import TabHandle
from tests.drivers.fake_harness import FakeHarness


class GroupedHarness(FakeHarness):
    def make(self) -> Driver:
        return GroupedDriver(GroupedBrowser(fake_web))

    async def another(self, driver: Driver) -> Driver:
        return GroupedDriver(_grouped(driver).browser)

    async def person_opens(self, driver: Driver, group: str | None, url: str) -> None:
        browser = _grouped(driver).browser
        if group is None or group not in browser.groups:
            browser.open_page(SHARED_JAR, url=url)
        else:
            browser.open_in(group, url=url)

    async def open_page(self, driver: Driver, jar: str) -> None:
        """Open a page where the driver may get its events."""
        _grouped(driver).browser.open_in(GROUP.key, jar)

    async def person_moves(self, driver: Driver, tab: TabHandle, group: str | None) -> None:
        _grouped(driver).browser.move(tab, group)

    async def person_closes_group(self, driver: Driver, group: str) -> None:
        _grouped(driver).browser.close_group(group)


def _grouped(driver: Driver) -> GroupedDriver:
    assert isinstance(driver, GroupedDriver)
    return driver


@pytest.mark.parametrize("check", GROUP_CHECKS, ids=check_name)
async def test_the_grouped_fake_keeps_the_contract_of_groups(check: GroupCheck) -> None:
    await check_groups(GroupedHarness(), check)


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_the_grouped_fake_keeps_the_contract_of_all_drivers(check: DriverCheck) -> None:
    await check_driver(GroupedHarness(), check)
