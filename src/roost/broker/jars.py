"""The jars of one browser: made and filled at first use, looked into, removed.

A jar is recorded before it is made and forgotten after it is gone, by the core. Here it is seen to
that whatever happens in between, to the session, the browser or the caller, leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roost.broker import downloads
from roost.broker.clock import Clock
from roost.broker.proxy import LOOPBACK, FilteringProxy
from roost.broker.tasks import Tasks
from roost.core import events as ev
from roost.core.model import Jar, Session, TabState
from roost.core.state import State
from roost.drivers.base import Driver, JarContents, OriginStorage, Tapped
from roost.errors import JarUnavailable, RoostError, SessionGone
from roost.vocabulary import JarId, JarPolicy, SessionId, TabHandle

logger = logging.getLogger(__name__)
STORAGE_OF_PAGE = "() => Object.entries(localStorage)"
PAGE_SECONDS = 1.0
"""A page that does not say by then what it stores is asked another time."""
ORIGINS_KEPT = 100
STORAGE_CHARS = 10_000_000
"""Browsers let an origin keep less; a page that claims more is not believed."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What jars need of the house around their browser."""

    state: Callable[[], State]
    feed: Callable[[ev.Event], object]
    note: Callable[[SessionId, str], None]
    """A line in the session's next reply."""
    kept: Callable[[JarId], JarContents | None]
    profile: Callable[[str], Awaitable[JarContents]]
    clock: Clock
    tasks: Tasks
    files: Path
    upstream: str | None = None


