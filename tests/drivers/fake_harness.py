"""The fake driver, with what a contract check does to its browser."""

from __future__ import annotations

from roost.drivers.base import Driver
from roost.drivers.fake import FakeBrowser, FakeDriver
from roost.testing.site import FAKE_BASE, FAKE_NOWHERE, fake_web
from roost.vocabulary import TabHandle


class FakeHarness:
    nowhere = FAKE_NOWHERE

    def url(self, path: str) -> str:
        return FAKE_BASE + path

    def make(self) -> Driver:
        return FakeDriver(FakeBrowser(fake_web))

    async def another(self, driver: Driver) -> Driver:
        return FakeDriver(_fake(driver).browser)

    async def let_go(self, driver: Driver) -> None:
        await driver.stop()

    async def open_page(self, driver: Driver, jar: str) -> None:
        _fake(driver).browser.open_page(jar)

    async def crash(self, driver: Driver, tab: TabHandle) -> None:
        _fake(driver).crash(tab)

    async def kill(self, driver: Driver) -> None:
        _fake(driver).kill()


def _fake(driver: Driver) -> FakeDriver:
    assert isinstance(driver, FakeDriver)
    return driver
