"""Conditions in a broker with a fake browser: recorded, followed, and taken back if refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.work.devices import DEVICES, device
from roost.conditions import NO_CONDITIONS, Conditions
from roost.daemon.wiring import FAKE
from roost.drivers.fake import FakeBrowser
from roost.drivers.fake.driver import REFUSED_AGENT
from roost.errors import BadRequest, BrowserLost, RoostError, TooLarge, Unsupported
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import started
from roost.vocabulary import SessionId, TabHandle, TabId
from roost.wire.hello import ClientKind, Hello


def conditions_in(house: FakeHouse, tab: str) -> object:
    return house.browser.pages[TabHandle(house.handle(tab))].conditions


async def error_of(call: object) -> RoostError:
    with pytest.raises(RoostError) as error:
        await call  # type: ignore[misc]
    return error.value


async def test_all_tabs_of_a_session_follow_its_conditions_and_other_sessions_do_not(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit().api, house.admit().api
        mine = await ada.call(ops.Navigate(url="https://site.test/"))
        theirs = await bob.call(ops.Navigate(url="https://site.test/"))
        await ada.call(ops.NetworkState(state="offline"))
        later = await ada.call(ops.Tabs(action="new", url="https://site.test/2"))
        assert later.opened is not None
        page = house.browser.pages[house.handle(mine.tab)]
        popup = house.browser.open_page(page.jar, opener=page.handle)
        for found in (page, house.browser.pages[house.handle(later.opened)], popup):
            assert found.conditions.offline
        assert house.browser.jar_conditions[page.jar].offline
        assert conditions_in(house, theirs.tab) == NO_CONDITIONS


async def test_a_refused_value_changes_nothing(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        tab = (await api.call(ops.Navigate(url="https://site.test/"))).tab
        await api.call(ops.Emulate(locale="de-DE"))
        wrong = api.call(ops.Emulate(user_agent=REFUSED_AGENT))
        assert isinstance(await error_of(wrong), BadRequest)
        assert isinstance(await error_of(api.call(ops.NetworkState(throttle="3g"))), Unsupported)
        shown = await api.call(ops.Conditions())
        assert shown.emulation is not None
        assert (shown.emulation.locale, shown.emulation.user_agent) == ("de-DE", None)
        assert house.browser.pages[house.handle(tab)].conditions.emulation.user_agent is None


async def test_a_restarted_browser_follows_the_conditions_again(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        tab = (await api.call(ops.Navigate(url="https://site.test/"))).tab
        await api.call(ops.SetHeaders(headers=["X-A: 1"]))
        house.driver.kill()
        await house.broker.browsers[FAKE].ready()
        await house.broker.opened(TabId(tab))
        page = house.browser.pages[house.handle(tab)]
        assert page.conditions.headers
        assert house.browser.jar_conditions[page.jar].headers


async def test_the_next_broker_tells_a_browser_that_still_runs(tmp_path: Path) -> None:
    browser = FakeBrowser()
    hello = replace(Hello(token="", kind=ClientKind.PYTHON), session=SessionId("kept"))
    async with fake_house(tmp_path, browser=browser) as house:
        api = house.admit(replace(hello, token=house.home.operator_token())).api
        await api.call(ops.Navigate(url="https://site.test/"))
        await api.call(ops.SetHeaders(headers=["X-A: 1"]))
        (page,) = browser.pages.values()
        page.conditions = NO_CONDITIONS  # what the driver of the earlier broker knew is lost
    async with fake_house(tmp_path, browser=browser, clock=house.clock) as house:
        await house.broker.browsers[FAKE].ready()
        api = house.admit(replace(hello, token=house.home.operator_token())).api
        assert (await api.call(ops.Conditions())).headers
        await house.broker.browsers[FAKE].put_conditions(SessionId("kept"))
        assert page.conditions.headers


async def test_bodies_are_copied_bounded_and_removed_with_their_rule(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with fake_house(tmp_path / "home") as house:
        api = house.admit().api
        big = "x" * 900_000
        shown = await api.call(ops.Route(url="**/a", body=big))
        session = shown.session
        kept = house.home.files / session / "routes" / "r1"
        assert kept.read_text() == big
        assert kept.stat().st_mode & 0o777 == 0o600
        await api.call(ops.Unroute(rule="r1"))
        assert not kept.exists()
        again = await api.call(ops.Route(url="**/a", body="y"))
        assert again.added == "r2"  # no id is used twice
        own = house.home.files / session / "huge.bin"
        with own.open("wb") as file:
            file.truncate(6 * 1024 * 1024)
        error = await error_of(api.call(ops.Route(url="**/a", path=str(own))))
        assert isinstance(error, TooLarge)


def test_devices_are_named_in_any_case_and_a_wrong_name_is_explained() -> None:
    assert device("IPHONE 15") == DEVICES["iPhone 15"]
    with pytest.raises(BadRequest) as error:
        device("iPhone 99")
    assert "Did you mean iPhone" in str(error.value.hint)


@pytest.mark.parametrize("end", ["the browser is lost", "the caller is gone"])
async def test_a_rule_that_could_not_be_set_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        tab = (await api.call(ops.Navigate(url="https://site.test/"))).tab
        session = (await api.call(ops.Route(url="**/kept", body="kept"))).session
        folder = house.home.files / session
        own = folder / "one.har"
        entry = {
            "request": {"method": "GET", "url": "https://site.test/a"},
            "response": {"status": 200, "headers": [], "content": {"text": "a"}},
        }
        own.write_text(json.dumps({"log": {"entries": [entry]}}))
        begun, follow = asyncio.Event(), house.driver.put_conditions

        async def put(handle: TabHandle, conditions: Conditions) -> None:
            await follow(handle, conditions)
            if len(conditions.routes) > 1:
                if end == "the browser is lost":
                    raise BrowserLost("The browser ended.")
                begun.set()
                await asyncio.Event().wait()

        monkeypatch.setattr(house.driver, "put_conditions", put)
        for wrong in (ops.Route(url="**/a", body="a"), ops.RouteHar(url="**/a", path=str(own))):
            begun.clear()
            calling = await started(api.call(wrong))
            if end == "the browser is lost":
                assert isinstance(await error_of(calling), BrowserLost)
            else:
                await begun.wait()
                calling.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await calling
            shown = await api.call(ops.RouteList())
            assert [rule.url for rule in shown.routes] == ["**/kept"]
            assert [one.name for one in (folder / "routes").iterdir()] == ["r1"]
            async with asyncio.timeout(10):
                while len(house.browser.pages[house.handle(tab)].conditions.routes) != 1:
                    await api.call(ops.Ping())
        own.write_text("no HAR")
        no_har = api.call(ops.RouteHar(url="**/a", path=str(own)))
        assert isinstance(await error_of(no_har), BadRequest)
        assert [one.name for one in (folder / "routes").iterdir()] == ["r1"]
