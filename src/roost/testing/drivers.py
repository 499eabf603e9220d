"""``check_driver``: the contract of ``drivers/base.py``, sentence by sentence, as code.

A driver's own test file implements ``DriverHarness``, which makes the driver and can crash its
browser, and runs each check as a test::

    @pytest.mark.parametrize("check", DRIVER_CHECKS, ids=check_name)
    async def test_contract(check: DriverCheck) -> None:
        await check_driver(MyHarness(), check)

Checks use only JavaScript that the fake browser understands. ``driver_deaths`` checks crashes and
cancelled calls, ``driver_jars`` the contents of jars.
"""

from __future__ import annotations

import asyncio
import json

from roost.drivers.base import Shot, TabAppeared, TabArrived, TabDisappeared
from roost.errors import BadRequest, BrowserLost, JarUnavailable, NotFound, TabGone
from roost.testing import driver_deaths as driver_deaths  # its checks belong to the suite
from roost.testing import driver_jars as driver_jars  # and so do these
from roost.testing.driver_rig import (
    BLANK,
    COOKIES,
    DRIVER_CHECKS,
    HREF,
    JAR_CHECKS,
    NO_TAB,
    Bench,
    DriverCheck,
    DriverHarness,
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
    "Bench",
    "DriverCheck",
    "DriverHarness",
    "Reports",
    "check_driver",
    "check_name",
]

# --- starting and stopping ---------------------------------------------------------------------


@driver_check
async def a_stopped_browser_is_started_again_as_a_new_one(bench: Bench) -> None:
    tab = await bench.tab("/")
    await bench.driver.stop()
    again = await bench.driver.start(bench.reports)
    assert again.version
    assert not again.resumed
    assert tab not in again.tabs
    assert again.jars == frozenset()
    await bench.works(await bench.tab("/"))


@driver_check
async def stopping_is_safe_before_a_start_and_twice(bench: Bench) -> None:
    tab = await bench.tab()
    await bench.driver.stop()
    await bench.driver.stop()
    await error_of(BrowserLost, bench.driver.evaluate(tab, HREF))
    await bench.harness.make().stop()


@driver_check
async def a_call_running_when_the_browser_is_stopped_fails_at_once(bench: Bench) -> None:
    call = await bench.running(await bench.tab())
    await bench.driver.stop()
    await error_of(BrowserLost, call)


# --- jars --------------------------------------------------------------------------------------


