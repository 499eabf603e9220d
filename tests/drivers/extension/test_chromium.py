"""A person's own Chromium with the extension passes the driver's contract: headed, with the
native host started by the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roost.testing.driver_groups import GROUP_CHECKS, GroupCheck, check_groups
from roost.testing.drivers import (
    DRIVER_CHECKS,
    JAR_CHECKS,
    DriverCheck,
    check_driver,
    check_name,
)
from tests.drivers.own_harness import OwnHarness, own_harness

pytestmark = pytest.mark.browser
CHECKS = [check for check in DRIVER_CHECKS if check not in JAR_CHECKS]


@pytest.fixture(scope="module")
def own() -> Iterator[OwnHarness]:
    with own_harness("chromium") as made:
        yield made


@pytest.mark.parametrize("check", CHECKS, ids=check_name)
async def test_own_chromium_keeps_the_contract(own: OwnHarness, check: DriverCheck) -> None:
    """Each check has a driver of its own, which takes over the one browser."""
    await check_driver(own, check)


@pytest.mark.parametrize("check", GROUP_CHECKS, ids=check_name)
async def test_own_chromium_keeps_the_contract_of_groups(
    own: OwnHarness, check: GroupCheck
) -> None:
    await check_groups(own, check)
