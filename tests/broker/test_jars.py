"""What a browser refuses, pages that lie about their storage, and what restarts leave behind.

Cloning itself is held by ``roost.testing.broker_jars``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.broker.jars import STORAGE_CHARS, _believed, _origin
from roost.drivers.base import Cookie, JarContents
from roost.drivers.fake import FakeBrowser
from roost.errors import ProfileNotFound
from roost.profiles.store import Profile, ProfileStore
from roost.testing.house import FakeHouse, HeldDriver, fake_house
from roost.testing.waiting import until
from roost.vocabulary import BrowserId, JarPolicy, SessionId
from roost.wire.hello import ClientKind

URL = "https://site.test/"
CLONE = ops.SessionOpen(session="mine", jar=JarPolicy.CLONE, profile="work", url=URL)


def put_profile(house: FakeHouse, *cookies: Cookie) -> None:
    contents = JarContents(cookies or (Cookie(name="login", value="1", domain="site.test"),))
    ProfileStore(house.home.profiles).put(
        Profile(name="work", source="by hand", imported_at=0.0, contents=contents)
    )


class Choosy(HeldDriver):
    """Refuses cookies without a value."""

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        await super().write_cookies(jar, [cookie for cookie in cookies if cookie.value])
        return [cookie for cookie in cookies if not cookie.value]


async def test_the_caller_is_told_what_the_browser_refused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        good, bad = (Cookie(name=v or "bad", value=v, domain="site.test") for v in ("good", ""))
        put_profile(house, good, bad)
        house.broker.browsers[BrowserId("fake")].driver = Choosy(house.browser)
        agent = house.admit()
        view = await agent.api.call(CLONE)
        told = [*(view.notes or []), *((await agent.api.call(ops.Ping())).notes or [])]
        listed = await agent.api.call(ops.Cookies(session="mine"))

    assert told == ["Of profile work, the browser refused 1 cookies and 0 sites' storage."]
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


@pytest.mark.parametrize(
    "claim", [None, 3, "abc", [["only one"]], [["k", "v" * (STORAGE_CHARS + 1)]], {"abc": 1}]
)
def test_a_page_that_lies_about_its_storage_is_not_believed(claim: object) -> None:
    assert _believed(claim) is None


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
def test_an_origin_is_spelt_as_pages_spell_it(url: str, origin: str | None) -> None:
    assert _origin(url) == origin


async def test_an_agent_started_with_a_profile_that_is_not_there_is_not_let_in(
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


# --- restarts ------------------------------------------------------------------------------------


async def test_what_a_dead_broker_left_is_collected_in_both_directions(tmp_path: Path) -> None:
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
