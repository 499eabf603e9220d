"""A person's own Firefox, through the extension, keeps the driver's contract: headed, in a window
of its own, with the native host started by the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from handled_own import OwnHarness, harness

from roost.testing.driver_groups import GROUP_CHECKS, GroupCheck, check_groups
from roost.testing.drivers import (
    DRIVER_CHECKS,
    LONE_CHECKS,
    DriverCheck,
    check_driver,
    check_name,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared() -> Iterator[OwnHarness]:
    with harness("firefox", shared=True) as made:
        yield made


@pytest.fixture(scope="module")
def lone() -> Iterator[OwnHarness]:
    with harness("firefox", shared=False) as made:
        yield made


@pytest.mark.parametrize(
    "check", [c for c in DRIVER_CHECKS if c not in LONE_CHECKS], ids=check_name
)
async def test_own_firefox_keeps_the_contract(shared: OwnHarness, check: DriverCheck) -> None:
    """Each with a driver of its own, which takes the one browser over."""
    await check_driver(shared, check)


@pytest.mark.parametrize("check", [c for c in DRIVER_CHECKS if c in LONE_CHECKS], ids=check_name)
async def test_an_own_firefox_that_is_started_for_it_keeps_the_contract(
    lone: OwnHarness, check: DriverCheck
) -> None:
    await check_driver(lone, check)


@pytest.mark.parametrize("check", GROUP_CHECKS, ids=check_name)
async def test_own_firefox_keeps_the_contract_of_groups(
    shared: OwnHarness, check: GroupCheck
) -> None:
    await check_groups(shared, check)
