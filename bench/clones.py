"""Measure opening a session with the person's logins: a clone of 500 cookies over 10 sites.

The client library opens the session and a blank page. Bare CDP makes a context and a page in the
same run for comparison.
"""

from __future__ import annotations

import asyncio
import statistics
import time

from bench.raw_chromium import raw_chromium
from bench.report import Row
from bench.site import browser_home
from roost.api import operations as ops
from roost.client.client import connect
from roost.drivers.base import Cookie, JarContents
from roost.profiles.store import Profile, ProfileStore
from roost.testing.sealer import sealer_of
from roost.vocabulary import JarPolicy

SAMPLES = 20
COOKIES, SITES = 500, 10
BLANK = "about:blank"
NEXT_DECADE = 2_000_000_000.0


def rows() -> list[Row]:
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    with browser_home("chromium") as home, raw_chromium() as raw:
        ProfileStore(home.profiles, sealer_of(home.path)).put(_profile(), for_any_agent=True)
        async with await connect(home=home, name="bench") as agent:
            await agent.call(ops.Navigate(url=BLANK))
            clone = ops.SessionOpen(
                session="clone", jar=JarPolicy.CLONE, profile="bench", url=BLANK
            )
            ours, bare = [], []
            for _ in range(SAMPLES):
                before = time.perf_counter()
                await agent.call(clone)
                ours.append(time.perf_counter() - before)
                await agent.call(ops.SessionDispose(session="clone"))
                before = time.perf_counter()
                raw.page(BLANK)
                bare.append(time.perf_counter() - before)
    mine, floor = statistics.median(ours) * 1000, statistics.median(bare) * 1000
    return [
        Row(
            "open a session with a clone of 500 cookies, beyond a bare context and page, p50",
            mine - floor,
            "ms",
            limit=150,
            note=f"{mine:.0f} ms to {floor:.0f}",
        )
    ]


def _profile() -> Profile:
    cookies = tuple(
        Cookie(
            name=f"cookie-{number}",
            value="v" * 40,
            domain=f".site-{number % SITES}.example",
            expires=NEXT_DECADE,
            secure=True,
        )
        for number in range(COOKIES)
    )
    return Profile(name="bench", source="bench", imported_at=0.0, contents=JarContents(cookies))
