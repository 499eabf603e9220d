"""The jars of one browser: they are made and filled at first use, backed up, and removed.

The core records a jar before it is made and forgets it after it is removed. This file makes sure
that no jar stays in the browser if the session ends or the caller is cancelled in between.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from roost import core
from roost.broker.browser import downloads
from roost.broker.browser.backup_limits import in_room, is_too_large, with_databases
from roost.broker.browser.jar_backups import JarBackup
from roost.broker.browser.proxy import LOOPBACK, FilteringProxy
from roost.broker.browser.refusal_notes import refusal_notes
from roost.broker.clock import Clock
from roost.broker.tasks import Tasks
from roost.broker.text_limits import TextLimits
from roost.conditions import NO_CONDITIONS
from roost.core import events as ev
from roost.core.rows import Jar, Session, TabState
from roost.core.state import State
from roost.drivers.base import (
    ConditionsDriver,
    Cookie,
    Driver,
    JarContents,
    OriginStorage,
    ProtocolDriver,
)
from roost.drivers.clipboard import SessionClipboard
from roost.drivers.stores import StoreDriver, Stores
from roost.errors import JarUnavailable, RoostError, SessionGone, Timeout
from roost.vocabulary import JarId, JarPolicy, SessionId, TabHandle

logger = logging.getLogger(__name__)
PAGE_SECONDS = 5.0
"""How long one page may take to return its localStorage; a later look asks it again. On a busy
machine a page needs more than a second, and values that are never read are lost if the browser
dies."""
MAKE_SECONDS = 60.0
"""Timeout for making a jar and putting its contents in. Drivers have shorter timeouts for each step
that can hang."""
COPY_SECONDS = 10.0
"""How long reading the jar of a sub-agent's parent may take."""
CLEAN_UP_SECONDS = 10.0
PUT_BACK_SECONDS = 10.0
"""How long a navigation waits while the owed contents of its origin are put back."""
LOOKS = 3
"""How often reading a jar is tried if its contents are lost meanwhile or one of its pages is
busy."""
PAGES_ASKED = 3
"""How many pages of one origin are asked for its storage until one answers."""
ORIGINS_TOLD = 5
ORIGINS_KEPT = 100
_HTTP_PROXY = re.compile(r"(?:http://)?(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):\d+/?")
"""A proxy to which Roost can send a password. Other kinds stay Chromium's own business."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a browser and its jars need from the broker, as functions and shared objects."""

    state: Callable[[], State]
    hear: Callable[[ev.Event], None]
    """Report a fact to the core."""
    limits: TextLimits
    note: Callable[[SessionId, str], None]
    """Add a line to the session's next reply."""
    kept: Callable[[JarId], JarBackup | None]
    """Return the backup of the jar's contents."""
    keep: Callable[[JarId, JarBackup], None]
    """Write the backup of the jar's contents."""
    look_soon: Callable[[JarId], None]
    """Read the jar and write its backup within about a second."""
    profile: Callable[[str], Awaitable[JarContents]]
    clock: Clock
    tasks: Tasks
    files: Path
    clipboard: Callable[[SessionId], SessionClipboard]
    upstream: str | None = None
    """The person's own proxy."""
    http: Callable[[], str | None] = lambda: None
    """Return the address where this broker serves HTTP."""


