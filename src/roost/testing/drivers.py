"""``check_driver``: the contract of ``drivers/base.py``, sentence by sentence, as code.

A driver's own test file implements ``DriverHarness``, which makes the driver and can crash its
browser, and runs each check as a test::

    @pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
    async def test_contract(check: DriverCheck) -> None:
        await check_driver(MyHarness(), check)

Checks use only JavaScript that the fake browser understands. ``driver_deaths`` checks crashes and
cancelled calls, ``driver_jars`` the contents of jars, ``driver_conditions`` conditions.
"""

from __future__ import annotations

import asyncio
import json

from roost.drivers.base import BLANK, Shot
from roost.drivers.events import (
    TabClosed,
    TabNavigated,
    TabOpened,
)
from roost.errors import BadRequest, BrowserLost, JarUnavailable, NotFound, TabGone, Unsupported
from roost.testing import driver_conditions as driver_conditions  # its checks belong to the suite
from roost.testing import driver_deaths as driver_deaths  # its checks belong to the suite, too
from roost.testing import driver_films as driver_films  # its checks belong to the suite, too
from roost.testing import driver_jars as driver_jars
from roost.testing.driver_rig import (
    COOKIES,
    DRIVER_CHECKS,
    HREF,
    JAR_CHECKS,
    NO_TAB,
    DriverCheck,
    DriverHarness,
    DriverRig,
    Reports,
    check_driver,
    check_name,
    driver_check,
    jar_check,
)
from roost.testing.pictures import check_picture
from roost.testing.waits import error_of
from roost.vocabulary import JarPolicy

__all__ = [
    "DRIVER_CHECKS",
    "JAR_CHECKS",
    "DriverRig",
    "DriverCheck",
    "DriverHarness",
    "Reports",
    "check_driver",
    "check_name",
]

# --- starting and stopping ---------------------------------------------------------------------


@driver_check
async def a_stopped_browser_fails_its_calls_and_is_started_again_as_a_new_one(
    rig: DriverRig,
) -> None:
    tab = await rig.tab("/")
    call = await rig.running(tab)
    await rig.driver.stop()
    await error_of(BrowserLost, call)
    await rig.driver.stop()  # stopped already: no error
    await error_of(BrowserLost, rig.evaluate(tab, HREF))
    await rig.harness.make().stop()  # never started: no error
    again = await rig.driver.start(rig.reports)
    assert again.version
    assert not again.resumed
    assert tab not in again.tabs
    assert again.jars == frozenset()
    await rig.works(await rig.tab("/"))


# --- jars --------------------------------------------------------------------------------------


