"""The driver for a person's own Chromium: the extension passes CDP to and from its pages.

Chrome shows a warning bar on all tabs while a debugger is attached to any. So the driver attaches a
tab at its first use and detaches the tab when nothing has used it for ``IDLE_SECONDS``. Detaching
discards all page state except the viewport size, which the next attachment sets again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from roost.conditions import NO_CONDITIONS
from roost.drivers.base import (
    SHARED_JAR,
    Arrival,
    Bundle,
    Capabilities,
    Cookie,
    Film,
    FilmOptions,
    Miss,
    OriginStorage,
    Show,
)
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.passwords import Passwords
from roost.drivers.chromium.tab import CdpTab
from roost.drivers.connection import Json, Pending
from roost.drivers.events import (
    DownloadBegan,
    DownloadEnded,
)
from roost.drivers.extension.base import (
    HELD_BUTTONS,
    OwnBrowser,
    refuse_page,
)
from roost.drivers.extension.connection import NO_SUCH_TAB, PLAIN, no_tab
from roost.drivers.extension.host_link import HostLink
from roost.drivers.link import Link
from roost.drivers.repeated_shots import RepeatedShots
from roost.errors import Interrupted, JarUnavailable, RoostError, TabGone, Unsupported
from roost.hints import Hint
from roost.vocabulary import JarPolicy, TabHandle

P = ParamSpec("P")
T = TypeVar("T")
IDLE_SECONDS = 120.0
"""Longer than a caller pauses between two steps, because detaching makes all refs stale."""
_ELSEWHERE = Hint(
    "Use a managed browser for it[: open a session with {SessionOpen browser=chromium}]."
)


@dataclass(slots=True)
class _DebuggedTab:
    """A tab with a debugger, in use or used recently."""

    page: CdpTab
    ready: Pending
    users: int = 0
    """Calls that use the page now. At 0, ``idle`` counts down to the detachment."""
    idle: asyncio.TimerHandle | None = None


class DebuggerConnection(CdpConnection):
    """A connection to the extension in a Chromium, which passes CDP to and from ``chrome.debugger``
    and adds events of its own."""

    def _is_plain(self, frame: bytes) -> bool:
        return frame.startswith(PLAIN)

    def _refused(self, code: int, message: str) -> Exception:
        return no_tab() if code == NO_SUCH_TAB else CdpError(code, message)


class OwnChromiumDriver(OwnBrowser[DebuggerConnection]):
    capabilities = Capabilities(
        jars=frozenset({JarPolicy.SHARED}),
        holds_buttons=False,
        groups=True,
        asks_person=True,
        lacks=(HELD_BUTTONS,),
    )

    def __init__(
        self, host: HostLink, bundle: Bundle, *, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        super().__init__(host)
        self._bundle = bundle
        self._idle_seconds = idle_seconds
        self._attached: dict[TabHandle, _DebuggedTab] = {}
        self._viewports: dict[TabHandle, tuple[int, int]] = {}

    # --- jars: only the browser's own ------------------------------------------------------------

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        self._link()
        if policy is not JarPolicy.SHARED:
            raise JarUnavailable(
                f"Your own Chromium has no {policy} jars: all its tabs share one.", hint=_ELSEWHERE
            )
        if proxy is not None:
            raise JarUnavailable(
                "Your own browser cannot have domain lists for some of its tabs.", hint=_ELSEWHERE
            )
        return SHARED_JAR

    async def remove_jar(self, jar: str) -> None:
        self._link()

    def _check_jar(self, jar: str) -> None:
        self._link()
        if jar != SHARED_JAR:
            raise JarUnavailable("That jar is gone.")

    async def read_cookies(self, jar: str) -> list[Cookie]:
        raise self._unshared(jar)

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        raise self._unshared(jar)

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        raise self._unshared(jar)

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        raise self._unshared(jar)

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        raise self._unshared(SHARED_JAR)

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        raise self._unshared(jar)

    def _unshared(self, jar: str) -> RoostError:
        """Return the refusal to read or write the jar, which holds the person's logins.

        Pages use their own cookies and storage as always; no caller may see them.
        """
        self._check_jar(jar)
        return Unsupported(
            "The cookies and storage of a person's own browser are not given out.",
            hint="In a page, document.cookie and localStorage work. " + _ELSEWHERE,
        )

    # --- pages ---------------------------------------------------------------------------------

    async def film(
        self, tab: TabHandle, options: FilmOptions, show: Show, miss: Miss | None = None
    ) -> Film:
        return RepeatedShots(self.page(tab).capture, options, show, miss)

    def page(self, tab: TabHandle) -> OwnChromiumPage:
        self._check(tab)
        return OwnChromiumPage(self, tab)

    def keep_viewport(self, tab: TabHandle, width: int, height: int) -> None:
        """Remember the tab's viewport size for its next attachment."""
        self._viewports[tab] = width, height

    @asynccontextmanager
    async def using(self, tab: TabHandle, *, leave: bool = False) -> AsyncIterator[CdpTab]:
        """Give access to the tab while a call uses it. Attach a debugger if none is attached.

        leave: if Chrome refuses the tab's present page, replace it with about:blank first.
        """
        self._check(tab)
        attached = self._attached.get(tab) or await self._attach(tab, leave=leave)
        attached.users += 1
        if attached.idle is not None:
            attached.idle.cancel()
            attached.idle = None
        try:
            if not attached.ready.done() and not attached.page.dialogs.has_dialog:
                await asyncio.shield(attached.ready)
            yield attached.page
        finally:
            attached.users -= 1
            if not attached.users:
                self._let_go_later(tab, attached)

    async def _attach(self, tab: TabHandle, *, leave: bool) -> _DebuggedTab:
        """Attach a debugger to the tab and return its record.

        The extension reports the attachment before it answers the command, so the record exists by
        then.
        """
        try:
            await self._link().call("Debugger.attach", {"tab": tab, "leave": leave})
        except CdpError as error:
            raise refuse_page(error) from None
        attached = self._attached.get(tab)
        if attached is None:
            raise no_tab()
        return attached

    def _let_go_later(self, tab: TabHandle, attached: _DebuggedTab) -> None:
        loop = asyncio.get_running_loop()
        attached.idle = loop.call_later(self._idle_seconds, self._let_go, tab, attached)

    def _let_go(self, tab: TabHandle, attached: _DebuggedTab) -> None:
        if self._attached.get(tab) is not attached or attached.users:
            return
        if attached.page.dialogs.has_dialog:
            self._let_go_later(tab, attached)  # the dialog can only be answered while attached
        else:
            self._detach(tab, TabGone("The tab was let go of."))  # no call waits in the tab
            self._link().tell("Debugger.detach", {"tab": tab})

    # --- what happens there --------------------------------------------------------------------

    def _speak(self, link: Link, on_end: Callable[[], None]) -> DebuggerConnection:
        return DebuggerConnection(link, self._word, on_end)

    def _linked_anew(self) -> None:
        self._passwords = Passwords()

    def _take_over(self, handover: Json) -> None:
        below = [known for known in handover["sessions"] if known["parent"]]
        for known in handover["sessions"]:
            tab = TabHandle(known["sessionId"])
            if known["parent"] or tab not in self._known or tab in self._attached:
                continue
            page = self._page_of(tab, known["targetInfo"])
            page.crashed = known["sessionId"] in handover["crashed"]
            ready: Pending = asyncio.get_running_loop().create_future()
            ready.set_result({})
            for child in below:
                if child["sessionId"].startswith(f"{tab}/"):
                    page.take_over_below(child)
            for what in ("dialogs", "choosers", "requests"):
                for left in handover[what]:
                    page.take_over(what, left["sessionId"], left["params"])
            if not page.crashed:
                page.learn(NO_CONDITIONS)
            self._attached[tab] = _DebuggedTab(page, ready)
            self._let_go_later(tab, self._attached[tab])

    def _heard(self, method: str, params: Json) -> None:
        match method:
            case "Target.attachedToTarget":
                self._debugger_came(TabHandle(params["sessionId"]), params["targetInfo"])
            case "Target.detachedFromTarget":
                self._debugger_went(TabHandle(params["sessionId"]), params.get("reason"))
            case "Downloads.began":
                self._download_began(params)
            case "Downloads.ended":
                tab = TabHandle(params["tab"])
                path, download = params["path"], params["download"]
                self._tell(DownloadEnded(handle=tab, download=download, path=path))

    def _debugger_came(self, tab: TabHandle, info: Json) -> None:
        page = self._page_of(tab, info)
        page.dialogs.viewport = self._viewports.get(tab)
        self._attached[tab] = _DebuggedTab(page, page.set_up(resume=False))

    def _debugger_went(self, tab: TabHandle, reason: str | None) -> None:
        if reason == "canceled_by_user":
            self._detach(tab, Interrupted("The person ended what was going on in this browser."))
        else:
            self._detach(tab, TabGone("The tab was closed."))

    def _download_began(self, params: Json) -> None:
        tab = TabHandle(params["tab"])
        if tab not in self._known:
            return
        self._tell(
            DownloadBegan(
                handle=tab, download=params["download"], url=params["url"], name=params["name"]
            )
        )
        attached = self._attached.get(tab)
        if attached is not None:
            attached.page.side_effects.download_began()

    def _spawned(self, opener: TabHandle) -> None:
        attached = self._attached.get(opener)
        if attached is not None:
            attached.page.side_effects.tab_came()

    def _left(self, tab: TabHandle, error: RoostError) -> None:
        self._viewports.pop(tab, None)
        self._detach(tab, error)

    def _detach(self, tab: TabHandle, error: RoostError) -> None:
        attached = self._attached.pop(tab, None)
        if attached is not None:
            if attached.idle is not None:
                attached.idle.cancel()
            attached.page.ended(error)

    def _arrived(self, tab: TabHandle, url: str, title: str) -> None:
        if tab not in self._attached:  # an attached page reports its arrival earlier, over CDP
            super()._arrived(tab, url, title)

    def _page_of(self, tab: TabHandle, info: Json) -> CdpTab:
        return CdpTab(
            self._link(),
            tab,
            tab,
            SHARED_JAR,
            self._bundle,
            self._passwords,
            self._tell,
            main_frame=info["targetId"],
        )


