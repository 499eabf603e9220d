"""Firefox keeps the driver's contract, on real pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from handled_firefox import FirefoxHarness, Lodging, lodging_in

from roost.testing.drivers import (
    DRIVER_CHECKS,
    LONE_CHECKS,
    DriverCheck,
    check_driver,
    check_name,
)
from roost.testing.site import served, unreachable

pytestmark = pytest.mark.browser
SHARED_CHECKS = [check for check in DRIVER_CHECKS if check not in LONE_CHECKS]


@pytest.fixture
def harness() -> Iterator[FirefoxHarness]:
    with served() as base, unreachable() as nowhere:
        made = FirefoxHarness(base, nowhere)
        yield made
        made.clean_up()


@pytest.fixture(scope="module")
def lodging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodging]:
    with lodging_in(tmp_path_factory.mktemp("home")) as lodging:
        yield lodging


@pytest.mark.parametrize("check", LONE_CHECKS, ids=check_name)
async def test_a_firefox_of_its_own_keeps_the_contract(
    harness: FirefoxHarness, check: DriverCheck
) -> None:
    await check_driver(harness, check)


@pytest.mark.parametrize(
    "check", [c for c in DRIVER_CHECKS if c not in LONE_CHECKS], ids=check_name
)
async def test_firefox_keeps_the_contract(lodging: Lodging, check: DriverCheck) -> None:
    """Each with a driver of its own, which takes the one browser over."""
    await check_driver(lodging, check)
