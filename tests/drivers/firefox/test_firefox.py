"""Firefox passes the driver's contract, on real pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from tests.drivers.managed_harness import FirefoxUnderTest, ManagedHarness, managed_harness

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedHarness[FirefoxUnderTest]]:
    with managed_harness(tmp_path_factory.mktemp("home"), FirefoxUnderTest) as harness:
        yield harness


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_firefox_keeps_the_contract(
    harness: ManagedHarness[FirefoxUnderTest], check: DriverCheck
) -> None:
    await check_driver(harness, check)