def _attached(
    work: Callable[Concatenate[CdpTab, P], Awaitable[T]],
) -> Callable[Concatenate[OwnChromiumPage, P], Coroutine[Any, Any, T]]:
    """Return the page work of a ``CdpTab`` as a method that attaches a debugger first."""

    async def method(page: OwnChromiumPage, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async with page.driver.using(page.tab) as tab:
            return await work(tab, *args, **kwargs)

    return method


class OwnChromiumPage:
    """The page work of one tab: that of ``CdpTab``, with a debugger attached meanwhile."""

    def __init__(self, driver: OwnChromiumDriver, tab: TabHandle) -> None:
        self.driver = driver
        self.tab = tab

    async def navigate(self, url: str) -> Arrival:
        async with self.driver.using(self.tab, leave=True) as tab:
            return await tab.navigate(url)

    async def resize(self, width: int, height: int) -> None:
        async with self.driver.using(self.tab) as tab:
            await tab.resize(width, height)
        self.driver.keep_viewport(self.tab, width, height)

    reload = _attached(CdpTab.reload)
    travel = _attached(CdpTab.travel)
    evaluate = _attached(CdpTab.evaluate)
    all_frames = _attached(CdpTab.all_frames)
    call_page = _attached(CdpTab.call_page)
    act = _attached(CdpTab.act)
    send_input = _attached(CdpTab.send_input)
    drop = _attached(CdpTab.drop)
    release = _attached(CdpTab.release)
    capture = _attached(CdpTab.capture)
    pdf = _attached(CdpTab.pdf)
    set_files = _attached(CdpTab.set_files)
    choose_files = _attached(CdpTab.choose_files)
    answer_dialog = _attached(CdpTab.answer_dialog)
    body = _attached(CdpTab.body)
