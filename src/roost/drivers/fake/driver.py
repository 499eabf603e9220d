"""The driver of a ``FakeBrowser``. ``roost.testing.check_driver`` checks it like any driver."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from roost.drivers.base import (
    Arrival,
    BrowserEnded,
    Capabilities,
    Cookie,
    Group,
    OriginStorage,
    Picture,
    Report,
    Shot,
    Started,
    TabDied,
)
from roost.drivers.fake.browser import SHARED_JAR, FakeBrowser, FakePage
from roost.drivers.fake.no_pages import NoPages
from roost.errors import BrowserLost, JarUnavailable, TabCrashed, TabGone, Unsupported
from roost.vocabulary import JarPolicy, TabHandle

T = TypeVar("T")
VIEWPORT = (1280, 720)


class FakeDriver(NoPages):
    """Drives a browser in memory. Tests call ``kill`` and ``crash`` to make it fail.

    ``browser``: the browser to drive; by default a new one.
    """

    capabilities = Capabilities(page_work=False)

    def __init__(self, browser: FakeBrowser | None = None) -> None:
        self.browser = browser or FakeBrowser()

    async def start(self, report: Report) -> Started:
        browser = self.browser
        resumed, browser.is_running = browser.is_running, True
        browser.report = report
        jars = frozenset(jar for jar in browser.jars if jar != SHARED_JAR)
        return Started(
            version="Fake/1",
            pid=None,
            headless=True,
            resumed=resumed,
            tabs=frozenset(browser.pages),
            jars=jars,
        )

    async def stop(self) -> None:
        self._end("stopped", reported=False)

    def kill(self) -> None:
        """End the browser as ``kill -9`` does."""
        self._end("killed", reported=True)

    def crash(self, tab: TabHandle) -> None:
        """Crash the tab's page as if its process had died."""
        page = self._page(tab)
        page.crashed = True
        page.end(TabCrashed("The page's process died."))
        if self.browser.report is not None:
            self.browser.report(TabDied(tab))

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        self._check_running()
        if policy not in self.capabilities.jars:
            raise JarUnavailable(f"The fake browser has no {policy} jars.")
        return SHARED_JAR if policy is JarPolicy.SHARED else self.browser.new_jar()

    async def remove_jar(self, jar: str) -> None:
        self._check_running()
        for page in [page for page in self.browser.pages.values() if page.jar == jar]:
            self.browser.close_page(page.handle)
        if jar != SHARED_JAR:
            self.browser.jars.pop(jar, None)
            self.browser.storage.pop(jar, None)

    async def read_cookies(self, jar: str) -> list[Cookie]:
        sites = self._cookies(jar)
        return [
            Cookie(name=name, value=value, domain=site)
            for site, cookies in sites.items()
            for name, value in cookies.items()
        ]

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        sites = self._cookies(jar)
        for cookie in cookies:
            sites.setdefault(cookie.domain, {})[cookie.name] = cookie.value
        return []

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        sites = self._cookies(jar)
        for cookie in cookies:
            sites.get(cookie.domain, {}).pop(cookie.name, None)

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        self._cookies(jar)
        storage = self.browser.storage.get(jar, {})
        return [OriginStorage(one, tuple(storage.get(one, {}).items())) for one in origins]

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        page = self._live(tab)
        if page.origin != origin:
            return None
        return OriginStorage(origin, tuple(self.browser.stored(page).items()))

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        self._cookies(jar)
        for one in storage:
            self.browser.storage.setdefault(jar, {}).setdefault(one.origin, {}).update(one.items)
        return []

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        self._check_running()
        if jar not in self.browser.jars:
            raise JarUnavailable("That jar is gone.")
        return self.browser.new_page(jar).handle

    async def close_tab(self, tab: TabHandle) -> None:
        self._check_running()
        self.browser.close_page(tab)

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        page = self._page(tab)
        if page.crashed:
            page.crashed = False
            page.ended = asyncio.get_running_loop().create_future()
        status = await _unless_ended(page, self.browser.load(page, url))
        return Arrival(page.url, page.title, status)

    async def evaluate(
        self,
        tab: TabHandle,
        function: str,
        *,
        frame: str | None = None,
        ref: str | None = None,
    ) -> Any:
        page = self._live(tab)
        return await _unless_ended(page, self.browser.run(page, function))

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        self._live(tab)
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"{shot.format} pictures")
        width, height = (round(side * shot.scale) for side in VIEWPORT)
        make = _blank_png if shot.format == "png" else _blank_jpeg
        return Picture(make(width, height), f"image/{shot.format}", width, height)

    def _end(self, reason: str, *, reported: bool) -> None:
        browser = self.browser
        if not browser.is_running:
            return
        browser.is_running = False
        for page in browser.pages.values():
            page.end(BrowserLost("The browser ended."))
        browser.pages.clear()
        browser.jars = {SHARED_JAR: {}}
        browser.storage.clear()
        report, browser.report = browser.report, None
        if reported and report is not None:
            report(BrowserEnded(reason))

    def _cookies(self, jar: str) -> dict[str, dict[str, str]]:
        self._check_running()
        if jar not in self.browser.jars:
            raise JarUnavailable("That jar is gone.")
        return self.browser.jars[jar]

    def _check_running(self) -> None:
        if not self.browser.is_running:
            raise BrowserLost("The browser ended.")

    def _page(self, tab: TabHandle) -> FakePage:
        self._check_running()
        page = self.browser.pages.get(tab)
        if page is None:
            raise TabGone("There is no such tab.")
        return page

    def _live(self, tab: TabHandle) -> FakePage:
        page = self._page(tab)
        if page.crashed:
            raise TabCrashed("The page crashed.")
        return page


async def _unless_ended(page: FakePage, work: Coroutine[Any, Any, T]) -> T:
    """Return the work's result, or raise the page's error if the page ends first."""
    task = asyncio.get_running_loop().create_task(work, name=f"fake {page.handle}")
    either: set[asyncio.Future[Any]] = {task, page.ended}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise page.ended.result()
        return task.result()
    finally:
        task.cancel()


def _blank_jpeg(width: int, height: int) -> bytes:
    """Return a valid, all-white greyscale JPEG. Its first block is white; all others repeat it."""
    blocks = -(-width // 8) * -(-height // 8)
    # DC codes: "0" means no change, "10" a change of 7 bits. The AC code "0" ends a block.
    bits = "10" + "1111111" + "0" + "00" * (blocks - 1)
    bits += "1" * (-len(bits) % 8)
    segments = (
        (0xDB, b"\x00" + b"\x08" * 64),
        (0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"),
        (0xC4, b"\x00" + bytes([1, 1] + [0] * 14) + b"\x00\x07"),
        (0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\x00"),
        (0xDA, b"\x01\x01\x00\x00\x3f\x00"),
    )
    head = b"".join(struct.pack(">BBH", 0xFF, kind, len(d) + 2) + d for kind, d in segments)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big")
    return b"\xff\xd8" + head + scan + b"\xff\xd9"


def _blank_png(width: int, height: int) -> bytes:
    """Return a valid, all-white PNG, because callers decode their pictures."""
    rows = (b"\0" + b"\xff" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
