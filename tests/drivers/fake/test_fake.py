"""The fake driver passes the contract of real drivers, and has no shortcuts."""

from __future__ import annotations

import pytest

from roost.drivers.events import (
    TabNavigated,
)
from roost.drivers.fake import FakeBrowser, FakeDriver, FakeResponse
from roost.errors import BadRequest, NotFound
from roost.testing.drivers import (
    DRIVER_CHECKS,
    DriverCheck,
    Reports,
    check_driver,
    check_name,
)
from roost.testing.site import FAKE_BASE, FAKE_NOWHERE, fake_web
from roost.testing.waits import error_of
from roost.vocabulary import JarPolicy
from tests.drivers.fake_harness import FakeHarness


@pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
async def test_the_fake_driver_keeps_the_contract(check: DriverCheck) -> None:
    await check_driver(FakeHarness(), check)


async def test_the_whole_suite_runs_in_one_call() -> None:
    await check_driver(FakeHarness())


async def test_every_address_is_a_page_on_the_default_web() -> None:
    driver = FakeDriver()
    await driver.start(Reports())
    tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))

    arrival = await driver.page(tab).navigate("https://example.com/a/b?q=1")

    assert (arrival.title, arrival.status) == ("example.com/a/b", 200)


async def test_a_popup_to_nowhere_is_a_tab_without_a_document() -> None:
    driver, reports = FakeDriver(FakeBrowser(fake_web)), Reports()
    await driver.start(reports)
    jar = await driver.make_jar(JarPolicy.FRESH)

    page = driver.browser.open_page(jar, url=FAKE_NOWHERE)
    stalled = driver.browser.open_page(jar, url=FAKE_BASE + "/stalls")

    assert page.handle in driver.browser.pages
    assert stalled.handle in driver.browser.pages
    assert not any(isinstance(event, TabNavigated) for event in reports.events)


async def test_unknown_javascript_is_refused() -> None:
    driver = FakeDriver()
    await driver.start(Reports())
    tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))

    for function in ("alert(1)", "() => fetch('/')", '() => {"a": 1}', "function () {}"):
        await error_of(BadRequest, driver.page(tab).evaluate(function))


async def test_numbers_that_json_lacks_become_null() -> None:
    driver = FakeDriver()
    await driver.start(Reports())
    tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))

    assert await driver.page(tab).evaluate("() => NaN") is None
    assert await driver.page(tab).evaluate("() => [-Infinity]") == [None]


async def test_redirects_to_a_blank_page_end_there() -> None:
    driver = FakeDriver(FakeBrowser(lambda url: FakeResponse(redirect="about:blank")))
    await driver.start(Reports())
    tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))

    assert (await driver.page(tab).navigate("http://a.test/")).url == "about:blank"


async def test_the_table_of_the_site_is_the_fakes_whole_web() -> None:
    driver = FakeDriver(FakeBrowser(fake_web))
    await driver.start(Reports())
    tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))

    await error_of(NotFound, driver.page(tab).navigate(FAKE_BASE + "/no/such/page"))
