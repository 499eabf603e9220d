"""CDP clients in sessions: they are told of their session's tabs only, and leave nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.protocol import Seat
from roost.broker.doors.caller import Caller
from roost.core import events as ev
from roost.daemon.wiring import FAKE
from roost.drivers.base import Hold, ProtocolEar, ProtocolTap, Report, RunningBrowser
from roost.drivers.events import (
    DriverEvent,
    TabOpened,
)
from roost.drivers.fake.browser import FakeBrowser, any_page
from roost.errors import (
    BadRequest,
    JarUnavailable,
    PoolFull,
    SessionGone,
    TabGone,
    Unauthorized,
    Unsupported,
    UrlBlocked,
)
from roost.testing.house import FakeHouse, HeldDriver, fake_house
from roost.testing.waits import error_of, started, until
from roost.vocabulary import (
    OPERATOR,
    SHARE_RETRY_SECONDS,
    SHARE_SECONDS,
    SessionId,
    TabHandle,
)


class StubTap:
    def __init__(self, number: int) -> None:
        self.session = f"TAP{number}"
        self.sent: list[str] = []
        self.unanswered_bytes = 0

    def send(self, key: Hashable, method: str, params: dict[str, Any], session: str = "") -> None:
        self.sent.append(method)


class TappedDriver(HeldDriver):
    """A fake driver with taps that records which tabs are held."""

    def __init__(self) -> None:
        super().__init__(FakeBrowser(any_page))
        self.taps: dict[str, ProtocolEar] = {}
        self.held: list[tuple[str, str]] = []
        self.downloads: list[str] = []
        self.opening = asyncio.Event()
        self.opening.set()
        self.asked_for_taps = 0
        self.titles: dict[str, str] = {}

    async def version(self) -> dict[str, Any]:
        return {"product": "Fake/1"}

    async def targets(self) -> list[dict[str, Any]]:
        named = {one: {"title": title} for one, title in self.titles.items()}
        return [{"targetId": one, **named.get(one, {})} for one in self.browser.pages]

    async def open_tap(self, ear: ProtocolEar) -> ProtocolTap:
        self.asked_for_taps += 1
        await self.opening.wait()
        tap = StubTap(len(self.taps) + 1)
        self.taps[tap.session] = ear
        return tap

    def close_tap(self, tap: ProtocolTap) -> None:
        self.taps.pop(tap.session, None)

    async def start(self, report: Report) -> RunningBrowser:
        def holding(event: DriverEvent) -> Hold | None:
            hold = report(event)
            if hold is not None:
                assert isinstance(event, TabOpened)
                self.held += [(event.handle, tap.session) for tap in hold.taps]
            return hold

        return await super().start(holding)

    def release(self, tab: TabHandle, tap: ProtocolTap) -> None:
        if (tab, tap.session) in self.held:
            self.held.remove((tab, tap.session))

    def tab_of(self, frame: str) -> TabHandle | None:
        return TabHandle(frame)

    async def put_downloads(self, jar: str, folder: str) -> None:
        self.downloads.append(folder)


class Ear:
    def __init__(self, *, waits: bool = False) -> None:
        self.waits = waits
        self.tabs: list[str] = []
        self.gone: list[str] = []
        self.words: list[object] = []
        self.is_over = False

    def answered(self, key: Hashable, frame: bytes) -> None: ...

    def heard(self, session: str, frame: bytes) -> None: ...

    def tab_came(self, target: str) -> bool:
        self.tabs.append(target)
        return self.waits

    def tab_went(self, target: str) -> None:
        self.tabs.remove(target)
        self.gone.append(target)

    def paused(self, is_paused: bool) -> None:
        self.words.append(is_paused)

    def proxy_asked(self, context: str, site: str, challenge: str) -> bool:
        self.words.append((context, site, challenge))
        return True

    def ended(self) -> None:
        self.is_over = True


class Scene:
    def __init__(self, house: FakeHouse, driver: TappedDriver) -> None:
        self.house = house
        self.driver = driver
        self.operator: BrokerApi = Caller(house.broker, OPERATOR)

    async def session(self, name: str, **more: Any) -> str:
        """Its token."""
        await self.operator.call(ops.SessionOpen(session=name, **more))
        return (await self.operator.call(ops.SessionToken(session=name))).token

    async def seat(self, token: str, *, waits: bool = False) -> tuple[Seat, Ear]:
        ear = Ear(waits=waits)
        seat = await self.house.door.take_seat(token, ear)
        seat.show_tabs()
        return seat, ear

    async def tab(self, session: str) -> str:
        opened = await self.operator.call(ops.Tabs(action="new", session=session))
        assert opened.opened is not None
        return self.house.handle(opened.opened)

    def audit(self) -> str:
        return self.house.home.audit.read_text(encoding="utf-8")


@asynccontextmanager
async def scene(folder: Path, **more: Any) -> AsyncIterator[Scene]:
    async with fake_house(folder, **more) as house:
        driver = TappedDriver()
        house.broker.browsers[FAKE].driver = driver
        yield Scene(house, driver)
        await driver.stop()


async def test_clients_of_a_session_see_its_tabs_whoever_opened_them(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        mine, other = await s.session("mine"), await s.session("other")
        before = await s.tab("mine")
        (one, ear), (_, fellow), (_, stranger) = [
            await s.seat(token) for token in (mine, mine, other)
        ]
        assert ear.tabs == fellow.tabs == [before]
        opened = await one.open_tab(None)
        by_operator = await s.tab("mine")
        assert ear.tabs == fellow.tabs == [before, opened, by_operator]
        assert stranger.tabs == []
        assert one.owns_frame(opened)
        await one.close_tab(opened)
        assert fellow.gone == [opened]
        assert "tab opened by a protocol client" in s.audit()


async def test_a_popup_is_held_until_the_client_that_waits_for_it_releases_it(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        opener = await s.tab("mine")
        seat, ear = await s.seat(token, waits=True)
        await s.seat(token)
        await s.seat(await s.session("other"), waits=True)
        assert s.driver.held == [], "a tab that runs already is not held"
        jar = s.driver.browser.pages[TabHandle(opener)].jar
        popup = s.driver.browser.open_page(jar, opener=TabHandle(opener)).handle
        assert s.driver.held == [(popup, seat.root)]
        seat.release(popup)
        assert s.driver.held == []
        assert ear.tabs == [opener, popup]


async def test_a_popup_is_not_held_for_a_client_that_left(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        opener = await s.tab("mine")
        seat, _ = await s.seat(token, waits=True)
        await seat.close()
        jar = s.driver.browser.pages[TabHandle(opener)].jar
        s.driver.browser.open_page(jar, opener=TabHandle(opener))
        assert s.driver.held == []


async def test_listing_targets_shows_the_sessions_tabs_and_opens_no_seat(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        mine, other = await s.session("mine"), await s.session("other")
        tabs = [await s.tab("mine"), await s.tab("other")]
        for token, tab in zip((mine, other), tabs, strict=True):
            look = await s.house.door.look(token)
            assert await look.targets() == [{"targetId": tab}]
            assert await look.version() == {"product": "Fake/1"}
        assert s.driver.taps == {}
        assert "protocol client" not in s.audit()


async def test_the_list_of_targets_has_no_secret(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        tab = await s.tab("mine")
        s.house.broker.redactor.register("mail", "c4nary-value")
        s.driver.titles[tab] = "Draft c4nary-value"
        look = await s.house.door.look(token)
        assert await look.targets() == [{"targetId": tab, "title": "Draft [secret mail]"}]


async def test_the_tab_a_client_works_in_is_not_the_one_that_is_evicted(tmp_path: Path) -> None:
    async with scene(tmp_path, pool=2) as s:
        seat, ear = await s.seat(await s.session("mine"))
        first, second = await seat.open_tab(None), await seat.open_tab(None)
        seat.used(first)
        third = await seat.open_tab(None)
        assert ear.tabs == [first, third]
        assert ear.gone == [second]
        seat.used("no tab of ours")


async def test_only_the_sessions_own_tabs_can_be_closed(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        mine, _ = await s.session("mine"), await s.session("other")
        theirs = await s.tab("other")
        seat, _ear = await s.seat(mine)
        for target in (theirs, "no-such-target"):
            error = await error_of(TabGone, seat.close_tab(target))
            assert theirs not in str(error.to_wire())


async def test_tabs_of_clients_count_in_the_pool(tmp_path: Path) -> None:
    async with scene(tmp_path, pool=2) as s:
        mine, other = await s.session("mine"), await s.session("other")
        for _ in range(2):
            await s.tab("other")
        seat, _ = await s.seat(mine)
        await error_of(PoolFull, seat.open_tab(None))
        theirs, ear = await s.seat(other)
        opened = await theirs.open_tab(None)
        assert len(ear.tabs) == 2, "the session's own oldest tab made room"
        assert opened in ear.tabs


async def test_contexts_end_with_the_client_that_made_them(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        seat, _ = await s.seat(token)
        fellow, ear = await s.seat(token)
        context = await seat.make_context(None)
        assert context != seat.context
        tab = await seat.open_tab(context)
        own = await seat.open_tab(None)
        await error_of(JarUnavailable, fellow.open_tab(context))
        await error_of(JarUnavailable, fellow.remove_context(context))
        await seat.close()
        await seat.close()
        assert ear.tabs == [own]
        assert ear.gone == [tab]
        await until(lambda: len(s.house.state.jars) == 1)
        assert s.driver.downloads, "the session's downloads go to its folder again"


async def test_a_client_can_release_a_context_before_it_leaves(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        seat, ear = await s.seat(await s.session("mine"))
        context = await seat.make_context(None)
        await seat.open_tab(context)
        await seat.remove_context(context)
        assert ear.tabs == []
        await error_of(JarUnavailable, seat.open_tab(context))


async def test_a_client_is_asked_for_the_password_of_its_own_proxy_and_nobody_else_is(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        seat, ear = await s.seat(token)
        fellow, other = await s.seat(token)
        context = await seat.make_context("http://proxy.test:3128")
        plain = await seat.make_context(None)
        socks = await seat.make_context("socks5://proxy.test:1080")
        assert seat.own_proxy(context) == "http://proxy.test:3128"
        assert [seat.own_proxy(one) for one in (plain, socks, "no-such")] == [None] * 3
        assert fellow.own_proxy(context) is None
        (jar,) = [jar for jar in s.house.state.jars.values() if jar.handle == context]
        proxy = s.house.broker.browser(FAKE).jars.proxy(jar.id)
        assert proxy is not None
        assert proxy.ask("site.test:443", "Basic")
        assert (ear.words, other.words) == ([(context, "site.test:443", "Basic")], [])
        fellow.give_proxy_password(context, "Basic eve")
        assert proxy._password is None
        seat.give_proxy_password(context, "Basic ada")
        assert proxy._password == "Basic ada"


async def test_no_client_reaches_the_proxy_of_another_through_roosts_own_port(
    tmp_path: Path,
) -> None:
    """Roost would send the other client's password there."""
    async with scene(tmp_path) as s:
        seat, _ = await s.seat(await s.session("mine"))
        await seat.make_context("proxy.test:3128")
        (port,) = [jar.proxy_port for jar in s.house.state.jars.values() if jar.proxy_port]
        other, _ = await s.seat(await s.session("other"))
        for address in (f"127.0.0.1:{port}", f"http=[::1]:{port};https=x:1", f"socks5://x:{port}"):
            await error_of(JarUnavailable, other.make_context(address))
        await other.make_context(f"127.0.0.1:{port - 1}")