class Jars:
    """``driver`` gives the browser they are in."""

    def __init__(self, driver: Callable[[], Driver], around: Surroundings) -> None:
        self._driver = driver
        self._around = around
        self._making: dict[JarId, asyncio.Task[str]] = {}
        self._visited: dict[JarId, dict[str, None]] = {}
        """Origins whose pages were open in each jar lately: they may have stored something."""
        self._proxies: dict[JarId, FilteringProxy] = {}

    async def handle(self, jar: JarId, *, proxy: str | None = None) -> str:
        """The jar's handle; made at first use, once, however many ask. ``proxy`` is the way to the
        network of one that has no domain lists."""
        row = self._around.state().jars.get(jar)
        if row is None or row.session is None:
            raise SessionGone("The session ended.")
        if row.handle is not None:
            return row.handle
        making = self._making.get(jar)
        if making is None:
            session = self._around.state().sessions[row.session]
            making = self._around.tasks.spawn(
                self._make(row, session, proxy), name=f"make jar {jar}"
            )
            self._making[jar] = making
            making.add_done_callback(lambda _: self._making.pop(jar, None))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if making.cancelled() and task is not None and not task.cancelling():
                raise SessionGone("The session ended.") from None  # it was ended, not we
            raise

    async def remove(self, jar: JarId | None, handle: str | None) -> None:
        """The jar, its tabs, and the proxy it went through; one that is being made is not made."""
        making = None if jar is None else self._making.get(jar)
        if making is not None:
            making.cancel()
            await asyncio.wait({making})
        if handle is not None:
            await self._driver().remove_jar(handle)
        if jar is not None:
            self._visited.pop(jar, None)
            await self._forget_proxy(jar)

    async def close(self) -> None:
        for jar in list(self._proxies):
            await self._forget_proxy(jar)

    # --- making --------------------------------------------------------------------------------

    async def _make(self, row: Jar, session: Session, way_out: str | None) -> str:
        contents = await self._first_contents(row, session)
        try:
            proxy = await self._proxy_for(session, row.id)
            if proxy is not None:
                way_out = f"{LOOPBACK}:{proxy.port}"
            handle = await self._made(row, session, way_out)
        except BaseException:  # also a cancelled one must not leave its proxy listening
            await self._forget_proxy(row.id)
            raise
        try:
            if contents is not None:
                await self._fill(handle, contents, session)
            now = self._around.state().jars.get(row.id)
            if now is None or now.session is None:
                raise SessionGone("The session ended.")
        except BaseException:  # also a cancelled one must not leave its jar behind
            with contextlib.suppress(RoostError):  # a browser that died took it along
                await self._driver().remove_jar(handle)
            await self._forget_proxy(row.id)
            raise
        port = None if proxy is None else proxy.port
        self._around.feed(ev.JarMade(row.id, handle, port))
        return handle

    async def _made(self, row: Jar, session: Session, proxy: str | None) -> str:
        making = self._around.tasks.spawn(
            self._driver().make_jar(row.policy, proxy=proxy, downloads=self._downloads(session.id)),
            name=f"make {row.id} in the browser",
        )
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            # What a browser was asked for comes, whether or not anybody still waits for it.
            with contextlib.suppress(RoostError):
                await self._driver().remove_jar(await making)
            raise

    async def _first_contents(self, row: Jar, session: Session) -> JarContents | None:
        if row.policy is JarPolicy.SHARED:
            return None
        kept = self._around.kept(row.id)
        if kept is not None:
            return kept  # its browser died; this is its heir
        if row.policy is JarPolicy.CLONE:
            assert session.profile is not None  # the core makes no such session
            return await self._around.profile(session.profile)
        return None

    async def _fill(self, handle: str, contents: JarContents, session: Session) -> None:
        cookies, storage = await self.put(handle, contents)
        if cookies or storage:
            whose = f"profile {session.profile}" if session.profile else "what was kept"
            line = (
                f"Of {whose}, the browser refused {cookies} cookies and {storage} sites' storage."
            )
            self._around.note(session.id, line)

    async def put(self, handle: str, contents: JarContents) -> tuple[int, int]:
        """Put it in, beside what is there; how many cookies and origins the browser refused."""
        now, driver = self._around.clock.now(), self._driver()
        cookies = [one for one in contents.cookies if one.expires is None or one.expires > now]
        refused = await driver.write_cookies(handle, cookies) if cookies else []
        storage = [one for one in contents.storage if one.items]
        left = await driver.write_storage(handle, storage) if storage else []
        return len(refused), len(left)

    async def put_downloads(self, session: SessionId) -> None:
        """Of all its jars, into its own folder."""
        driver = self._driver()
        if isinstance(driver, Tapped):
            for jar in self._around.state().jars_of(session):
                if jar.handle is not None:
                    await driver.put_downloads(jar.handle, self._downloads(session))

    def _downloads(self, session: SessionId) -> str:
        return str(self._around.files / session / downloads.FOLDER)

    # --- looking -------------------------------------------------------------------------------

    async def look(self, jar: JarId) -> JarContents:
        """Its cookies, and the storage of the pages that are open in it; of others, as it was."""
        return await self._contents(jar, {})

    async def whole(self, jar: JarId) -> JarContents:
        """All of it, as it is now: also of origins that no page is open at."""
        known, pages = self._around.kept(jar), self._pages(jar)
        stored = dict.fromkeys(one.origin for one in (known.storage if known else ()))
        away = [one for one in stored | self._visited.get(jar, {}) if one not in pages]
        read = await self._driver().read_storage(self._handle(jar), away) if away else []
        return await self._contents(jar, {one.origin: one for one in read})

    async def _contents(self, jar: JarId, newer: dict[str, OriginStorage]) -> JarContents:
        handle, known = self._handle(jar), self._around.kept(jar)
        cookies = await self._driver().read_cookies(handle)
        storage = {one.origin: one for one in (known.storage if known else ())} | newer
        for origin, page in self._pages(jar).items():
            items = await self._items_of(page)
            if items is not None:
                storage[origin] = OriginStorage(origin, items)
        return JarContents(tuple(cookies), tuple(storage.values()))

    def visited(self, jar: JarId, url: str) -> None:
        """A page of the jar is there."""
        origin = _origin(url)
        if origin is not None:
            origins = self._visited.setdefault(jar, {})
            origins.pop(origin, None)
            origins[origin] = None
            if len(origins) > ORIGINS_KEPT:
                del origins[next(iter(origins))]

    def _handle(self, jar: JarId) -> str:
        row = self._around.state().jars.get(jar)
        if row is None or row.handle is None:
            raise JarUnavailable("That jar is gone.")
        return row.handle

    def _pages(self, jar: JarId) -> dict[str, TabHandle]:
        """A page of every origin that is open in the jar."""
        pages = {}
        for tab in self._around.state().tabs.values():
            if tab.jar == jar and tab.handle is not None and tab.state is TabState.OPEN:
                origin = _origin(tab.url)
                if origin is not None:
                    pages[origin] = tab.handle
        return pages

    async def _items_of(self, page: TabHandle) -> tuple[tuple[str, str], ...] | None:
        try:
            async with asyncio.timeout(PAGE_SECONDS):
                return _believed(await self._driver().evaluate(page, STORAGE_OF_PAGE))
        except (RoostError, TimeoutError):
            return None  # it may not store, shows a dialog, or is just being left

    # --- proxies -------------------------------------------------------------------------------

    async def reopen_proxies(self, jars: Sequence[Jar]) -> None:
        """Jars of an earlier broker's browser go through the ports they were made with. One that
        cannot be had again leaves its jar without a way out, which is what the lists demand."""
        for jar in jars:
            session = self._around.state().sessions.get(jar.session or SessionId(""))
            if jar.proxy_port is not None and session is not None:
                try:
                    await self._proxy_for(session, jar.id, jar.proxy_port)
                except OSError as error:
                    logger.error("proxy port %d of %s: %s", jar.proxy_port, jar.id, error)

    async def _proxy_for(
        self, session: Session, jar: JarId, port: int = 0
    ) -> FilteringProxy | None:
        await self._forget_proxy(jar)  # of the same jar in a browser that died
        if not session.allow and not session.deny:
            return None
        proxy = FilteringProxy(session.allow, session.deny, self._around.upstream)
        await proxy.start(port)
        self._proxies[jar] = proxy
        return proxy

    async def _forget_proxy(self, jar: JarId) -> None:
        proxy = self._proxies.pop(jar, None)
        if proxy is not None:
            await proxy.aclose()


def _origin(url: str) -> str | None:
    """As pages call their own; None where nothing is stored."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_usual = port in (None, 443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{host}" + ("" if is_usual else f":{port}")


def _believed(items: Any) -> tuple[tuple[str, str], ...] | None:
    """What a page says it stores; it runs the page's own code, so it may be anything."""
    try:
        pairs = tuple((str(name), str(value)) for name, value in items)
    except (TypeError, ValueError):
        return None
    size = sum(len(name) + len(value) for name, value in pairs)
    return pairs if size <= STORAGE_CHARS else None