@jar_check
async def tabs_of_one_jar_share_cookies_and_other_jars_do_not_see_them(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    writer, reader = await bench.tab("/", jar=jar), await bench.tab("/", jar=jar)
    stranger = await bench.tab("/")
    await bench.driver.evaluate(writer, '() => document.cookie = "who=writer"')
    assert await bench.driver.evaluate(reader, COOKIES) == "who=writer"
    assert await bench.driver.evaluate(stranger, COOKIES) == ""


@driver_check
async def the_shared_jar_is_one_jar(bench: Bench) -> None:
    if JarPolicy.SHARED not in bench.driver.capabilities.jars:
        await error_of(JarUnavailable, bench.driver.make_jar(JarPolicy.SHARED))
        return
    tabs = [
        await bench.tab("/", jar=await bench.driver.make_jar(JarPolicy.SHARED)) for _ in range(2)
    ]
    await bench.driver.evaluate(tabs[0], '() => document.cookie = "who=everybody"')
    assert "who=everybody" in await bench.driver.evaluate(tabs[1], COOKIES)
    if bench.policy is not JarPolicy.SHARED:
        assert await bench.driver.evaluate(await bench.tab("/"), COOKIES) == ""


@driver_check
async def a_policy_outside_the_capabilities_is_refused(bench: Bench) -> None:
    for policy in set(JarPolicy) - bench.driver.capabilities.jars:
        await error_of(JarUnavailable, bench.driver.make_jar(policy))


@jar_check
async def removing_a_jar_closes_its_tabs_and_no_others(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    tab, stranger = await bench.tab("/", jar=jar), await bench.tab("/")
    await bench.driver.remove_jar(jar)
    await bench.reports.first(TabDisappeared, lambda event: event.handle == tab)
    await error_of(TabGone, bench.driver.evaluate(tab, HREF))
    await error_of(JarUnavailable, bench.open(jar))
    await bench.driver.remove_jar(jar)  # the jar is gone already: no error
    await bench.works(stranger)


@jar_check
async def a_removed_jars_cookies_are_forgotten(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    tab = await bench.tab("/", jar=jar)
    await bench.driver.evaluate(tab, '() => document.cookie = "who=before; max-age=600"')
    await bench.driver.remove_jar(jar)
    assert await bench.driver.evaluate(await bench.tab("/"), COOKIES) == ""


@driver_check
async def jars_and_tabs_nobody_knows_are_refused_by_name(bench: Bench) -> None:
    await error_of(JarUnavailable, bench.open("no-such-jar"))
    await error_of(TabGone, bench.driver.navigate(NO_TAB, bench.url("/")))
    await error_of(TabGone, bench.driver.evaluate(NO_TAB, HREF))
    await error_of(TabGone, bench.driver.capture(NO_TAB, Shot()))
    await bench.driver.close_tab(NO_TAB)
    await bench.driver.remove_jar("no-such-jar")


# --- tabs --------------------------------------------------------------------------------------


@driver_check
async def a_new_tab_is_blank_and_is_not_reported(bench: Bench) -> None:
    tab = await bench.tab()
    assert await bench.driver.evaluate(tab, HREF) == BLANK
    assert not any(isinstance(event, TabAppeared) for event in bench.reports.about(tab))


@driver_check
async def handles_are_never_used_twice(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    first = await bench.tab(jar=jar)
    await bench.driver.close_tab(first)
    assert first != await bench.tab(jar=jar)


@driver_check
async def a_closed_tab_is_reported_and_gone(bench: Bench) -> None:
    tab = await bench.tab("/")
    await bench.driver.close_tab(tab)
    await bench.reports.first(TabDisappeared, lambda event: event.handle == tab)
    await error_of(TabGone, bench.driver.evaluate(tab, HREF))
    await error_of(TabGone, bench.driver.navigate(tab, bench.url("/")))
    await error_of(TabGone, bench.driver.capture(tab, Shot()))
    await bench.driver.close_tab(tab)  # the tab is gone already: no error
    assert len([e for e in bench.reports.about(tab) if isinstance(e, TabDisappeared)]) == 1


@driver_check
async def a_popup_is_reported_first_with_its_opener_and_jar(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    opener = await bench.tab("/", jar=jar)
    address = bench.url("/other")
    await bench.driver.evaluate(opener, f"() => {{ window.open({json.dumps(address)}) }}")
    popup = await bench.reports.first(TabAppeared, lambda event: event.opener == opener)
    assert popup.jar == jar
    await bench.reports.first(
        TabArrived, lambda event: (event.handle, event.title) == (popup.handle, "Other")
    )
    assert bench.reports.about(popup.handle)[0] is popup
    assert await bench.driver.evaluate(popup.handle, HREF) == address
    await bench.driver.close_tab(popup.handle)
    await bench.reports.first(TabDisappeared, lambda event: event.handle == popup.handle)
    await bench.works(opener)


@driver_check
async def a_popup_shares_its_openers_cookies(bench: Bench) -> None:
    opener = await bench.tab("/")
    await bench.driver.evaluate(opener, '() => document.cookie = "who=opener"')
    address = json.dumps(bench.url("/other"))
    await bench.driver.evaluate(opener, f"() => {{ window.open({address}) }}")
    popup = await bench.reports.first(TabAppeared)
    await bench.reports.first(TabArrived, lambda event: event.handle == popup.handle)
    await bench.driver.navigate(popup.handle, bench.url("/other"))
    assert "who=opener" in await bench.driver.evaluate(popup.handle, COOKIES)


@driver_check
async def a_tab_the_person_opens_is_reported_with_its_jar(bench: Bench) -> None:
    jar = await bench.fresh_jar()
    await bench.harness.open_page(bench.driver, jar)
    appeared = await bench.reports.first(TabAppeared)
    assert appeared.jar == jar
    assert appeared.opener is None
    await bench.works(appeared.handle)


# --- navigating --------------------------------------------------------------------------------


@driver_check
async def navigating_answers_where_it_ended(bench: Bench) -> None:
    tab = await bench.tab()
    for path, end, title, status in (
        ("/", "/", "Home", 200),
        ("/letters", "/letters", "Ünï·cödé <b> & ☃", 200),
        ("/moved", "/other", "Other", 200),
        ("/moved/twice", "/other", "Other", 200),
        ("/missing", "/missing", "Not here", 404),
        ("/broken", "/broken", "Broken", 500),
    ):
        arrival = await bench.driver.navigate(tab, bench.url(path))
        assert arrival.url == bench.url(end)
        assert (arrival.title, arrival.status) == (title, status)
        assert await bench.driver.evaluate(tab, HREF) == bench.url(end)
        assert await bench.driver.evaluate(tab, "() => document.title") == title


@driver_check
async def a_blank_page_has_no_status(bench: Bench) -> None:
    tab = await bench.tab("/")
    arrival = await bench.driver.navigate(tab, BLANK)
    assert (arrival.url, arrival.status) == (BLANK, None)


@driver_check
async def a_document_is_reported_with_its_address_and_title(bench: Bench) -> None:
    tab = await bench.tab("/moved")
    await bench.reports.first(
        TabArrived,
        lambda event: event == TabArrived(tab, bench.url("/other"), "Other"),
    )


@driver_check
async def a_server_that_cannot_be_reached_is_not_found(bench: Bench) -> None:
    tab = await bench.tab("/")
    error = await error_of(NotFound, bench.driver.navigate(tab, bench.harness.nowhere))
    assert error.details["reason"]
    arrival = await bench.driver.navigate(tab, bench.url("/other"))
    assert arrival.title == "Other"


@driver_check
async def redirects_without_end_are_not_found(bench: Bench) -> None:
    tab = await bench.tab()
    error = await error_of(NotFound, bench.driver.navigate(tab, bench.url("/round")))
    assert error.details["reason"]
    if "error pages" in {lack.name for lack in bench.driver.capabilities.lacks}:
        assert (await bench.driver.navigate(tab, bench.url("/"))).title == "Home"
    await bench.works(tab)


# --- evaluating --------------------------------------------------------------------------------


@driver_check
async def evaluating_gives_the_json_value(bench: Bench) -> None:
    tab = await bench.tab("/")
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
        assert await bench.driver.evaluate(tab, function) == value, function


@driver_check
async def a_function_that_throws_is_a_bad_request_with_its_text(bench: Bench) -> None:
    tab = await bench.tab("/")
    for function in (
        '() => { throw new Error("the reason") }',
        'async () => { throw new Error("the reason") }',
    ):
        error = await error_of(BadRequest, bench.driver.evaluate(tab, function))
        assert "the reason" in (error.page_said or "")
        assert "the reason" not in f"{error.message} {error.hint} {error.details}"
    await bench.works(tab)


@driver_check
async def a_function_that_does_not_parse_is_a_bad_request(bench: Bench) -> None:
    tab = await bench.tab("/")
    error = await error_of(BadRequest, bench.driver.evaluate(tab, "() => ("))
    assert "SyntaxError" in (error.page_said or "")
    await bench.works(tab)


# --- pictures ----------------------------------------------------------------------------------


@driver_check
async def a_picture_is_whole_and_of_the_size_asked_for(bench: Bench) -> None:
    tab = await bench.tab("/")
    whole = await bench.driver.capture(tab, Shot(format="png", scale=1.0))
    check_picture(whole, "png")
    half = await bench.driver.capture(tab, Shot(format="jpeg", quality=60, scale=0.5))
    check_picture(half, "jpeg")
    assert abs(half.width * 2 - whole.width) <= 1
    assert abs(half.height * 2 - whole.height) <= 1
    full = await bench.driver.capture(tab, Shot(format="png", scale=1.0, full_page=True))
    check_picture(full, "png")


@driver_check
async def twelve_tabs_are_captured_at_once(bench: Bench) -> None:
    tabs = [await bench.tab("/") for _ in range(12)]
    pictures = await asyncio.gather(*(bench.driver.capture(tab, Shot()) for tab in tabs))
    for picture in pictures:
        check_picture(picture, "jpeg")


@driver_check
async def a_picture_does_not_wait_for_a_call_on_another_tab(bench: Bench) -> None:
    call = await bench.running(await bench.tab("/"))
    check_picture(await bench.driver.capture(await bench.tab("/"), Shot()), "jpeg")
    assert not call.done()
    call.cancel()


@driver_check
async def every_refusal_says_what_and_what_next(bench: Bench) -> None:
    """Agents get a driver's errors as they are, so no message and no hint may be empty."""
    for error in (
        await error_of(TabGone, bench.driver.evaluate(NO_TAB, HREF)),
        await error_of(JarUnavailable, bench.open("no-such-jar")),
        await error_of(NotFound, bench.driver.navigate(await bench.tab(), bench.harness.nowhere)),
    ):
        assert error.message
        assert error.hint


@driver_check
async def tabs_behind_others_of_their_jar_are_captured_too(bench: Bench) -> None:
    """Tabs of one jar share a window, and only one of them is in front."""
    jar = await bench.fresh_jar()
    tabs = [await bench.tab("/", jar=jar) for _ in range(3)]
    for tab in tabs:
        check_picture(await bench.driver.capture(tab, Shot(scale=0.5)), "jpeg")
        check_picture(await bench.driver.capture(tab, Shot(scale=1.0, format="png")), "png")
    pictures = await asyncio.gather(*(bench.driver.capture(tab, Shot()) for tab in tabs))
    assert len(pictures) == len(tabs)
