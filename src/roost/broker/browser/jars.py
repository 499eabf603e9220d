"""The jars of one browser: made and filled at first use, looked into, removed.

A jar is recorded before it is made and forgotten after it is gone, by the core. Here it is seen to
that whatever happens in between, to the session, the browser or the caller, leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roost.broker.browser import downloads
from roost.broker.browser.jar_backups import JarBackup
from roost.broker.browser.proxy import LOOPBACK, FilteringProxy
from roost.broker.clock import Clock
from roost.broker.tasks import Tasks
from roost.core import events as ev
from roost.core.rows import Jar, Session, TabState
from roost.core.state import State
from roost.drivers.base import (
    Cookie,
    Driver,
    JarContents,
    OriginStorage,
    Tapped,
)
from roost.drivers.stores import Stored, Stores
from roost.errors import JarUnavailable, RoostError, SessionGone, Timeout
from roost.vocabulary import JarId, JarPolicy, SessionId, TabHandle

logger = logging.getLogger(__name__)
PAGE_SECONDS = 5.0
"""A page that does not say by then what it stores is asked another time. On a busy machine a page
needs more than a second, and values that are never read are lost with the browser."""
MAKE_SECONDS = 60.0
"""For a jar in the browser and all that is put into it. Drivers have shorter deadlines of their own
for each step that can hang."""
CLEAN_UP_SECONDS = 10.0
PUT_BACK_SECONDS = 10.0
"""How long a navigation waits for what is owed to the origin it goes to."""
LOOKS = 3
"""How often a jar is read whose contents are lost, or cannot be read, while they are read."""
PAGES_ASKED = 3
"""Pages of one origin that are asked until one answers."""
ORIGINS_TOLD = 5
ORIGINS_KEPT = 100
STORAGE_CHARS = 10_000_000
"""Browsers let an origin keep less; more than this is not kept."""
JAR_CHARS = 6_000_000
"""How much storage of all origins together is kept or saved: it is written and read in one go."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What jars need of the house around their browser."""

    state: Callable[[], State]
    feed: Callable[[ev.Event], object]
    note: Callable[[SessionId, str], None]
    """A line in the session's next reply."""
    kept: Callable[[JarId], JarBackup | None]
    keep: Callable[[JarId, JarBackup], None]
    look_soon: Callable[[JarId], None]
    """Have the jar read and kept within about a second."""
    profile: Callable[[str], Awaitable[JarContents]]
    clock: Clock
    tasks: Tasks
    files: Path
    upstream: str | None = None
    http: Callable[[], str | None] = lambda: None
    """Where this broker serves HTTP."""