async def test_a_client_cannot_bypass_domain_lists_with_a_proxy(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        hello = replace(s.house.hello(), deny=("evil.test",), session=SessionId("listed"))
        admission = s.house.admit(hello)
        token = (await admission.api.call(ops.SessionToken())).token
        seat, _ = await s.seat(token)
        await error_of(JarUnavailable, seat.make_context("127.0.0.1:9"))
        with pytest.raises(UrlBlocked):
            seat.checked_url("https://evil.test/")
        assert seat.checked_url("https://good.test/") == "https://good.test/"


async def test_a_client_may_use_only_files_in_the_sessions_folders(tmp_path: Path) -> None:
    async with scene(tmp_path / "home") as s:
        seat, _ = await s.seat(await s.session("mine"))
        own = s.house.home.files / "mine"
        own.mkdir(parents=True)
        (own / "a.txt").write_text("a")
        assert seat.checked_upload(str(own / "a.txt")) == str(own / "a.txt")
        for path in ("/etc/passwd", str(s.house.home.path / "token"), str(own / "none")):
            with pytest.raises(BadRequest):
                seat.checked_upload(path)
        assert seat.checked_folder(str(own / "d")) == str(own / "d")
        for path in ("/etc", "/", str(s.house.home.path), "/tmp"):
            with pytest.raises(BadRequest):
                seat.checked_folder(path)


async def test_downloads_go_to_a_temporary_folder_that_a_client_made_for_them(
    tmp_path: Path,
) -> None:
    made, others = tmp_path / "made", tmp_path / "others"
    for folder in (made, others):
        folder.mkdir()
    (others / "work.py").write_text("others' work")
    (tmp_path / "link").symlink_to(others)
    async with scene(tmp_path / "home") as s:
        token = await s.session("mine")
        seat, _ = await s.seat(token)
        assert seat.checked_folder(str(made)) == str(made)
        (made / "download").write_text("what came")
        assert seat.checked_folder(str(made)) == str(made), "it is still the client's"
        again, _ = await s.seat(token)
        assert again.checked_folder(str(made)) == str(made), "also when it comes back"
        stranger, _ = await s.seat(await s.session("other"))
        for one, path in ((stranger, made), (seat, others), (seat, tmp_path / "link")):
            with pytest.raises(BadRequest):
                one.checked_folder(str(path))
        await s.operator.call(ops.SessionDispose(session="mine"))
        seat, _ = await s.seat(await s.session("mine"))
        with pytest.raises(BadRequest):
            seat.checked_folder(str(made))


async def test_a_client_that_waits_while_its_session_ends_gets_no_seat_in_the_next_of_that_name(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        s.driver.opening.clear()
        waiting = await started(s.house.door.take_seat(token, Ear()))
        await until(lambda: s.driver.asked_for_taps)
        await s.operator.call(ops.SessionDispose(session="mine"))
        s.house.clock.advance(1.0)
        await s.session("mine")
        s.driver.opening.set()
        await error_of(SessionGone, waiting)
        assert s.driver.taps == {}


async def test_the_end_of_the_session_or_of_the_browser_ends_the_client(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        token = await s.session("mine")
        seat, ear = await s.seat(token)
        _, lost = await s.seat(await s.session("other"))
        await s.operator.call(ops.SessionDispose(session="mine"))
        assert ear.is_over
        assert not lost.is_over
        assert seat.root not in s.driver.taps
        await error_of(SessionGone, seat.make_context(None))
        for tap in list(s.driver.taps.values()):
            tap.ended()
        assert lost.is_over
        await error_of(Unauthorized, s.house.door.take_seat(token, Ear()))


async def test_clients_are_told_when_the_person_pauses_the_session(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        _, ear = await s.seat(await s.session("mine"))
        await s.operator.call(ops.SessionPause(session="mine"))
        await s.operator.call(ops.SessionResume(session="mine"))
        assert ear.words[-2:] == [True, False]


async def test_a_connected_client_keeps_its_agent_alive_until_it_leaves(tmp_path: Path) -> None:
    async with scene(tmp_path) as s:
        seat, _ = await s.seat(await s.session("mine"))
        [agent] = s.house.state.agents
        for _ in range(5):
            s.house.clock.advance(60)
            s.house.door.sweep()
        assert agent in s.house.state.agents
        await seat.close()
        s.house.clock.advance(200)
        s.house.broker.hear(ev.TimePassed())
        assert agent not in s.house.state.agents


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_only_a_sessions_own_token_gets_a_seat(tmp_path: Path, token: str) -> None:
    async with scene(tmp_path) as s:
        await error_of(Unauthorized, s.house.door.take_seat(token, Ear()))
        operators = s.house.home.operator_token()
        await error_of(Unauthorized, s.house.door.take_seat(operators, Ear()))


async def test_a_browser_without_the_protocol_says_so(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        operator = Caller(house.broker, OPERATOR)
        await operator.call(ops.SessionOpen(session="mine"))
        token = (await operator.call(ops.SessionToken(session="mine"))).token
        await error_of(Unsupported, house.door.take_seat(token, Ear()))


async def test_a_tab_with_a_protocol_client_is_not_parked_for_the_fair_share(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, pool=4) as s:
        token = await s.session("mine")
        tabs = [await s.tab("mine") for _ in range(4)]
        seat, ear = await s.seat(token)
        waiter = s.house.admit()
        await waiter.api.call(ops.TabSpaceRequest())
        s.house.clock.advance(SHARE_SECONDS + 5)
        assert ear.tabs == tabs
        await seat.close()
        s.house.clock.advance(SHARE_RETRY_SECONDS)
        assert (await waiter.api.call(ops.TabSpaceStatus())).you_have_reservation
