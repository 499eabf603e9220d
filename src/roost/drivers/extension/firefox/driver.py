"""The driver for a person's own Firefox: the extension's scripts in pages, containers as jars.

Every command to a page carries its tab's handle as the session id. The extension checks with each
command that the tab is in a managed group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from roost.drivers import events
from roost.drivers.base import (
    SHARED_JAR,
    Capabilities,
    Cookie,
    Film,
    FilmOptions,
    Miss,
    OriginStorage,
    Report,
    RunningBrowser,
    Show,
)
from roost.drivers.connection import Json
from roost.drivers.extension.base import (
    OwnBrowser,
)
from roost.drivers.extension.connection import ExtensionConnection, ExtensionError
from roost.drivers.extension.firefox.lacks import ELSEWHERE, LACKS
from roost.drivers.extension.firefox.messages import (
    NOT_ALLOWED,
    cookie_from,
    cookie_to,
    refusal,
    report_of,
)
from roost.drivers.extension.firefox.page import OwnFirefoxPage
from roost.drivers.extension.firefox.remote import WORD as REMOTE
from roost.drivers.extension.firefox.remote import FirefoxRemote
from roost.drivers.extension.host_link import HostLink
from roost.drivers.link import Link
from roost.drivers.repeated_shots import RepeatedShots
from roost.errors import (
    JarUnavailable,
    RoostError,
    TabCrashed,
    Unsupported,
)
from roost.vocabulary import JarPolicy, TabHandle

_JAR = {"name": "Roost", "color": "blue"}


class OwnFirefoxDriver(OwnBrowser[ExtensionConnection]):
    capabilities = Capabilities(
        trusted_input=False,
        draws_for_pictures=False,
        holds_buttons=False,
        groups=True,
        asks_person=True,
        lacks=LACKS,
    )

    def __init__(self, host: HostLink) -> None:
        super().__init__(host)
        self._jars: set[str] = set()
        self._remote: FirefoxRemote | None = None
        """Firefox's remote agent. None: Firefox was started without one."""
        self._pages: dict[TabHandle, OwnFirefoxPage] = {}

    async def start(self, report: Report) -> RunningBrowser:
        started = await super().start(report)
        self._jars = set(started.jars)
        return started

    # --- jars ----------------------------------------------------------------------------------

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        link = self._link()
        if proxy is not None:
            raise JarUnavailable(
                "Your own browser cannot have domain lists for some of its tabs.", hint=ELSEWHERE
            )
        if policy is JarPolicy.SHARED:
            return SHARED_JAR
        jar = str((await link.call("Jars.make", _JAR))["jar"])
        self._jars.add(jar)
        return jar

    async def remove_jar(self, jar: str) -> None:
        link = self._link()
        if jar in self._jars:
            self._jars.discard(jar)
            await link.call("Jars.remove", {"jar": jar})

    async def read_cookies(self, jar: str) -> list[Cookie]:
        return [cookie_from(one) for one in (await self._in_jar("cookies", jar))["cookies"]]

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        given = [cookie_to(cookie) for cookie in cookies]
        return [cookies[at] for at in (await self._in_jar("write", jar, cookies=given))["refused"]]

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        await self._in_jar("delete", jar, cookies=[cookie_to(cookie) for cookie in cookies])

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        found = await self._in_jar("storage", jar, origins=list(origins))
        return [
            OriginStorage(one["origin"], tuple((name, value) for name, value in one["items"]))
            for one in found["storage"]
        ]

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        return await self.page(tab).stored(origin)

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        """Hand the items to the extension, which writes them when the jar opens that origin.

        Only a page of an origin can write to the origin's localStorage.
        """
        given = [{"origin": one.origin, "items": one.items} for one in storage]
        await self._in_jar("store", jar, storage=given)
        return []

    async def _in_jar(self, what: str, jar: str, **rest: Any) -> Json:
        self._check_jar(jar)
        if jar == SHARED_JAR:
            raise Unsupported(
                "The cookies and storage of a person's own browser are not given out.",
                hint="In a page, document.cookie and localStorage work. " + ELSEWHERE,
            )
        try:
            return await self._link().call(f"Jars.{what}", {"jar": jar, **rest})
        except ExtensionError as error:
            if error.code == NOT_ALLOWED:
                raise refusal(error) from None
            raise

    def _check_jar(self, jar: str) -> None:
        self._link()
        if jar != SHARED_JAR and jar not in self._jars:
            raise JarUnavailable("That jar is gone.")

    # --- pages ---------------------------------------------------------------------------------

    async def film(
        self, tab: TabHandle, options: FilmOptions, show: Show, miss: Miss | None = None
    ) -> Film:
        return RepeatedShots(self.page(tab).capture, options, show, miss)

    def page(self, tab: TabHandle) -> OwnFirefoxPage:
        self._check(tab)
        page = self._pages.get(tab)
        if page is None:
            page = self._pages[tab] = OwnFirefoxPage(
                tab, partial(self._link_to, tab), lambda: self._remote, self._tell, self._arrived
            )
        return page

    def _link_to(self, tab: TabHandle) -> ExtensionConnection:
        self._check(tab)
        return self._link()

    # --- what happens there --------------------------------------------------------------------

    def _speak(self, link: Link, on_end: Callable[[], None]) -> ExtensionConnection:
        return ExtensionConnection(link, self._word, on_end)

    def _linked_anew(self) -> None:
        self._pages.clear()
        self._forget_remote()

    def _take_over(self, handover: Json) -> None:
        """Take over the remote agent only: the extension itself holds the state of pages."""
        if handover.get("hasRemote"):
            self._remote = FirefoxRemote(self._ask, self._link().say, self._input_is_trusted)

    async def _ask(self, tab: TabHandle, method: str, params: Json) -> Json:
        return await self.page(tab).ask(method, params)

    def _input_is_trusted(self, is_trusted: bool) -> None:
        self.capabilities = replace(self.capabilities, trusted_input=is_trusted)

    def _forget_remote(self) -> None:
        remote, self._remote = self._remote, None
        if remote is not None:
            remote.ended()

    def _word(self, word: str, what: Any) -> None:
        if word != REMOTE:
            super()._word(word, what)
        elif self._remote is not None:
            self._remote.heard(what)

    def _end(self) -> None:
        self._forget_remote()
        super()._end()

    def _spawned(self, opener: TabHandle) -> None:
        pass  # the extension itself waits for new tabs before it answers an action

    def _left(self, tab: TabHandle, error: RoostError) -> None:
        self._pages.pop(tab, None)
        if self._remote is not None:
            self._remote.left(tab, error)
        if self._connection is not None:
            self._connection.end_session(tab, error)

    def _heard(self, method: str, params: Json) -> None:
        tab = TabHandle(params.get("tab", ""))
        if tab not in self._known:
            return
        if method == "Page.died":
            self._link().interrupt(tab, TabCrashed("The page's process died."))
            self._tell(events.TabCrashed(tab))
        elif method == "Page.chooser":
            self.page(tab).chooser.opened(params["frame"], multiple=params["multiple"])
        elif method == "Page.left":
            self.page(tab).frame_left(params["frame"])
        elif (report := report_of(method, params)) is not None:
            self._tell(report)

    def _arrived(self, tab: TabHandle, url: str, title: str) -> None:
        if tab in self._known:
            if self._remote is not None:
                self._remote.document_changed(tab)
            super()._arrived(tab, url, title)
