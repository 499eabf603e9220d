"""All attributes of a cookie are unchanged after writing it to a real browser and reading it
back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roost.drivers.base import Cookie, Driver, OriginStorage
from roost.vocabulary import JarPolicy
from tests.drivers.managed_harness import (
    ChromiumUnderTest,
    FirefoxUnderTest,
    ManagedHarness,
    managed_harness,
)
from tests.support.local_web import Answer, local_web

pytestmark = pytest.mark.browser

HOST_ONLY = Cookie(name="host", value="1", domain="a.example", same_site="Lax")
WHOLE_DOMAIN = Cookie(
    name="dom",
    value="2",
    domain=".a.example",
    path="/x",
    http_only=True,
    secure=True,
    same_site="Strict",
)
UNSAID = Cookie(name="unsaid", value="3", domain="a.example")
EMBEDDED = Cookie(
    name="part",
    value="4",
    domain="ads.example",
    secure=True,
    same_site="None",
    partition_key="https://shop.example",
)
SAME_BUT_NOT_APART = Cookie(
    name="part", value="5", domain="ads.example", secure=True, same_site="None"
)
TOO_LONG = Cookie(name="long", value="x" * 5000, domain="a.example")
GOOD = [HOST_ONLY, WHOLE_DOMAIN, UNSAID, EMBEDDED, SAME_BUT_NOT_APART]


@pytest.fixture(scope="module", params=[ChromiumUnderTest, FirefoxUnderTest])
def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ManagedHarness[ChromiumUnderTest | FirefoxUnderTest]]:
    with managed_harness(tmp_path_factory.mktemp("home"), request.param) as harness:
        yield harness


async def test_cookies_come_out_as_they_went_in(
    harness: ManagedHarness[ChromiumUnderTest | FirefoxUnderTest],
) -> None:
    async with harness.guest(lambda event: None) as driver:
        await _check(driver)


async def _check(driver: Driver) -> None:
    jar = await driver.make_jar(JarPolicy.CLONE)
    refused = await driver.write_cookies(jar, [*GOOD, TOO_LONG])
    read = await driver.read_cookies(jar)

    assert refused == [TOO_LONG], "and it kept none of the others out"
    assert sorted(read, key=_order) == sorted(GOOD, key=_order)
    await driver.delete_cookies(jar, [EMBEDDED, HOST_ONLY])
    left = {(one.name, one.value) for one in await driver.read_cookies(jar)}
    assert left == {("dom", "2"), ("unsaid", "3"), ("part", "5")}

    storage = [
        OriginStorage("https://a.example", (("k", "v"),)),
        OriginStorage("no origin", (("k", "v"),)),
        OriginStorage("https://big.example", (("k", "v" * 6_000_000),)),
    ]
    assert await driver.write_storage(jar, storage) == storage[1:], "no place, and no room"


SET_PARTITIONED = "() => { document.cookie = 'apart=1; Secure; Partitioned; max-age=6000' }"
COOKIES = "() => document.cookie.split('; ').sort().join('; ')"


async def test_a_page_has_each_cookie_once_however_often_its_jar_is_filled_again(
    harness: ManagedHarness[ChromiumUnderTest | FirefoxUnderTest],
) -> None:
    async with harness.guest(lambda event: None) as driver:
        kept: list[Cookie] = []
        for value in ("first", "second", "third"):
            jar = await driver.make_jar(JarPolicy.FRESH)
            assert await driver.write_cookies(jar, kept) == []
            tab = await driver.open_tab(jar)
            await driver.page(tab).navigate(harness.url("/"))
            await driver.page(tab).evaluate(SET_PARTITIONED)
            await driver.page(tab).evaluate(
                f"() => {{ document.cookie = 'who={value}; max-age=6000' }}"
            )
            assert await driver.page(tab).evaluate(COOKIES) == f"apart=1; who={value}"
            kept = await driver.read_cookies(jar)
            assert {(one.name, one.value, one.partition_key is None) for one in kept} == {
                ("who", value, True),
                ("apart", "1", False),
            }


def _order(cookie: Cookie) -> tuple[str, str]:
    return cookie.name, cookie.value


WORKER = b"""
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
const page = "<script>localStorage.setItem('ran', 'yes')</script>";
const answer = () => new Response(page, { headers: { "Content-Type": "text/html" } });
addEventListener("fetch", (event) => event.respondWith(answer()));
"""
REGISTER = """async () => {
  localStorage.setItem("k", "v");
  const workers = navigator.serviceWorker;
  const controlled = new Promise((done) => workers.addEventListener("controllerchange", done));
  await workers.register("/worker.js");
  await (workers.controller || controlled);
}"""


async def test_no_script_of_a_site_runs_when_its_storage_is_read(
    harness: ManagedHarness[ChromiumUnderTest | FirefoxUnderTest],
) -> None:
    """This holds even if a service worker of the site would answer the request."""
    with local_web() as web:
        web.serve(Answer(WORKER, kind="text/javascript"), "/worker.js")
        async with harness.guest(lambda event: None) as driver:
            jar = await driver.make_jar(JarPolicy.FRESH)
            tab = await driver.open_tab(jar)
            await driver.page(tab).navigate(web.page("here"))
            await driver.page(tab).evaluate(REGISTER)
            await driver.page(tab).navigate("about:blank")
            read = await driver.read_storage(jar, [web.base])

    assert read == [OriginStorage(web.base, (("k", "v"),))]
