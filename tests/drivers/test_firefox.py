"""Firefox keeps the driver's contract, on real pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from handled_firefox import FirefoxHarness

from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from roost.testing.site import served, unreachable

pytestmark = pytest.mark.browser


@pytest.fixture
def harness() -> Iterator[FirefoxHarness]:
    with served() as base, unreachable() as nowhere:
        made = FirefoxHarness(base, nowhere)
        yield made
        made.clean_up()


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_firefox_keeps_the_contract(harness: FirefoxHarness, check: DriverCheck) -> None:
    await check_driver(harness, check)