class Jars:
    """The jars of one browser. ``driver`` returns the driver of that browser."""

    def __init__(self, driver: Callable[[], Driver], around: Surroundings) -> None:
        self._driver = driver
        self._around = around
        self._making: dict[JarId, asyncio.Task[str]] = {}
        self._visited: dict[JarId, dict[str, None]] = {}
        """Origins whose pages were open in each jar lately, oldest first: they may have stored
        something."""
        self._proxies: dict[JarId, FilteringProxy] = {}
        self._owed: dict[JarId, tuple[str, ...]] = {}
        """Origins whose contents could not be put back, per jar. A cache of the backup's field."""
        self._turns: dict[JarId, asyncio.Lock] = {}
        """One lock per jar: only one task at a time may put contents back."""
        self._misses: Counter[JarId] = Counter()
        """How many reads in a row found a page of the jar that could not be read."""

    async def handle(self, jar: JarId, *, proxy: str | None = None) -> str:
        """Return the jar's handle, and make the jar at first use. All callers share one attempt.

        proxy: the proxy for a jar without domain lists; others use their own filtering proxy.
        """
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
                # ``remove`` cancelled the making; this caller was not cancelled.
                raise SessionGone("The session ended.") from None
            raise

    async def remove(self, jar: JarId | None, handle: str | None) -> None:
        """Remove the jar with its tabs and its filtering proxy. Cancel it if it is being made."""
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
        """Make the jar within ``MAKE_SECONDS``. All callers share one attempt, so an attempt that
        hangs must end before a call can begin a new one."""
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
        """Make the jar with its proxy and first contents, and tell the core. Undo all on errors."""
        contents = await self._first_contents(row, session)
        try:
            proxy = await self._proxy_for(session, row.id, way_out=way_out)
            if proxy is not None:
                way_out = f"{LOOPBACK}:{proxy.port}"
            handle = await self._made(row, session, way_out)
        except BaseException:  # also when cancelled, the proxy must not stay open
            await self._forget_proxy(row.id)
            raise
        try:
            self._owed[row.id] = ()
            if contents is not None:
                await self._fill(row.id, handle, contents, session)
            await self._put_conditions(row, handle)
            now = self._around.state().jars.get(row.id)
            if now is None or now.session is None:
                raise SessionGone("The session ended.")
        except BaseException:  # also when cancelled, the jar must not stay in the browser
            await self._clean_up(self._driver().remove_jar(handle))
            await self._forget_proxy(row.id)
            raise
        port = None if proxy is None else proxy.port
        self._around.hear(ev.JarMade(row.id, handle, port))
        return handle

    async def _put_conditions(self, row: Jar, handle: str) -> None:
        """Make a new jar of its own follow the conditions of its session."""
        driver, session = self._driver(), row.session
        if row.policy is JarPolicy.SHARED or row.beside or session is None:
            return
        conditions = core.session_conditions(self._around.state(), session)
        if conditions != NO_CONDITIONS and isinstance(driver, ConditionsDriver):
            await driver.put_jar_conditions(handle, conditions)

    async def _made(self, row: Jar, session: Session, proxy: str | None) -> str:
        making = self._around.tasks.spawn(
            self._driver().make_jar(row.policy, proxy=proxy, downloads=self._downloads(session.id)),
            name=f"make {row.id} in the browser",
        )
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            # The browser makes the jar although its caller no longer waits, so remove it then.
            await self._clean_up(self._remove_when_made(making))
            raise

    async def _remove_when_made(self, making: asyncio.Task[str]) -> None:
        await self._driver().remove_jar(await making)

    async def _clean_up(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work``, and ignore its error: the browser is gone with all its jars, or hangs."""
        with contextlib.suppress(RoostError, TimeoutError):
            async with asyncio.timeout(CLEAN_UP_SECONDS):
                await work

    async def _first_contents(self, row: Jar, session: Session) -> JarContents | None:
        """Return what to put into a new jar: its backup, else what it copies or is cloned from."""
        if row.policy is JarPolicy.SHARED:
            return None
        kept = self._around.kept(row.id)
        if kept is not None:
            return kept.contents  # the browser died, so this jar replaces one that had contents
        if row.copy_of is not None:
            return await self._copied(row.copy_of)
        if row.policy is JarPolicy.CLONE:
            assert session.profile is not None  # the core refuses a clone without a profile
            return await self._around.profile(session.profile)
        return None

    async def _copied(self, jar: JarId) -> JarContents | None:
        """Return the contents of the parent's jar, as they are now if the jar can be read."""
        with contextlib.suppress(RoostError, TimeoutError):
            async with asyncio.timeout(COPY_SECONDS):
                return (await self.look(jar)).contents
        kept = self._around.kept(jar)
        return None if kept is None else kept.contents

    # --- putting in ----------------------------------------------------------------------------

    async def _fill(self, jar: JarId, handle: str, contents: JarContents, session: Session) -> None:
        """Put the contents into a new jar and back them up. What the browser refuses is owed.

        The backup is written before any page can open in the jar. The browser's store processes
        are asked for before anything is put in, so that the next look notices if one dies
        meanwhile.
        """
        before = await self._stores()
        cookies, storage = await self._put(handle, contents)
        after = await self._stores()  # putting contents in may have started a store process
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
        """Add the contents to the jar. Returns how many cookies and origins the browser refused."""
        cookies, storage = await self._put(self._handle(jar), contents)
        if self._around.state().jars[jar].policy is not JarPolicy.SHARED:
            left = {one.origin for one in storage}
            self._keep_put(jar, [one for one in contents.storage if one.origin not in left])
        return len(cookies), len(storage)

    def _keep_put(self, jar: JarId, storage: Sequence[OriginStorage]) -> None:
        """Add storage that a caller put into the jar to the backup, because a look reads no origin
        without an open page. Nothing is owed at these origins any longer."""
        kept = self._around.kept(jar) or JarBackup()
        items = {one.origin: dict(one.items) for one in kept.storage}
        databases = {one.origin: one.databases for one in kept.storage}
        for one in storage:
            items.setdefault(one.origin, {}).update(one.items)
            databases[one.origin] = one.databases or databases.get(one.origin, "")
        now = tuple(
            OriginStorage(origin, tuple(of.items()), databases.get(origin, ""))
            for origin, of in items.items()
        )
        put = {one.origin for one in storage}
        self._owed[jar] = tuple(one for one in self._owed_to(jar) if one not in put)
        self._around.keep(jar, replace(kept, storage=now, owed_origins=self._owed[jar]))

    async def _put(
        self, handle: str, contents: JarContents
    ) -> tuple[list[Cookie], list[OriginStorage]]:
        """Add the contents to the jar. Returns the cookies and storage the browser refused."""
        now, driver = self._around.clock.now(), self._driver()
        cookies = [one for one in contents.cookies if one.expires is None or one.expires > now]
        refused = await driver.write_cookies(handle, cookies) if cookies else []
        storage = [one for one in contents.storage if one.items or one.databases]
        left = await driver.write_storage(handle, storage) if storage else []
        return refused, left

    async def put_back(self, jar: JarId, url: str) -> None:
        """Put back the contents owed at the origin of ``url``, before a page opens there.

        Do nothing if a page of the jar is already open at that origin: it has started with empty
        storage, which must not change while the page runs.
        """
        origin = _origin(url)
        if origin is None or origin not in self._owed_to(jar):
            return
        async with self._turns.setdefault(jar, asyncio.Lock()):
            kept = self._around.kept(jar)
            if kept is None or origin not in self._owed_to(jar) or origin in self._pages(jar):
                return
            contents = [one for one in kept.storage if one.origin == origin]
            with contextlib.suppress(RoostError, TimeoutError):  # the contents stay owed
                async with asyncio.timeout(PUT_BACK_SECONDS):
                    left = await self._driver().write_storage(self._handle(jar), contents)
                    if not left:
                        self._settled(jar, origin)

    def _settled(self, jar: JarId, origin: str) -> None:
        """Record that the contents of the origin are in the jar again."""
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
        """Write the backup, and record in it which cookies and storage the jar lacks."""
        self._owed[jar] = tuple(one.origin for one in storage)
        kept = replace(kept, owed_cookies=tuple(cookies), owed_origins=self._owed[jar])
        self._around.keep(jar, kept)

    def _owed_to(self, jar: JarId) -> tuple[str, ...]:
        """Return the origins whose contents are not in the jar. The backup names those that an
        earlier broker could not put back."""
        if jar not in self._owed:
            kept = self._around.kept(jar)
            self._owed[jar] = kept.owed_origins if kept else ()
        return self._owed[jar]

    async def put_downloads(self, session: SessionId) -> None:
        """Make the browser save downloads from all jars of the session in the session's folder."""
        driver = self._driver()
        if isinstance(driver, ProtocolDriver):
            for jar in self._around.state().jars_of(session):
                if jar.handle is not None:
                    await driver.put_downloads(jar.handle, self._downloads(session))

    def _downloads(self, session: SessionId) -> str:
        return str(self._around.files / session / downloads.FOLDER)

    # --- looking -------------------------------------------------------------------------------

    async def look(self, jar: JarId) -> JarBackup:
        """Read the jar's cookies and the storage of its open pages, and return the new backup.

        The backup keeps the last known storage of origins without an open page. If a store process
        of the browser has died since the last look, its contents are lost. They are put back first,
        otherwise the empty jar would overwrite the only copy.
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
        """Put back what a dead store process held. The backup wins over what a site has set since:
        the site only replaced values that it no longer found."""
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
        """Read all current contents of the jar, also of origins without an open page."""
        known, pages = self._around.kept(jar), self._pages(jar)
        stored = dict.fromkeys(one.origin for one in (known.storage if known else ()))
        # Also of open pages: only the unseen page reads databases.
        known_origins = [*dict.fromkeys([*stored, *self._visited.get(jar, {}), *pages])]
        read = await self._driver().read_storage(self._handle(jar), known_origins)
        return await self._contents(jar, {one.origin: one for one in read})

    async def _contents(self, jar: JarId, newer: dict[str, OriginStorage]) -> JarContents:
        """Read cookies and open pages, and merge them with the backup.

        At origins whose contents are owed, the backup counts and not what was read.

        newer: storage of origins without an open page, if the caller has just read it.
        """
        handle, known, owed = self._handle(jar), self._around.kept(jar), self._owed_to(jar)
        cookies = await self._driver().read_cookies(handle)
        found = dict(newer)
        is_unread = False
        for origin, pages in self._pages(jar).items():
            read = await self._read_pages(pages, origin)
            if read is not None:
                found[origin] = with_databases(read, found.get(origin))
            is_unread |= read is None
        self._look_again(jar, is_unread=is_unread)
        storage = {one.origin: one for one in (known.storage if known else ())}
        found = {origin: with_databases(one, storage.get(origin)) for origin, one in found.items()}
        storage |= {origin: one for origin, one in found.items() if origin not in owed}
        return JarContents(tuple(cookies), in_room(storage.values()))

    async def _stores(self) -> Stores:
        driver = self._driver()
        return await driver.stores() if isinstance(driver, StoreDriver) else Stores()

    def visited(self, jar: JarId, url: str) -> None:
        """Remember the origin of an address that a page of the jar has reached."""
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
        """Order another look if a page was busy or navigating and could not be read. Without it,
        the backup of that page's storage would stay old until the next action."""
        self._misses[jar] = self._misses[jar] + 1 if is_unread else 0
        if 0 < self._misses[jar] <= LOOKS:
            self._around.look_soon(jar)

    def _pages(self, jar: JarId) -> dict[str, list[TabHandle]]:
        """Return the open pages of the jar, by origin."""
        pages: dict[str, list[TabHandle]] = {}
        for tab in self._around.state().tabs.values():
            if tab.jar == jar and tab.handle is not None and tab.state is TabState.OPEN:
                origin = _origin(tab.url)
                if origin is not None:
                    pages.setdefault(origin, []).append(tab.handle)
        return pages

    async def _read_pages(self, pages: Sequence[TabHandle], origin: str) -> OriginStorage | None:
        """Return the origin's storage from the first page that answers, or None."""
        for page in pages[-PAGES_ASKED:]:
            read = await self._read_page(page, origin)
            if read is not None:
                return read
        return None

    async def _read_page(self, page: TabHandle, origin: str) -> OriginStorage | None:
        """Return the page's storage. None if the page has left the origin, shows a dialog, is busy
        or stores too much."""
        try:
            async with asyncio.timeout(PAGE_SECONDS):
                read = await self._driver().read_page_storage(page, origin)
        except (RoostError, TimeoutError):
            return None
        return None if read is None or is_too_large(read) else read

    # --- proxies -------------------------------------------------------------------------------

    async def reopen_proxies(self, jars: Sequence[Jar]) -> None:
        """Open the filtering proxies of existing jars on their old ports, which a jar cannot
        change. If a port is taken, its jar stays without network: no list may be bypassed."""
        for jar in jars:
            session = self._around.state().sessions.get(jar.session or SessionId(""))
            if jar.proxy_port is not None and session is not None:
                try:
                    await self._proxy_for(session, jar.id, jar.proxy_port)
                except OSError as error:
                    logger.error("proxy port %d of %s: %s", jar.proxy_port, jar.id, error)

    def proxy(self, jar: JarId | None) -> FilteringProxy | None:
        """Return the filtering proxy of the jar, or None if the jar has neither domain lists nor a
        proxy of a CDP client."""
        return None if jar is None else self._proxies.get(jar)

    def way_out(self, session: Session) -> FilteringProxy:
        """Return a proxy object with the session's lists that listens nowhere, for one fetch."""
        upstream = self._around.upstream
        return FilteringProxy(session.allow, session.deny, upstream, own_ports=self.own_ports)

    def own_ports(self) -> frozenset[int]:
        """Return the ports where this broker listens: HTTP, and the filtering proxies."""
        jars = self._around.state().jars.values()
        ports = [urlsplit(self._around.http() or "").port, *(jar.proxy_port for jar in jars)]
        return frozenset(port for port in ports if port is not None)

    async def _proxy_for(
        self, session: Session, jar: JarId, port: int = 0, *, way_out: str | None = None
    ) -> FilteringProxy | None:
        """Start the jar's filtering proxy, if the session has domain lists or ``way_out`` is a
        proxy that may ask for a password."""
        await self._forget_proxy(jar)  # left from this jar in a browser that died
        upstream = self._around.upstream
        if not session.allow and not session.deny:
            if way_out is None or not _HTTP_PROXY.fullmatch(way_out):
                return None
            upstream = way_out
        proxy = FilteringProxy(session.allow, session.deny, upstream, own_ports=self.own_ports)
        proxy.on_refused = refusal_notes(session.id, self._around.state, self._around.note)
        await proxy.start(port)
        self._proxies[jar] = proxy
        return proxy

    async def _forget_proxy(self, jar: JarId) -> None:
        proxy = self._proxies.pop(jar, None)
        if proxy is not None:
            await proxy.aclose()


def _unread(owed: Sequence[Cookie], read: Sequence[Cookie]) -> tuple[Cookie, ...]:
    """Return the owed cookies that the site has not set again."""
    there = {_key(one) for one in read}
    return tuple(one for one in owed if _key(one) not in there)


def _key(cookie: Cookie) -> tuple[str, str, str, str | None]:
    return cookie.name, cookie.domain, cookie.path, cookie.partition_key


def _listed(cookies: Sequence[Cookie], storage: Sequence[OriginStorage]) -> str:
    """Describe in words how many cookies there are, and which sites the storage is of."""
    parts = [f"{len(cookies)} cookies"] if cookies else []
    if storage:
        names = ", ".join(one.origin for one in storage[:ORIGINS_TOLD])
        more = "" if len(storage) <= ORIGINS_TOLD else ", …"
        parts.append(f"the storage of {len(storage)} sites ({names}{more})")
    return " and ".join(parts)


def _origin(url: str) -> str | None:
    """Return the origin as ``location.origin`` would; None for addresses that store nothing."""
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
