"""Checks of ``ConditionsDriver``. They belong to the suite in ``drivers.py``.

A driver without conditions, such as that of a person's own browser, passes them untried.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable
from functools import wraps

from roost.conditions import NO_CONDITIONS, Conditions, Emulation, Route
from roost.drivers.base import ConditionsDriver
from roost.drivers.events import TabNavigated, TabOpened
from roost.errors import NotFound, TabGone, Unsupported
from roost.testing.driver_rig import NO_TAB, DriverRig, Reports, driver_check
from roost.testing.waits import error_of
from roost.vocabulary import JarPolicy

AGENT = "() => navigator.userAgent"
OFFLINE = Conditions(offline=True)
ROBOT = Conditions(emulation=Emulation(user_agent="Robot/1"))
Check = Callable[[DriverRig, ConditionsDriver], Awaitable[None]]


def conditions_check(check: Check) -> Check:
    """Add a check to the suite, for drivers that have conditions and jars of their own."""

    @wraps(check)
    async def checked(rig: DriverRig) -> None:
        if isinstance(rig.driver, ConditionsDriver) and rig.policy is JarPolicy.FRESH:
            await check(rig, rig.driver)

    driver_check(checked)
    return check


@conditions_check
async def conditions_hold_in_their_tab_until_they_are_taken_back_and_in_no_other(
    rig: DriverRig, driver: ConditionsDriver
) -> None:
    tab, neighbour = await rig.tab("/"), await rig.tab("/")
    usual = await rig.evaluate(tab, AGENT)
    await driver.put_conditions(tab, OFFLINE)
    await error_of(NotFound, rig.navigate(tab, rig.url("/other")))
    assert (await rig.navigate(neighbour, rig.url("/other"))).title == "Other"
    await driver.put_conditions(tab, ROBOT)
    await rig.navigate(tab, rig.url("/"))
    assert await rig.evaluate(tab, AGENT) == "Robot/1"
    assert await rig.evaluate(neighbour, AGENT) == usual
    await driver.put_conditions(tab, NO_CONDITIONS)
    await rig.navigate(tab, rig.url("/other"))
    assert await rig.evaluate(tab, AGENT) == usual


@conditions_check
async def the_newest_rule_that_matches_a_request_applies_and_no_other(
    rig: DriverRig, driver: ConditionsDriver
) -> None:
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        file.write(b"<!doctype html><title>Mocked</title>")
        file.flush()
        headers = (("Content-Type", "text/html"),)
        answers = Route(id="r1", url="**/other", status=203, headers=headers, body_path=file.name)
        aborts = Route(id="r2", url=rig.url("/"), abort="connectionrefused")
        posts = Route(id="r3", url="**", method="POST", abort="failed")
        pictures = Route(id="r4", url="**", kinds=("image",), abort="failed")
        tab, neighbour = await rig.tab("/"), await rig.tab("/")
        await driver.put_conditions(tab, Conditions(routes=(answers, aborts, posts, pictures)))
        arrival = await rig.navigate(tab, rig.url("/other"))
        assert (arrival.title, arrival.status) == ("Mocked", 203)
        await error_of(NotFound, rig.navigate(tab, rig.url("/")))
        assert (await rig.navigate(tab, rig.url("/letters"))).status == 200
        assert (await rig.navigate(neighbour, rig.url("/other"))).title == "Other"
        newest = Route(id="r5", url="**/other", abort="failed")
        await driver.put_conditions(tab, Conditions(routes=(answers, newest)))
        await error_of(NotFound, rig.navigate(tab, rig.url("/other")))
        await driver.put_conditions(tab, Conditions(routes=(answers,)))
        assert (await rig.navigate(tab, rig.url("/other"))).title == "Mocked"
    # The body's file is gone: the request fails, and the tab goes on.
    await error_of(NotFound, rig.navigate(tab, rig.url("/other")))
    assert (await rig.navigate(tab, rig.url("/"))).title == "Home"


@conditions_check
async def a_driver_asks_for_the_conditions_of_popups_and_of_tabs_that_it_takes_over(
    rig: DriverRig, driver: ConditionsDriver
) -> None:
    jar = await rig.fresh_jar()
    tab, neighbour = await rig.tab("/", jar=jar), await rig.tab("/")
    usual = await rig.evaluate(neighbour, AGENT)
    await driver.put_jar_conditions(jar, ROBOT)
    await driver.put_conditions(tab, ROBOT)
    heir, reports = await rig.harness.another(rig.driver), Reports()
    assert isinstance(heir, ConditionsDriver)
    heir.ask_conditions(lambda one: NO_CONDITIONS if one == neighbour else ROBOT)
    await heir.start(reports)
    try:
        await heir.put_jar_conditions(jar, ROBOT)
        await heir.page(tab).navigate(rig.url("/other"))
        assert await heir.page(tab).evaluate(AGENT) == "Robot/1"
        address = json.dumps(rig.url("/other"))
        await heir.page(tab).evaluate(f"() => {{ window.open({address}) }}")
        popup = (await reports.first(TabOpened, lambda event: event.opener == tab)).handle
        await reports.first(
            TabNavigated, lambda event: (event.handle, event.title) == (popup, "Other")
        )
        await heir.page(popup).navigate(rig.url("/"))
        assert await heir.page(popup).evaluate(AGENT) == "Robot/1"
        assert await heir.page(neighbour).evaluate(AGENT) == usual
    finally:
        await rig.harness.let_go(heir)


@conditions_check
async def conditions_that_the_browser_cannot_follow_are_refused_before_they_change_anything(
    rig: DriverRig, driver: ConditionsDriver
) -> None:
    tab = await rig.tab("/")
    for wanted in (
        Conditions(throttle="3g", offline=True),
        Conditions(emulation=Emulation(touch=True, user_agent="Robot/1")),
        Conditions(emulation=Emulation(color_scheme="dark", user_agent="Robot/1")),
    ):
        refusal = _refusal(driver, wanted)
        if refusal is None:
            await driver.put_conditions(tab, wanted)
            await driver.put_conditions(tab, NO_CONDITIONS)
        else:
            assert refusal.message
            assert refusal.hint
    assert (await rig.navigate(tab, rig.url("/other"))).title == "Other"


def _refusal(driver: ConditionsDriver, wanted: Conditions) -> Unsupported | None:
    try:
        driver.check_conditions(wanted)
    except Unsupported as error:
        return error
    return None


@conditions_check
async def a_tab_that_is_gone_follows_no_conditions(
    rig: DriverRig, driver: ConditionsDriver
) -> None:
    tab = await rig.tab("/")
    await rig.driver.close_tab(tab)
    for gone in (tab, NO_TAB):
        await error_of(TabGone, driver.put_conditions(gone, OFFLINE))
