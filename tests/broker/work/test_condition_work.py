"""Conditions in a broker with a fake browser: recorded, followed, and taken back if refused."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.broker.browser import har
from roost.broker.work import condition_work
from roost.broker.work.devices import DEVICES, device
from roost.conditions import NO_CONDITIONS, ROUTES, Conditions
from roost.core import conditions as core_conditions
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
        await ada.call(ops.SetHeaders(headers=["X-A: 1"]))
        later = await ada.call(ops.Tabs(action="new", url="https://site.test/2"))
        assert later.opened is not None
        page = house.browser.pages[house.handle(mine.tab)]
        popup = house.browser.open_page(page.jar, opener=page.handle)
        for found in (page, house.browser.pages[house.handle(later.opened)], popup):
            assert found.conditions.headers
        assert house.browser.jar_conditions[page.jar].headers
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


async def test_the_answers_of_all_rules_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_conditions, "SESSION_BYTES", 100)
    monkeypatch.setattr(core_conditions, "ALL_BYTES", 150)
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit().api, house.admit().api
        tab = (await ada.call(ops.Navigate(url="https://site.test/"))).tab
        await ada.call(ops.Route(url="**/a", body="x" * 60, tab=tab))
        shown = await ada.call(ops.Route(url="**/b", body="x" * 40))
        files = house.home.files / shown.session / "routes"
        full = await error_of(ada.call(ops.Route(url="**/c", body="x")))
        assert isinstance(full, TooLarge)
        assert "this session" in full.message
        assert sorted(one.name for one in files.iterdir()) == ["r1", f"{tab}-r1"]
        await ada.call(ops.Route(url="**/c", abort="failed"))  # an answer without a body has room
        await bob.call(ops.Route(url="**/a", body="x" * 50))
        full = await error_of(bob.call(ops.Route(url="**/b", body="x")))
        assert isinstance(full, TooLarge)
        assert "all sessions" in full.message
        # What a closed tab's rules held is free again, on the disk, too.
        await ada.call(ops.Tabs(action="new"))
        await ada.call(ops.Close(tab=tab))
        await bob.call(ops.Route(url="**/b", body="x" * 50))
        await ada.call(ops.Unroute(rule="r2"))
        assert [one.name for one in files.iterdir()] == ["r1"]


async def test_headers_and_scripts_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_conditions, "TEXT_CHARS", 50)
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        await api.call(ops.InitScript(script="x" * 30))
        for more in (
            ops.InitScript(script="x" * 30, name="second"),
            ops.SetHeaders(headers=["X-Long: " + "y" * 30]),
            ops.Route(url="**", request_headers=["X-Long: " + "y" * 30]),
        ):
            assert isinstance(await error_of(api.call(more)), TooLarge)
        assert (await api.call(ops.InitScript(remove=True))).scripts == []


async def test_rules_of_a_tab_and_of_its_session_are_bounded_together(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        tab = (await api.call(ops.Navigate(url="https://site.test/"))).tab
        for number, at in enumerate((tab, None, tab, None)):
            await api.call(ops.Route(url=f"**/{number}" + "a" * 900, abort="failed", tab=at))
        for at in (tab, None):
            wrong = ops.Route(url="**/" + "b" * 900, abort="failed", tab=at)
            assert isinstance(await error_of(api.call(wrong)), BadRequest)


def written_har(house: FakeHouse, session: str, *entries: int, size: int = 0) -> str:
    """Write a HAR file with these entries, of at least that size, into the session's own folder."""
    folder = house.home.files / session
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "some.har"
    path.write_text(json.dumps({"log": {"entries": entries}}))
    if size:
        os.truncate(path, size)
    return str(path)


async def test_har_files_count_as_rules_and_leave_no_files_if_refused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        session = (await api.call(ops.Conditions())).session
        path = written_har(house, session, 1)
        folder = house.home.files / session / "routes"
        assert isinstance(await error_of(api.call(ops.RouteHar(path=path))), BadRequest)
        assert not list(folder.glob("*"))
        written_har(house, session)
        for _ in range(ROUTES):
            await api.call(ops.RouteHar(path=path))
        assert isinstance(await error_of(api.call(ops.RouteHar(path=path))), BadRequest)
        assert len(list(folder.iterdir())) == ROUTES


async def test_a_har_file_of_a_gigabyte_is_refused_by_its_size(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        api = house.admit().api
        session = (await api.call(ops.Conditions())).session
        path = written_har(house, session, size=1 << 30)
        assert isinstance(await error_of(api.call(ops.RouteHar(path=path))), TooLarge)


@pytest.mark.parametrize(
    ("owner", "name"), [(condition_work, "_read"), (har, "split"), (condition_work, "_tidy")]
)
async def test_others_are_answered_while_a_file_is_read_split_or_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    work: Callable[..., Any] = getattr(owner, name)
    has_begun, may_go_on = threading.Event(), threading.Event()

    def slow(*arguments: Any) -> Any:
        has_begun.set()
        assert may_go_on.wait(30)
        return work(*arguments)

    monkeypatch.setattr(owner, name, slow)
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit().api, house.admit().api
        path = written_har(house, (await ada.call(ops.Conditions())).session)
        adding = await started(ada.call(ops.RouteHar(path=path)))
        try:
            assert await asyncio.to_thread(has_begun.wait, 30)
            await bob.call(ops.Ping())
            await bob.call(ops.SetHeaders(headers=["X-A: 1"]))
            await ada.call(ops.Ping())
            assert not adding.done()
        finally:
            may_go_on.set()
        assert len((await adding).routes) == 1


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