class Jars:
    """``driver`` gives the browser they are in."""

    def __init__(self, driver: Callable[[], Driver], around: Surroundings) -> None:
        self._driver = driver
        self._around = around
        self._making: dict[JarId, asyncio.Task[str]] = {}
        self._visited: dict[JarId, dict[str, None]] = {}
        """Origins whose pages were open in each jar lately: they may have stored something."""
        self._proxies: dict[JarId, FilteringProxy] = {}
        self._owed: dict[JarId, tuple[str, ...]] = {}
        """Origins whose contents could not be put back into the jar, once they were asked for."""
        self._turns: dict[JarId, asyncio.Lock] = {}
        """Contents are put back into a jar by one task at a time."""
        self._misses: Counter[JarId] = Counter()
        """How often in a row a page of the jar could not be read."""

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
                self._made_in_time(row, session, proxy), name=f"make jar {jar}"
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
            for table in (self._visited, self._owed, self._turns, self._misses):
                table.pop(jar, None)
            await self._forget_proxy(jar)

    async def close(self) -> None:
        for jar in list(self._proxies):
            await self._forget_proxy(jar)

    # --- making --------------------------------------------------------------------------------

    async def _made_in_time(self, row: Jar, session: Session, way_out: str | None) -> str:
        """Make the jar before the deadline. All callers share one attempt, so an attempt that hangs
        must end: the next call then makes a new one."""
        try:
            async with asyncio.timeout(MAKE_SECONDS):
                return await self._make(row, session, way_out)
        except TimeoutError:
            raise Timeout(
                f"The browser did not give session {session.name} its cookies and storage within"
                f" {MAKE_SECONDS:.0f} s.",
                hint="Try again; the machine may be busy.",
            ) from None

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
            self._owed[row.id] = ()
            if contents is not None:
                await self._fill(row.id, handle, contents, session)
            now = self._around.state().jars.get(row.id)
            if now is None or now.session is None:
                raise SessionGone("The session ended.")
        except BaseException:  # also a cancelled one must not leave its jar behind
            await self._clean_up(self._driver().remove_jar(handle))
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
            await self._clean_up(self._remove_when_made(making))
            raise

    async def _remove_when_made(self, making: asyncio.Task[str]) -> None:
        await self._driver().remove_jar(await making)

    async def _clean_up(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, unless the browser is gone, which took it along, or hangs."""
        with contextlib.suppress(RoostError, TimeoutError):
            async with asyncio.timeout(CLEAN_UP_SECONDS):
                await work

    async def _first_contents(self, row: Jar, session: Session) -> JarContents | None:
        if row.policy is JarPolicy.SHARED:
            return None
        kept = self._around.kept(row.id)
        if kept is not None:
            return kept.contents  # its browser died; this is its heir
        if row.policy is JarPolicy.CLONE:
            assert session.profile is not None  # the core makes no such session
            return await self._around.profile(session.profile)
        return None

    # --- putting in ----------------------------------------------------------------------------

    async def _fill(self, jar: JarId, handle: str, contents: JarContents, session: Session) -> None:
        """Put the contents into a new jar, and keep them: what did not get in is owed to the jar.

        The backup is written before anybody can open a page in the jar. The stores are asked for
        before anything is put in, so that the next look notices if one of them dies meanwhile.
        """
        before = await self._stores()
        cookies, storage = await self._put(handle, contents)
        after = await self._stores()  # a process may have been started for what was put in
        stores = Stores(before.cookies or after.cookies, before.storage or after.storage)
        self._owe(
            jar, JarBackup(contents.cookies, contents.storage, stores=stores), cookies, storage
        )
        if cookies or storage:
            whose = f"profile {session.profile}" if session.profile else "what was kept"
            self._around.note(
                session.id,
                f"Of {whose}, the browser did not take {_listed(cookies, storage)}. Roost keeps"
                " that and tries again: storage before a page of its site opens, cookies when the"
                " browser is started again.",
            )

    async def put(self, jar: JarId, contents: JarContents) -> tuple[int, int]:
        """Put it in, beside what is there; how many cookies and origins the browser refused."""
        cookies, storage = await self._put(self._handle(jar), contents)
        if self._around.state().jars[jar].policy is not JarPolicy.SHARED:
            left = {one.origin for one in storage}
            self._keep_put(jar, [one for one in contents.storage if one.origin not in left])
        return len(cookies), len(storage)

    def _keep_put(self, jar: JarId, storage: Sequence[OriginStorage]) -> None:
        """Keep storage that a caller put into the jar: no look reads origins without a page. It
        settles what the jar was owed there."""
        kept = self._around.kept(jar) or JarBackup()
        items = {one.origin: dict(one.items) for one in kept.storage}
        for one in storage:
            items.setdefault(one.origin, {}).update(one.items)
        now = tuple(OriginStorage(origin, tuple(of.items())) for origin, of in items.items())
        put = {one.origin for one in storage}
        self._owed[jar] = tuple(one for one in self._owed_to(jar) if one not in put)
        self._around.keep(jar, replace(kept, storage=now, owed_origins=self._owed[jar]))

    async def _put(
        self, handle: str, contents: JarContents
    ) -> tuple[list[Cookie], list[OriginStorage]]:
        """Put it in, beside what is there; returns what did not get in."""
        now, driver = self._around.clock.now(), self._driver()
        cookies = [one for one in contents.cookies if one.expires is None or one.expires > now]
        refused = await driver.write_cookies(handle, cookies) if cookies else []
        storage = [one for one in contents.storage if one.items]
        left = await driver.write_storage(handle, storage) if storage else []
        return refused, left

    async def put_back(self, jar: JarId, url: str) -> None:
        """Try again to put back what is owed to the origin of ``url``, where a page is to open.

        Nothing is put under the eyes of a page that is open there: it has begun anew, and would
        see its storage change.
        """
        origin = _origin(url)
        if origin is None or origin not in self._owed_to(jar):
            return
        async with self._turns.setdefault(jar, asyncio.Lock()):
            kept = self._around.kept(jar)
            if kept is None or origin not in self._owed_to(jar) or origin in self._pages(jar):
                return
            contents = [one for one in kept.storage if one.origin == origin]
            with contextlib.suppress(RoostError, TimeoutError):  # then it stays owed
                async with asyncio.timeout(PUT_BACK_SECONDS):
                    left = await self._driver().write_storage(self._handle(jar), contents)
                    if not left:
                        self._settled(jar, origin)

    def _settled(self, jar: JarId, origin: str) -> None:
        """The contents of that origin are in the jar again."""
        self._owed[jar] = tuple(one for one in self._owed_to(jar) if one != origin)
        kept = self._around.kept(jar)
        if kept is not None:
            self._around.keep(jar, replace(kept, owed_origins=self._owed[jar]))

    def _owe(
        self,
        jar: JarId,
        kept: JarBackup,
        cookies: Sequence[Cookie],
        storage: Sequence[OriginStorage],
    ) -> None:
        """Keep what is kept, and that the jar lacks these of it."""
        self._owed[jar] = tuple(one.origin for one in storage)
        kept = replace(kept, owed_cookies=tuple(cookies), owed_origins=self._owed[jar])
        self._around.keep(jar, kept)

    def _owed_to(self, jar: JarId) -> tuple[str, ...]:
        """Origins whose contents are not in the jar; an earlier broker may have left them so."""
        if jar not in self._owed:
            kept = self._around.kept(jar)
            self._owed[jar] = kept.owed_origins if kept else ()
        return self._owed[jar]

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

    async def look(self, jar: JarId) -> JarBackup:
        """Its cookies, and the storage of the pages that are open in it; of others, as it was.

        A process of the browser that held them may have died since the last look, and taken them
        along. Then they are put back first, else the only copy would be overwritten by nothing.
        """
        for _ in range(LOOKS):
            kept, stores = self._around.kept(jar) or JarBackup(), await self._stores()
            if kept.stores.lost_by(stores):
                await self._put_back_lost(jar, kept, stores)
                continue
            contents = await self._contents(jar, {})
            after = await self._stores()
            if not stores.lost_by(after):
                cookies = _unread(kept.owed_cookies, contents.cookies)
                return JarBackup(
                    contents.cookies + cookies,
                    contents.storage,
                    owed_cookies=cookies,
                    owed_origins=self._owed_to(jar),
                    stores=after or kept.stores,
                )
        raise JarUnavailable("The browser loses what is in its jars as it is read.")

    async def _put_back_lost(self, jar: JarId, kept: JarBackup, now: Stores) -> None:
        """Put back what was lost with a process that has died. The copy wins over what a site has
        set since: it did so because it missed what was lost."""
        died = kept.stores.lost_by(now)
        lost = JarContents(
            kept.cookies if died.cookies else (), kept.storage if died.storage else ()
        )
        async with self._turns.setdefault(jar, asyncio.Lock()):
            cookies, storage = await self._put(self._handle(jar), lost)
            if not died.cookies:
                cookies = list(kept.owed_cookies)
            if not died.storage:
                owed = self._owed_to(jar)
                storage = [one for one in kept.storage if one.origin in owed]
            self._owe(jar, replace(kept, stores=now), cookies, storage)
        row = self._around.state().jars.get(jar)
        if row is not None and row.session is not None and (lost.cookies or lost.storage):
            self._around.note(
                row.session,
                "A process of the browser died, and with it this session's"
                f" {_listed(lost.cookies, lost.storage)}. Roost put its copy back. Reload a page"
                " that looks logged out.",
            )

    async def whole(self, jar: JarId) -> JarContents:
        """All of it, as it is now: also of origins that no page is open at."""
        known, pages = self._around.kept(jar), self._pages(jar)
        stored = dict.fromkeys(one.origin for one in (known.storage if known else ()))
        away = [one for one in stored | self._visited.get(jar, {}) if one not in pages]
        read = await self._driver().read_storage(self._handle(jar), away) if away else []
        return await self._contents(jar, {one.origin: one for one in read})

    async def _contents(self, jar: JarId, newer: dict[str, OriginStorage]) -> JarContents:
        """What the jar holds; of origins whose contents it is owed, those."""
        handle, known, owed = self._handle(jar), self._around.kept(jar), self._owed_to(jar)
        cookies = await self._driver().read_cookies(handle)
        found = dict(newer)
        is_unread = False
        for origin, pages in self._pages(jar).items():
            read = await self._read_pages(pages, origin)
            if read is not None:
                found[origin] = read
            is_unread |= read is None
        self._look_again(jar, is_unread=is_unread)
        storage = {one.origin: one for one in (known.storage if known else ())}
        storage |= {origin: one for origin, one in found.items() if origin not in owed}
        return JarContents(tuple(cookies), _in_room(storage.values()))

    async def _stores(self) -> Stores:
        driver = self._driver()
        return await driver.stores() if isinstance(driver, Stored) else Stores()

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

    def _look_again(self, jar: JarId, *, is_unread: bool) -> None:
        """A page that is busy or on its way cannot be read. Without another look, the copy of what
        it stores would stay as old as it is until the next action."""
        self._misses[jar] = self._misses[jar] + 1 if is_unread else 0
        if 0 < self._misses[jar] <= LOOKS:
            self._around.look_soon(jar)

    def _pages(self, jar: JarId) -> dict[str, list[TabHandle]]:
        """The pages that are open in the jar, by origin."""
        pages: dict[str, list[TabHandle]] = {}
        for tab in self._around.state().tabs.values():
            if tab.jar == jar and tab.handle is not None and tab.state is TabState.OPEN:
                origin = _origin(tab.url)
                if origin is not None:
                    pages.setdefault(origin, []).append(tab.handle)
        return pages

    async def _read_pages(self, pages: Sequence[TabHandle], origin: str) -> OriginStorage | None:
        """What the first of the pages that answers says that its origin stores."""
        for page in pages[-PAGES_ASKED:]:
            read = await self._read_page(page, origin)
            if read is not None:
                return read
        return None

    async def _read_page(self, page: TabHandle, origin: str) -> OriginStorage | None:
        """None where the page is at another origin by now, shows a dialog, or is busy."""
        try:
            async with asyncio.timeout(PAGE_SECONDS):
                read = await self._driver().read_page_storage(page, origin)
        except (RoostError, TimeoutError):
            return None
        return None if read is None or _is_too_large(read) else read

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

    def proxy(self, jar: JarId | None) -> FilteringProxy | None:
        """What holds the domain lists of that jar, if it has any."""
        return None if jar is None else self._proxies.get(jar)

    def _own_ports(self) -> frozenset[int]:
        """Where this broker listens: HTTP, and the filtering proxies."""
        jars = self._around.state().jars.values()
        ports = [urlsplit(self._around.http() or "").port, *(jar.proxy_port for jar in jars)]
        return frozenset(port for port in ports if port is not None)

    async def _proxy_for(
        self, session: Session, jar: JarId, port: int = 0
    ) -> FilteringProxy | None:
        await self._forget_proxy(jar)  # of the same jar in a browser that died
        if not session.allow and not session.deny:
            return None
        upstream = self._around.upstream
        proxy = FilteringProxy(session.allow, session.deny, upstream, own_ports=self._own_ports)
        await proxy.start(port)
        self._proxies[jar] = proxy
        return proxy

    async def _forget_proxy(self, jar: JarId) -> None:
        proxy = self._proxies.pop(jar, None)
        if proxy is not None:
            await proxy.aclose()


def _unread(owed: Sequence[Cookie], read: Sequence[Cookie]) -> tuple[Cookie, ...]:
    """Those that are owed and that the site has not set anew."""
    there = {_key(one) for one in read}
    return tuple(one for one in owed if _key(one) not in there)


def _key(cookie: Cookie) -> tuple[str, str, str, str | None]:
    return cookie.name, cookie.domain, cookie.path, cookie.partition_key


def _listed(cookies: Sequence[Cookie], storage: Sequence[OriginStorage]) -> str:
    """How many cookies, and the storage of which sites."""
    parts = [f"{len(cookies)} cookies"] if cookies else []
    if storage:
        names = ", ".join(one.origin for one in storage[:ORIGINS_TOLD])
        more = "" if len(storage) <= ORIGINS_TOLD else ", …"
        parts.append(f"the storage of {len(storage)} sites ({names}{more})")
    return " and ".join(parts)


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


def _in_room(storage: Iterable[OriginStorage]) -> tuple[OriginStorage, ...]:
    """What fits into ``JAR_CHARS``, the smallest first: one site must not cost all the others
    theirs."""
    found, room = [], JAR_CHARS
    for one in sorted(storage, key=_chars):
        room -= _chars(one)
        if room < 0:
            logger.warning("the storage of %s is too large to be kept", one.origin)
            break
        found.append(one)
    return tuple(found)


def _chars(storage: OriginStorage) -> int:
    return sum(len(name) + len(value) for name, value in storage.items)


def _is_too_large(storage: OriginStorage) -> bool:
    return _chars(storage) > STORAGE_CHARS
