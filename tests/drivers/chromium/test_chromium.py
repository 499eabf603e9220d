"""Chromium passes the driver's contract, on real pages in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from roost.drivers.chromium.tab import CdpTab
from roost.drivers.events import (
    TabOpened,
)
from roost.testing.driver_rig import Reports
from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from roost.testing.waits import SECONDS, started, until
from roost.vocabulary import JarPolicy
from tests.drivers.managed_harness import ChromiumUnderTest, ManagedHarness, managed_harness

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def harness(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ManagedHarness[ChromiumUnderTest]]:
    with managed_harness(tmp_path_factory.mktemp("home"), ChromiumUnderTest) as harness:
        yield harness


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_chromium_keeps_the_contract(
    harness: ManagedHarness[ChromiumUnderTest], check: DriverCheck
) -> None:
    await check_driver(harness, check)


async def test_a_jars_window_starts_no_processes_for_its_own_interface(
    harness: ManagedHarness[ChromiumUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        for _ in range(2):
            await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))
        answer = await driver._browser().call("Target.getTargets", {"filter": [{}]})
        kinds = [target["type"] for target in answer["targetInfos"]]
        assert kinds.count("page") == 2
        assert "browser_ui" not in kinds


async def test_a_page_that_a_killed_broker_was_opening_is_closed_by_the_next(
    harness: ManagedHarness[ChromiumUnderTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never_runs(tab: CdpTab, *, resume: bool) -> None:
        await asyncio.Event().wait()

    reports = Reports()
    async with harness.guest(Reports()) as driver:
        jar = await driver.make_jar(JarPolicy.FRESH)
        with monkeypatch.context() as patched:
            patched.setattr(CdpTab, "set_up", never_runs)
            opening = await started(driver.open_tab(jar))
            await until(lambda: driver.tab_handles)
            heir = await harness.heir(reports)
        opening.cancel()
        await asyncio.wait({opening})
        async with asyncio.timeout(SECONDS):
            while [one for one in await heir.targets() if one["type"] == "page"]:
                pass
        assert list(heir.tab_handles) == []
        assert not [event for event in reports.events if isinstance(event, TabOpened)]