@jar_check
async def tabs_of_one_jar_share_cookies_and_other_jars_do_not_see_them(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    writer, reader = await rig.tab("/", jar=jar), await rig.tab("/", jar=jar)
    stranger = await rig.tab("/")
    await rig.evaluate(writer, '() => document.cookie = "who=writer"')
    assert await rig.evaluate(reader, COOKIES) == "who=writer"
    assert await rig.evaluate(stranger, COOKIES) == ""


@driver_check
async def the_shared_jar_is_one_jar(rig: DriverRig) -> None:
    if JarPolicy.SHARED not in rig.driver.capabilities.jars:
        await error_of(JarUnavailable, rig.driver.make_jar(JarPolicy.SHARED))
        return
    tabs = [await rig.tab("/", jar=await rig.driver.make_jar(JarPolicy.SHARED)) for _ in range(2)]
    await rig.evaluate(tabs[0], '() => document.cookie = "who=everybody"')
    assert "who=everybody" in await rig.evaluate(tabs[1], COOKIES)
    if rig.policy is not JarPolicy.SHARED:
        assert await rig.evaluate(await rig.tab("/"), COOKIES) == ""


@driver_check
async def a_policy_outside_the_capabilities_is_refused(rig: DriverRig) -> None:
    for policy in set(JarPolicy) - rig.driver.capabilities.jars:
        await error_of(JarUnavailable, rig.driver.make_jar(policy))


@jar_check
async def removing_a_jar_closes_its_tabs_and_no_others(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    tab, stranger = await rig.tab("/", jar=jar), await rig.tab("/")
    await rig.driver.remove_jar(jar)
    await rig.reports.first(TabClosed, lambda event: event.handle == tab)
    await error_of(TabGone, rig.evaluate(tab, HREF))
    await error_of(JarUnavailable, rig.open(jar))
    await rig.driver.remove_jar(jar)  # the jar is gone already: no error
    await rig.works(stranger)


@jar_check
async def a_removed_jars_cookies_are_forgotten(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    tab = await rig.tab("/", jar=jar)
    await rig.evaluate(tab, '() => document.cookie = "who=before; max-age=600"')
    await rig.driver.remove_jar(jar)
    assert await rig.evaluate(await rig.tab("/"), COOKIES) == ""


@driver_check
async def unknown_jars_and_tabs_are_named_in_the_error(rig: DriverRig) -> None:
    await error_of(JarUnavailable, rig.open("no-such-jar"))
    await error_of(TabGone, rig.navigate(NO_TAB, rig.url("/")))
    await error_of(TabGone, rig.evaluate(NO_TAB, HREF))
    await error_of(TabGone, rig.capture(NO_TAB, Shot()))
    await error_of(TabGone, rig.driver.bring_to_front(NO_TAB))
    await rig.driver.close_tab(NO_TAB)
    await rig.driver.remove_jar("no-such-jar")


@driver_check
async def a_tab_comes_to_the_front_unless_the_browser_is_headless(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    if rig.browser.headless:
        refusal = await error_of(Unsupported, rig.driver.bring_to_front(tab))
        assert "--headed" in refusal.hint
    else:
        await rig.driver.bring_to_front(tab)
    await rig.works(tab)


# --- tabs --------------------------------------------------------------------------------------


@driver_check
async def a_new_tab_is_blank_and_is_not_reported(rig: DriverRig) -> None:
    tab = await rig.tab()
    assert await rig.evaluate(tab, HREF) == BLANK
    assert not any(isinstance(event, TabOpened) for event in rig.reports.about(tab))


@driver_check
async def handles_are_never_used_twice(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    first = await rig.tab(jar=jar)
    await rig.driver.close_tab(first)
    assert first != await rig.tab(jar=jar)


@driver_check
async def a_closed_tab_is_reported_and_gone(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    await rig.driver.close_tab(tab)
    await rig.reports.first(TabClosed, lambda event: event.handle == tab)
    await error_of(TabGone, rig.evaluate(tab, HREF))
    await error_of(TabGone, rig.navigate(tab, rig.url("/")))
    await error_of(TabGone, rig.capture(tab, Shot()))
    await rig.driver.close_tab(tab)  # the tab is gone already: no error
    assert len([e for e in rig.reports.about(tab) if isinstance(e, TabClosed)]) == 1


@driver_check
async def a_popup_is_reported_first_with_its_opener_and_jar(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    opener = await rig.tab("/", jar=jar)
    address = rig.url("/other")
    await rig.evaluate(opener, f"() => {{ window.open({json.dumps(address)}) }}")
    popup = await rig.reports.first(TabOpened, lambda event: event.opener == opener)
    assert popup.jar == jar
    await rig.reports.first(
        TabNavigated, lambda event: (event.handle, event.title) == (popup.handle, "Other")
    )
    assert rig.reports.about(popup.handle)[0] is popup
    assert await rig.evaluate(popup.handle, HREF) == address
    await rig.driver.close_tab(popup.handle)
    await rig.reports.first(TabClosed, lambda event: event.handle == popup.handle)
    await rig.works(opener)


@driver_check
async def a_popup_shares_its_openers_cookies(rig: DriverRig) -> None:
    opener = await rig.tab("/")
    await rig.evaluate(opener, '() => document.cookie = "who=opener"')
    address = json.dumps(rig.url("/other"))
    await rig.evaluate(opener, f"() => {{ window.open({address}) }}")
    popup = await rig.reports.first(TabOpened)
    await rig.reports.first(TabNavigated, lambda event: event.handle == popup.handle)
    await rig.navigate(popup.handle, rig.url("/other"))
    assert "who=opener" in await rig.evaluate(popup.handle, COOKIES)


@driver_check
async def a_tab_the_person_opens_is_reported_with_its_jar(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    await rig.harness.open_page(rig.driver, jar)
    appeared = await rig.reports.first(TabOpened)
    assert appeared.jar == jar
    assert appeared.opener is None
    await rig.works(appeared.handle)


# --- navigating --------------------------------------------------------------------------------


@driver_check
async def navigating_answers_where_it_ended(rig: DriverRig) -> None:
    tab = await rig.tab()
    for path, end, title, status in (
        ("/", "/", "Home", 200),
        ("/letters", "/letters", "Ünï·cödé <b> & ☃", 200),
        ("/moved", "/other", "Other", 200),
        ("/moved/twice", "/other", "Other", 200),
        ("/missing", "/missing", "Not here", 404),
        ("/broken", "/broken", "Broken", 500),
    ):
        arrival = await rig.navigate(tab, rig.url(path))
        assert arrival.url == rig.url(end)
        assert (arrival.title, arrival.status) == (title, status)
        assert await rig.evaluate(tab, HREF) == rig.url(end)
        assert await rig.evaluate(tab, "() => document.title") == title


@driver_check
async def a_blank_page_has_no_status(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    arrival = await rig.navigate(tab, BLANK)
    assert (arrival.url, arrival.status) == (BLANK, None)


@driver_check
async def a_document_is_reported_with_its_address_and_title(rig: DriverRig) -> None:
    tab = await rig.tab("/moved")
    await rig.reports.first(
        TabNavigated,
        lambda event: event == TabNavigated(tab, rig.url("/other"), "Other"),
    )


@driver_check
async def a_server_that_cannot_be_reached_is_not_found(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    error = await error_of(NotFound, rig.navigate(tab, rig.harness.nowhere))
    assert error.details["reason"]
    arrival = await rig.navigate(tab, rig.url("/other"))
    assert arrival.title == "Other"


@driver_check
async def redirects_without_end_are_not_found(rig: DriverRig) -> None:
    tab = await rig.tab()
    error = await error_of(NotFound, rig.navigate(tab, rig.url("/round")))
    assert error.details["reason"]
    if "error pages" in {lack.name for lack in rig.driver.capabilities.lacks}:
        assert (await rig.navigate(tab, rig.url("/"))).title == "Home"
    await rig.works(tab)


# --- evaluating --------------------------------------------------------------------------------


@driver_check
async def evaluating_gives_the_json_value(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    for function, value in (
        ("() => 12.5", 12.5),
        ("() => true", True),
        ("() => null", None),
        ("() => undefined", None),
        ("() => {}", None),
        ('() => "☃ \\" \\\\ \\n"', '☃ " \\ \n'),
        ('() => ({"a": [1, {"b": null}], "c": ""})', {"a": [1, {"b": None}], "c": ""}),
        ("() => [[], 0, false]", [[], 0, False]),
        ("async () => 7", 7),
    ):
        assert await rig.evaluate(tab, function) == value, function


@driver_check
async def a_function_that_throws_is_a_bad_request_with_its_text(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    for function in (
        '() => { throw new Error("the reason") }',
        'async () => { throw new Error("the reason") }',
    ):
        error = await error_of(BadRequest, rig.evaluate(tab, function))
        assert "the reason" in (error.page_said or "")
        assert "the reason" not in f"{error.message} {error.hint} {error.details}"
    await rig.works(tab)


@driver_check
async def a_function_that_does_not_parse_is_a_bad_request(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    error = await error_of(BadRequest, rig.evaluate(tab, "() => ("))
    assert "SyntaxError" in (error.page_said or "")
    await rig.works(tab)


# --- pictures ----------------------------------------------------------------------------------


@driver_check
async def a_picture_is_whole_and_of_the_size_asked_for(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    whole = await rig.capture(tab, Shot(format="png", scale=1.0))
    check_picture(whole, "png")
    half = await rig.capture(tab, Shot(format="jpeg", quality=60, scale=0.5))
    check_picture(half, "jpeg")
    assert abs(half.width * 2 - whole.width) <= 1
    assert abs(half.height * 2 - whole.height) <= 1
    full = await rig.capture(tab, Shot(format="png", scale=1.0, full_page=True))
    check_picture(full, "png")


@driver_check
async def a_region_is_captured_at_its_scale(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    shot = Shot(format="png", scale=2.0, clip=(10, 20, 60, 40))
    picture = await rig.capture(tab, shot)
    check_picture(picture, "png")
    assert (picture.width, picture.height) == (120, 80)


@driver_check
async def a_release_does_nothing_if_input_holds_nothing(rig: DriverRig) -> None:
    tab = await rig.tab("/")
    page = rig.driver.page(tab)
    await page.release()
    await rig.works(tab)
    await rig.driver.close_tab(tab)
    await error_of(TabGone, page.release())


@driver_check
async def twelve_tabs_are_captured_at_once(rig: DriverRig) -> None:
    tabs = [await rig.tab("/") for _ in range(12)]
    pictures = await asyncio.gather(*(rig.capture(tab, Shot()) for tab in tabs))
    for picture in pictures:
        check_picture(picture, "jpeg")


@driver_check
async def a_picture_does_not_wait_for_a_call_on_another_tab(rig: DriverRig) -> None:
    call = await rig.running(await rig.tab("/"))
    check_picture(await rig.capture(await rig.tab("/"), Shot()), "jpeg")
    assert not call.done()
    call.cancel()


@driver_check
async def every_refusal_says_what_is_wrong_and_what_to_do(rig: DriverRig) -> None:
    """Agents get a driver's errors as they are, so no message and no hint may be empty."""
    for error in (
        await error_of(TabGone, rig.evaluate(NO_TAB, HREF)),
        await error_of(JarUnavailable, rig.open("no-such-jar")),
        await error_of(NotFound, rig.navigate(await rig.tab(), rig.harness.nowhere)),
    ):
        assert error.message
        assert error.hint


@driver_check
async def tabs_behind_others_of_their_jar_are_captured_too(rig: DriverRig) -> None:
    """Tabs of one jar share a window, and only one of them is in front."""
    jar = await rig.fresh_jar()
    tabs = [await rig.tab("/", jar=jar) for _ in range(3)]
    for tab in tabs:
        check_picture(await rig.capture(tab, Shot(scale=0.5)), "jpeg")
        check_picture(await rig.capture(tab, Shot(scale=1.0, format="png")), "png")
    pictures = await asyncio.gather(*(rig.capture(tab, Shot()) for tab in tabs))
    assert len(pictures) == len(tabs)
