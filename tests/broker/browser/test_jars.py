"""What a browser refuses, which storage of pages is backed up, and what restarts leave behind.

``roost.testing.broker_jars`` checks cloning itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.browser import jars
from roost.broker.browser.backup_limits import STORAGE_CHARS
from roost.broker.browser.jar_backups import AT_MOST_EVERY
from roost.broker.browser.jars import _origin
from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.drivers.fake import FakeBrowser
from roost.errors import ProfileNotFound, TabGone, Timeout
from roost.profiles.store import Profile, ProfileStore
from roost.testing.house import FakeHouse, HeldDriver, fake_house
from roost.testing.sealer import sealer_of
from roost.testing.waits import until
from roost.vocabulary import BrowserId, JarPolicy, SessionId, TabHandle
from roost.wire.hello import ClientKind

URL = "https://site.test/"
CLONE = ops.SessionOpen(session="mine", jar=JarPolicy.CLONE, profile="work", url=URL)


def put_profile(house: FakeHouse, *cookies: Cookie) -> None:
    contents = JarContents(cookies or (Cookie(name="login", value="1", domain="site.test"),))
    ProfileStore(house.home.profiles, sealer_of(house.home.path)).put(
        Profile(name="work", source="by hand", imported_at=0.0, contents=contents),
        for_any_agent=True,
    )


class Choosy(HeldDriver):
    """A browser that refuses cookies without a value."""

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        await super().write_cookies(jar, [cookie for cookie in cookies if cookie.value])
        return [cookie for cookie in cookies if not cookie.value]


async def test_the_reply_lists_what_the_browser_refused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        good, bad = (Cookie(name=v or "bad", value=v, domain="site.test") for v in ("good", ""))
        put_profile(house, good, bad)
        house.broker.browsers[BrowserId("fake")].driver = Choosy(house.browser)
        agent = house.admit()
        view = await agent.api.call(CLONE)
        told = [*(view.notes or []), *((await agent.api.call(ops.Ping())).notes or [])]
        listed = await agent.api.call(ops.Cookies(session="mine"))

    (line,) = told
    assert line.startswith("Of profile work, the browser did not take 1 cookies. Roost keeps that")
    assert [one.name for one in listed.cookies] == ["good"]


async def test_cookies_that_have_expired_are_not_cloned(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        now = house.clock.now()
        ages = {"over": now - 1, "valid": now + 1000, "session": None}
        put_profile(
            house,
            *(Cookie(name=n, value="1", domain="site.test", expires=e) for n, e in ages.items()),
        )
        agent = house.admit()
        await agent.api.call(CLONE)
        listed = await agent.api.call(ops.Cookies(session="mine"))

    assert [one.name for one in listed.cookies] == ["valid", "session"]


async def test_storage_above_the_browsers_limit_is_not_backed_up(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        await house.admit().api.call(ops.Navigate(url=URL))
        (page,) = house.browser.pages.values()
        jars = house.broker.browser(BrowserId("fake")).jars
        (jar,) = house.broker.state.jars
        house.browser.stored(page)["small"] = "v"
        expected = OriginStorage("https://site.test", (("small", "v"),))
        assert (await jars.look(jar)).storage == (expected,)
        house.browser.stored(page)["huge"] = "v" * STORAGE_CHARS
        assert (await jars.look(jar)).storage == ()


async def test_storage_is_not_filed_under_an_origin_that_the_page_has_left(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        await house.admit().api.call(ops.Navigate(url=URL))
        (page,) = house.browser.pages.values()
        page.url = "https://other.test/"  # the row does not know it yet
        house.browser.stored(page)["planted"] = "v"
        (jar,) = house.broker.state.jars
        jars = house.broker.browser(BrowserId("fake")).jars
        assert (await jars.look(jar)).storage == ()


async def test_a_page_that_could_not_be_read_is_read_again_without_another_action(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        await house.admit().api.call(ops.Navigate(url=URL))
        (page,) = house.browser.pages.values()
        (jar,) = house.broker.state.jars
        house.clock.advance(AT_MOST_EVERY)
        await until(lambda: house.broker.jar_backups.kept(jar))
        house.browser.stored(page)["name"] = "value"
        read, reads = house.driver.read_page_storage, 0

        async def busy_at_first(tab: TabHandle, origin: str) -> OriginStorage | None:
            nonlocal reads
            reads += 1
            return None if reads == 1 else await read(tab, origin)

        monkeypatch.setattr(house.driver, "read_page_storage", busy_at_first)
        house.broker.jar_backups.may_have_changed(jar)
        house.clock.advance(AT_MOST_EVERY)
        await until(lambda: reads == 1)
        expected = (OriginStorage("https://site.test", (("name", "value"),)),)

        def is_kept() -> bool:
            house.clock.advance(AT_MOST_EVERY)
            kept = house.broker.jar_backups.kept(jar)
            return kept is not None and kept.storage == expected

        await until(is_kept)


async def test_storage_is_read_from_any_page_of_the_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        await agent.api.call(ops.Tabs(action="new", url=URL))
        _, busy = house.browser.pages
        house.browser.stored(house.browser.pages[busy])["name"] = "value"
        read = house.driver.read_page_storage

        async def unless_busy(tab: TabHandle, origin: str) -> OriginStorage | None:
            return None if tab == busy else await read(tab, origin)

        monkeypatch.setattr(house.driver, "read_page_storage", unless_busy)
        (jar,) = house.broker.state.jars
        looked = await house.broker.browser(BrowserId("fake")).jars.look(jar)
        assert looked.storage == (OriginStorage("https://site.test", (("name", "value"),)),)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.test/x?y", "https://a.test"),
        ("http://me:secret@a.test:8080/", "http://a.test:8080"),
        ("http://a.test:80/", "http://a.test"),
        ("https://A.test:443/", "https://a.test"),
        ("http://[::1]:9/", "http://[::1]:9"),
        ("about:blank", None),
        ("http://a.test:x/", None),
        ("data:text/html,x", None),
    ],
)
def test_an_origin_is_spelled_as_in_location_origin(url: str, origin: str | None) -> None:
    assert _origin(url) == origin


async def test_an_agent_started_with_a_missing_profile_is_refused(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        hello = house.hello()
        with pytest.raises(ProfileNotFound):
            house.admit(replace(hello, jar=JarPolicy.CLONE, profile="work"))
        put_profile(house)
        agent = house.admit(replace(hello, jar=JarPolicy.CLONE, profile="work"))
        await agent.api.call(ops.Navigate(url=URL))
        got = await agent.api.call(ops.Evaluate(function="() => document.cookie"))

    assert got.value == "login=1"


@pytest.mark.parametrize("step", ["may_make", "may_fill"])
async def test_a_call_times_out_if_making_the_jar_hangs_and_the_next_call_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    for limit in ("MAKE_SECONDS", "CLEAN_UP_SECONDS"):
        monkeypatch.setattr(jars, limit, 0.05)
    async with fake_house(tmp_path) as house:
        put_profile(house)
        agent = house.admit()
        getattr(house.driver, step).clear()
        with pytest.raises((Timeout, TabGone)):
            await agent.api.call(CLONE)
        getattr(house.driver, step).set()
        await agent.api.call(CLONE)
        got = await agent.api.call(ops.Evaluate(function="() => document.cookie", session="mine"))
        await until(lambda: len(house.browser.jars) == 2)  # the browser's own, and this one

    assert got.value == "login=1"


# --- restarts ------------------------------------------------------------------------------------


async def test_leftovers_of_a_dead_broker_are_removed_from_browser_and_journal(
    tmp_path: Path,
) -> None:
    browser = FakeBrowser()
    async with fake_house(tmp_path, browser=browser) as house:
        put_profile(house)
        operator = house.admit(house.hello(ClientKind.CLI))
        for name in ("kept", "lost"):
            order = ops.SessionOpen(
                session=name, jar=JarPolicy.CLONE, profile="work", url=URL, named=True
            )
            await operator.api.call(order)
        (kept, lost) = (house.state.jar_of(SessionId(name)) for name in ("kept", "lost"))
        assert kept is not None
        assert lost is not None
        assert lost.handle is not None
    # The browser lost one jar that is recorded, and has one that is not.
    del browser.jars[lost.handle]
    for page in [page for page in browser.pages.values() if page.jar == lost.handle]:
        browser.pages.pop(page.handle)
    stray = browser.new_jar()
    (house.broker.files / "nobody").mkdir(parents=True)
    async with fake_house(tmp_path, browser=browser) as house:
        operator = house.admit(house.hello(ClientKind.CLI))
        await operator.api.call(ops.BrowserStart())
        await until(lambda: stray not in browser.jars)
        assert kept.handle in browser.jars
        assert not (house.broker.files / "nobody").exists()
        again = await operator.api.call(ops.Tabs(action="new", session="lost", url=URL))
        got = await operator.api.call(
            ops.Evaluate(function="() => document.cookie", tab=again.opened, session="lost")
        )

    assert got.value == "login=1", "the clone was made anew"
