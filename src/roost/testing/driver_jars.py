"""A part of ``check_driver``: writing to jars and reading from them."""

from __future__ import annotations

from urllib.parse import urlsplit

from roost.drivers.base import Cookie, OriginStorage
from roost.drivers.events import (
    TabClosed,
    TabOpened,
)
from roost.errors import JarUnavailable
from roost.testing.driver_rig import COOKIES, DriverRig, jar_check
from roost.testing.waits import error_of
from roost.vocabulary import JarPolicy

STORED = "() => Object.entries(localStorage)"


def _host(rig: DriverRig) -> str:
    return urlsplit(rig.url("/")).hostname or ""


def _origin(rig: DriverRig) -> str:
    return rig.url("/").removesuffix("/")


@jar_check
async def a_jar_has_what_it_was_filled_with_and_no_other_jar_does(rig: DriverRig) -> None:
    driver, host, origin = rig.driver, _host(rig), _origin(rig)
    jar, other = await driver.make_jar(JarPolicy.CLONE), await rig.fresh_jar()
    cookies = [Cookie(name=name, value=f"of {name}", domain=host) for name in ("one", "two")]
    items = (("plain", "value"), ("ünï", "cödé ☃"))
    storage = [OriginStorage(origin, items), OriginStorage("https://away.test", (("k", "v"),))]
    assert await driver.write_cookies(jar, cookies) == []
    assert await driver.write_storage(jar, storage) == []
    tab, elsewhere = await rig.tab("/", jar=jar), await rig.tab("/", jar=other)
    assert sorted((await rig.evaluate(tab, COOKIES)).split("; ")) == ["one=of one", "two=of two"]
    assert sorted(await rig.evaluate(tab, STORED)) == sorted(map(list, items))
    assert await rig.evaluate(elsewhere, COOKIES) == ""
    assert await rig.evaluate(elsewhere, STORED) == []
    seen = await driver.read_page_storage(tab, origin)
    assert seen is not None
    assert (seen.origin, sorted(seen.items)) == (origin, sorted(items))
    assert await driver.read_page_storage(tab, "https://away.test") is None
    origins = [origin, "https://away.test"]
    read = await driver.read_storage(jar, origins)
    assert [(one.origin, sorted(one.items)) for one in read] == [
        (one.origin, sorted(one.items)) for one in storage
    ]
    assert [one.items for one in await driver.read_storage(other, origins)] == [(), ()]
    await driver.delete_cookies(jar, cookies[:1])
    assert [cookie.name for cookie in await driver.read_cookies(jar)] == ["two"]
    # The driver does not report the pages that it needed for this.
    told = [e for e in rig.reports.events if isinstance(e, TabOpened | TabClosed)]
    assert told == []


@jar_check
async def a_removed_jar_can_neither_be_filled_nor_read(rig: DriverRig) -> None:
    jar = await rig.fresh_jar()
    await rig.driver.remove_jar(jar)
    cookie = Cookie(name="n", value="v", domain=_host(rig))
    for call in (
        rig.driver.read_cookies(jar),
        rig.driver.write_cookies(jar, [cookie]),
        rig.driver.delete_cookies(jar, [cookie]),
        rig.driver.read_storage(jar, [_origin(rig)]),
        rig.driver.write_storage(jar, [OriginStorage(_origin(rig), (("k", "v"),))]),
    ):
        await error_of(JarUnavailable, call)
