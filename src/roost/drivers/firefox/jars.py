"""Jars over BiDi are user contexts, with their cookies, proxy, download folder and page size.

https://w3c.github.io/webdriver-bidi/#user-contexts
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from roost.drivers.base import SHARED_JAR, Cookie
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.cookies import cookie_from, cookie_to, partition
from roost.errors import JarUnavailable
from roost.vocabulary import JarPolicy

logger = logging.getLogger(__name__)
"""BiDi's name of the browser's own user context."""
SITES_KEPT = 200
"""Remember this many most recently visited sites of a jar. Each site costs one command whenever
the jar's cookies are read."""
UNPARTITIONED = "moz-extension://00000000-0000-4000-8000-000000000000"
"""With this as the site, Firefox returns only unpartitioned cookies, because it partitions nothing
for extension pages. Without a site, Firefox returns the cookies of all partitions."""
ARRIVING = ".arriving"
"""The folder for unfinished downloads, inside the folder of the finished ones."""


class Jars:
    """The jars of one browser. ``viewport``: size of new pages, or None to leave it alone."""

    def __init__(self, bidi: BidiConnection, viewport: tuple[int, int] | None) -> None:
        self.known: set[str] = set()
        self._sites: dict[str, dict[str, None]] = {}
        """The visited sites of each jar. Cookies may be partitioned by them, and Firefox does not
        say by which site a cookie is partitioned."""
        self._bidi = bidi
        self._viewport = viewport

    async def learn(self) -> None:
        """Ask Firefox for its jars. ``known`` then has all except the shared jar."""
        there = await self._bidi.call("browser.getUserContexts")
        self.known = {one["userContext"] for one in there["userContexts"]} - {SHARED_JAR}

    def check(self, jar: str) -> None:
        if jar != SHARED_JAR and jar not in self.known:
            raise JarUnavailable("That jar is gone.")

    async def make(self, policy: JarPolicy, proxy: str | None, downloads: str | None) -> str:
        if policy is JarPolicy.SHARED:
            if proxy is not None:
                raise JarUnavailable("The browser's own jar cannot have domain lists of its own.")
            await self.furnish(SHARED_JAR, downloads)
            return SHARED_JAR
        options: Json = {}
        if proxy is not None:
            # Firefox uses this proxy for every scheme, also for WebSockets and for this machine.
            options["proxy"] = {"proxyType": "manual", "httpProxy": proxy}
        made = await self._bidi.call("browser.createUserContext", options)
        jar = str(made["userContext"])
        self.known.add(jar)
        await self.furnish(jar, downloads)
        return jar

    async def furnish(self, jar: str, downloads: str | None) -> None:
        """Set the jar's download folder and page size."""
        behavior: Json = {"type": "denied"}
        if downloads is not None:
            # Firefox uses the server's file names, so keep these apart from the final files.
            arriving = os.path.join(downloads, ARRIVING)
            os.makedirs(arriving, mode=0o700, exist_ok=True)
            behavior = {"type": "allowed", "destinationFolder": arriving}
        where: Json = {"userContexts": [jar]}
        how = {"downloadBehavior": behavior, **where}
        told = [self._bidi.call("browser.setDownloadBehavior", how)]
        if self._viewport is not None:
            width, height = self._viewport
            size = {"viewport": {"width": width, "height": height}, **where}
            told.append(self._bidi.call("browsingContext.setViewport", size))
        await asyncio.gather(*told)

    async def remove(self, jar: str) -> None:
        if jar not in self.known:
            return
        self.known.discard(jar)
        self._sites.pop(jar, None)
        try:
            await self._bidi.call("browser.removeUserContext", {"userContext": jar})
        except BidiError as error:
            logger.debug("jar %s was gone: %s", jar, error)

    async def read_cookies(self, jar: str) -> list[Cookie]:
        """Return the jar's cookies.

        Firefox does not say which cookies are partitioned. So ask for the unpartitioned cookies,
        and then for those of each visited site. A partitioned cookie of an unknown site is left
        out: without its site it would be written back as another cookie.
        """
        self.check(jar)
        sites = list(self._sites.get(jar, {}))
        asked = [partition(jar, UNPARTITIONED), partition(jar)]
        asked += [partition(jar, site) for site in sites]
        calls = (self._bidi.call("storage.getCookies", {"partition": one}) for one in asked)
        plain, every, *by_site = await asyncio.gather(*calls)
        unpartitioned = _counted(plain)
        await _others_turn()
        left = _counted(every)
        left.subtract(unpartitioned)
        cookies = list(unpartitioned.elements())
        for site, found in zip(sites, by_site, strict=True):
            await _others_turn()
            # Firefox adds the unpartitioned cookies that this site's own pages have. And an earlier
            # site may be the same one, by another address.
            for cookie, count in _counted(found).items():
                of_site = min(count - unpartitioned[cookie], left[cookie])
                if of_site > 0:
                    left[cookie] -= of_site
                    cookies += [replace(cookie, partition_key=site)] * of_site
        return cookies

    def visited(self, jar: str, url: str) -> None:
        """Remember a visited site: cookies of embedded sites may be partitioned by it."""
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname is not None:
            sites, site = self._sites.setdefault(jar, {}), f"{parts.scheme}://{parts.hostname}"
            sites.pop(site, None)
            sites[site] = None
            if len(sites) > SITES_KEPT:
                del sites[next(iter(sites))]

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        """Write all cookies at once. Return the refused ones; the others are written."""
        self.check(jar)
        for cookie in cookies:
            if cookie.partition_key is not None:
                self.visited(jar, cookie.partition_key)
        written = [
            self._bidi.call(
                "storage.setCookie",
                {"cookie": cookie_to(cookie), "partition": partition(jar, cookie.partition_key)},
            )
            for cookie in cookies
        ]
        answers = await asyncio.gather(*written, return_exceptions=True)
        failures = [one for one in answers if isinstance(one, BaseException)]
        for failure in failures:
            if not isinstance(failure, BidiError):
                raise failure
        return [one for one, answer in zip(cookies, answers, strict=True) if answer in failures]

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        self.check(jar)
        for cookie in cookies:
            which = {"name": cookie.name, "domain": cookie.domain, "path": cookie.path}
            site = cookie.partition_key or UNPARTITIONED
            where = {"filter": which, "partition": partition(jar, site)}
            await self._bidi.call("storage.deleteCookies", where)


def _counted(answer: Json) -> Counter[Cookie]:
    """The cookies of an answer, without their partitions. The same cookie may be in several."""
    return Counter(map(cookie_from, answer["cookies"]))


async def _others_turn() -> None:
    """Let the event loop serve others. Each site's cookies may have 4 MiB, and there may be 200
    sites (``SITES_KEPT``)."""
    others_served = asyncio.Event()
    asyncio.get_running_loop().call_soon(others_served.set)
    await others_served.wait()
