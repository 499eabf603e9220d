"""Firefox keeps the driver's contract, on real pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roost.testing.drivers import DRIVER_CHECKS, DriverCheck, check_driver, check_name
from tests.drivers.handled_firefox import HandledFirefox
from tests.drivers.lodging import Lodging, lodging_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def lodging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodging[HandledFirefox]]:
    with lodging_in(tmp_path_factory.mktemp("home"), HandledFirefox) as lodging:
        yield lodging


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_firefox_keeps_the_contract(
    lodging: Lodging[HandledFirefox], check: DriverCheck
) -> None:
    await check_driver(lodging, check)
