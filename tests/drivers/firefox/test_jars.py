"""How a jar's cookies are found (roost.drivers.firefox.jars), with a scripted browser."""

from __future__ import annotations

import asyncio
from typing import Any

from roost.drivers.base import SHARED_JAR
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.jars import (
    SITES_KEPT,
    Jars,
)
from roost.testing.waits import answer_of, started
from tests.drivers.scripted_link import Heard, ScriptedLink


def played() -> tuple[ScriptedLink, Jars]:
    link, heard = ScriptedLink(), Heard()
    bidi = BidiConnection(link, heard.word, heard.end, lambda method, params: None)
    bidi.begin()
    return link, Jars(bidi, None)


def cookie(name: str, value: str = "v") -> dict[str, Any]:
    return {
        "name": name, "value": {"type": "string", "value": value}, "domain": "site.example",
        "path": "/", "size": len(name + value), "httpOnly": False, "secure": True,
        "sameSite": "none",
    }  # fmt: skip


async def test_cookies_are_looked_for_at_the_sites_visited_last() -> None:
    link, jars = played()
    for number in range(SITES_KEPT + 50):
        jars.visited(SHARED_JAR, f"https://s{number}.example/page")
        jars.visited(SHARED_JAR, "https://again.example/")
    reading = await started(jars.read_cookies(SHARED_JAR))
    for asked in link.sent:
        link.says(type="success", id=asked["id"], result={"cookies": []})

    assert await answer_of(reading) == []
    sites = [one["params"]["partition"].get("sourceOrigin") for one in link.sent]
    assert len(sites) == 2 + SITES_KEPT, "twice for the jar, once for each site"
    assert sites[-1] == "https://again.example"
    assert "https://s0.example" not in sites


async def test_a_cookie_is_read_once_for_each_partition_that_has_it() -> None:
    link, jars = played()
    for site in ("https://one.example/", "https://www.one.example/", "https://two.example/"):
        jars.visited(SHARED_JAR, site)
    reading = await started(jars.read_cookies(SHARED_JAR))
    plain, alike, one, two = (cookie(name) for name in ("plain", "alike", "one", "two"))
    answers = [
        [plain, alike],
        [plain, alike, alike, one, two, cookie("of a site that is not known")],
        [plain, alike, alike, one],
        [plain, alike, alike, one],  # the same site, by another address
        [two, cookie("one", "since then")],
    ]
    for asked, cookies in zip(link.sent, answers, strict=True):
        link.says(type="success", id=asked["id"], result={"cookies": cookies})

    assert [(each.name, each.partition_key) for each in await answer_of(reading)] == [
        ("plain", None),
        ("alike", None),
        ("alike", "https://one.example"),
        ("one", "https://one.example"),
        ("two", "https://two.example"),
    ]


async def test_others_are_served_between_the_cookies_of_two_sites() -> None:
    link, jars = played()
    sites = 50
    for number in range(sites):
        jars.visited(SHARED_JAR, f"https://s{number}.site.example/")
    reading = await started(jars.read_cookies(SHARED_JAR))
    cookies = [cookie(str(number)) for number in range(170)]
    for asked in link.sent:
        link.says(type="success", id=asked["id"], result={"cookies": cookies})
    loop, turns = asyncio.get_running_loop(), 0

    def other() -> None:
        nonlocal turns
        turns += 1
        if not reading.done():
            loop.call_soon(other)

    other()
    assert len(await answer_of(reading)) == 170
    assert turns > sites
