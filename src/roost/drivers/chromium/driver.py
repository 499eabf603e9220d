"""The Chromium driver: jars are browser contexts, tabs are page targets.

The driver auto-attaches to every new page. The page stays paused until its owner is known. A new
broker takes over the protocol sessions that the keeper remembers and never attaches again: paused
pages, paused requests and open dialogs can be continued only through their old session.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from roost.conditions import NO_CONDITIONS, Conditions
from roost.drivers.base import (
    BLANK,
    SHARED_JAR,
    Bundle,
    Capabilities,
    ConditionsOf,
    Cookie,
    Film,
    FilmOptions,
    Group,
    Miss,
    OriginStorage,
    ProtocolEar,
    ProtocolTap,
    Report,
    RunningBrowser,
    Show,
    TabUsage,
)
from roost.drivers.chromium.conditions import Grants
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.cookies import cookie_from, delete_cookies, write_cookies
from roost.drivers.chromium.downloads import Downloads, put_downloads
from roost.drivers.chromium.film import Screencast
from roost.drivers.chromium.holds import Holds
from roost.drivers.chromium.label_tabs import bring_to_front, fill_label, is_visible
from roost.drivers.chromium.passwords import Passwords
from roost.drivers.chromium.storage import UnseenPage, read_page_storage, stores_of
from roost.drivers.chromium.tab import CdpTab
from roost.drivers.chromium.taps import Tap
from roost.drivers.chromium.usage import tab_usage
from roost.drivers.clipboard import lost, shared_out
from roost.drivers.connection import BROWSER, Json, Pending, log_failure
from roost.drivers.events import TabClosed, TabOpened
from roost.drivers.keeper_process import KeeperProcess
from roost.drivers.link import Link
from roost.drivers.managed_driver import ManagedDriver
from roost.drivers.new_tabs import NewTabs
from roost.drivers.storage_visitor import read_storage, write_storage
from roost.drivers.stores import Stores
from roost.drivers.window_labels import WindowLabels, no_window
from roost.errors import BrowserLost, JarUnavailable, TabCrashed, TabGone, Unsupported
from roost.vocabulary import JarPolicy, TabHandle

logger = logging.getLogger(__name__)
CLOSE_SECONDS = 5.0
OPEN_SECONDS = 12.0
OPEN_TRIES = 3
# Ignore Chromium's own user interface ("browser_ui") and the tab targets that contain pages.
_FILTER = [
    {"type": "browser", "exclude": True},
    {"type": "browser_ui", "exclude": True},
    {"type": "tab", "exclude": True},
    {"type": "page"},
]


class ChromiumDriver(ManagedDriver[CdpConnection]):
    """The driver of one Chromium that a keeper holds."""

    capabilities = Capabilities()

    def __init__(self, keeper: KeeperProcess, bundle: Bundle) -> None:
        super().__init__(keeper, bundle)
        self._tabs: dict[TabHandle, CdpTab] = {}
        self._sessions: dict[str, TabHandle] = {}
        self._jars: set[str] = set()
        self._new_tabs = NewTabs("targetId", self._tab_opened, self._close)
        self._announced: set[TabHandle] = set()
        """Tabs reported with ``TabOpened``. ``RunningBrowser`` must not list them again."""
        self._unseen: dict[str, str] = {}
        """The target by session of unseen pages and labels, which are not tabs: see ``storage.py``
        and ``window_labels.py``."""
        self._passwords: dict[str, Passwords] = {}
        self._closing: dict[TabHandle, asyncio.Future[None]] = {}
        self._downloads = Downloads(self._tab_of_frame, self._tell, self._browser)
        self._holds = Holds(self._let_run)
        self._labels = WindowLabels(self._open_label, self._close)
        self._version: Json | None = None
        self._conditions_of: ConditionsOf = lambda _: NO_CONDITIONS
        self._grants = Grants()
        self.clipboard = shared_out(lambda: self._unseen_page(SHARED_JAR), keeper.headless)
        self._spare: Pending | None = None
        """A browser-level session attached in advance, so that the next client need not wait."""

    # --- life ----------------------------------------------------------------------------------

    async def start(self, report: Report) -> RunningBrowser:
        self._forget_everything()
        return await super().start(report)

    async def _begin(self, cdp: CdpConnection, handover: Json, is_new: bool) -> RunningBrowser:
        # A page's owner depends on its jar, so hold back events until the jars are known.
        early: list[tuple[str, Json]] = []
        cdp.on_event(BROWSER, lambda method, params: early.append((method, params)))
        # Keepers of earlier versions know neither "creating" nor "watches".
        left = [cdp.expect(call, "Target.createTarget") for call in handover.get("creating", ())]
        for making in left:
            making.add_done_callback(log_failure)
        contexts = await cdp.call("Target.getBrowserContexts")
        self._jars = set(contexts["browserContextIds"])
        cdp.on_event(BROWSER, self._heard)
        for making in left:
            self._new_tabs.close_when_created(making)
        # Without "watches": a broker's second command was ``_watch_targets``.
        is_watching = handover.get("watches", handover["nextId"] > 2)
        if is_watching:
            self._take_over(handover)
        for method, params in early:
            self._heard(method, params)
        if not is_watching:
            await self._watch_targets()
        return RunningBrowser(
            version=handover["product"],
            pid=handover["pid"],
            headless=self._keeper.headless,
            resumed=not is_new,
            tabs=frozenset(self._tabs) - self._announced,
            jars=frozenset(self._jars),
        )

    # --- jars and tabs -------------------------------------------------------------------------

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        if policy not in self.capabilities.jars:
            raise JarUnavailable(f"Chromium has no {policy} jars.")
        if policy is JarPolicy.SHARED:
            if proxy is not None:
                raise JarUnavailable("The browser's own jar cannot have domain lists of its own.")
            await put_downloads(self._browser(), {}, downloads)
            return SHARED_JAR
        options: Json = {"disposeOnDetach": False}
        if proxy is not None:
            # Without "<-loopback>", Chromium bypasses the proxy for servers on this machine.
            options |= {"proxyServer": proxy, "proxyBypassList": "<-loopback>"}
        made = await self._browser().call("Target.createBrowserContext", options)
        self._jars.add(made["browserContextId"])
        await put_downloads(
            self._browser(), {"browserContextId": made["browserContextId"]}, downloads
        )
        return str(made["browserContextId"])

    async def remove_jar(self, jar: str) -> None:
        cdp = self._browser()
        if jar == SHARED_JAR or jar not in self._jars:
            return
        self._jars.discard(jar)
        self._passwords.pop(jar, None)
        try:
            await cdp.call("Target.disposeBrowserContext", {"browserContextId": jar})
        except CdpError as error:
            logger.debug("jar %s was gone: %s", jar, error)

    async def read_cookies(self, jar: str) -> list[Cookie]:
        read = await self._browser().call("Storage.getCookies", self._context(jar))
        return [cookie_from(one) for one in read["cookies"]]

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        return await write_cookies(self._browser(), self._context(jar), cookies)

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        await delete_cookies(self._browser(), self._context(jar), cookies)

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        return await read_storage(lambda: self._unseen_page(jar), origins)

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        page = self.page(tab)
        page.check_alive()
        return await read_page_storage(self._browser(), page.session, origin)

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        return await write_storage(lambda: self._unseen_page(jar), storage)

    async def stores(self) -> Stores:
        return await stores_of(self._browser())

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        """Open a tab, and then the label of its window: the first tab of a window is in front, and
        the person should see the page there."""
        tab = await self._open_patiently(jar)
        if group is not None and not self._keeper.headless:
            try:
                await self._labels.show(jar, group)
            except BaseException:
                self._close(tab)  # no caller will get its handle, so nobody else would close it
                raise
            self._drop_unused_label(jar)
        return tab

    async def _open_patiently(self, jar: str) -> TabHandle:
        """Try again if the page's process dies or hangs before the page is set up."""
        for _ in range(OPEN_TRIES):
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    return await self._open_page(jar)
            except (TabCrashed, TimeoutError) as error:
                logger.info("a tab did not open: %r", error)
        raise TabCrashed(
            f"The browser's new pages ended or did not answer, {OPEN_TRIES} times.",
            hint="Try again; the machine may be short of memory.",
        )

    async def _open_page(self, jar: str) -> TabHandle:
        tab = self._adopt(await self._create_page(jar))
        try:
            await tab.set_up(resume=True)
        except BaseException:
            # No caller has the tab's handle, so only this method can close the tab.
            if self._tabs.get(tab.handle) is tab and not self._over.is_set():
                self._close(tab.handle)
            raise
        return tab.handle

    async def bring_to_front(self, tab: TabHandle) -> None:
        self.page(tab)
        if self._keeper.headless:
            raise no_window()
        cdp = self._browser()
        try:
            await bring_to_front(cdp, tab)
        except CdpError as error:
            self.page(tab)  # raises TabGone if the tab closed meanwhile
            raise Unsupported("Chromium did not show the tab.", page_said=str(error)) from None

    async def label(self, jar: str, group: Group) -> None:
        if not self._keeper.headless:
            await self._labels.show(jar, group)

    async def close_tab(self, tab: TabHandle) -> None:
        cdp = self._browser()
        if tab not in self._tabs:
            return
        jar = self._tabs[tab].jar
        gone = self._closing.setdefault(tab, asyncio.get_running_loop().create_future())
        cdp.tell("Target.closeTarget", {"targetId": tab})
        async with asyncio.timeout(CLOSE_SECONDS):
            await asyncio.shield(gone)
            await self._hide_label(jar)

    # --- conditions ----------------------------------------------------------------------------

    def ask_conditions(self, of: ConditionsOf) -> None:
        self._conditions_of = of

    def check_conditions(self, conditions: Conditions) -> None: ...  # Chromium follows them all

    async def put_jar_conditions(self, jar: str, conditions: Conditions) -> None:
        await self._grants.put(self._browser(), jar, conditions.grants)

    async def put_conditions(self, tab: TabHandle, conditions: Conditions) -> None:
        await self.page(tab).conditions.put(conditions)

    # --- DevTools clients ----------------------------------------------------------------------

    async def version(self) -> Json:
        cdp = self._browser()
        if self._version is None:
            self._version = await cdp.call("Browser.getVersion")
        return self._version

    async def targets(self) -> list[Json]:
        found = await self._browser().call("Target.getTargets")
        return list(found["targetInfos"])

    async def open_tap(self, ear: ProtocolEar) -> ProtocolTap:
        cdp = self._browser()
        asked = self._spare or cdp.call("Target.attachToBrowserTarget")
        self._spare = cdp.call("Target.attachToBrowserTarget")
        self._spare.add_done_callback(log_failure)
        try:
            attached = await asyncio.shield(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(self._end_unwanted)
            raise
        return cdp.taps.open(attached["sessionId"], ear)

    def _end_unwanted(self, asked: Pending) -> None:
        """End a session whose client left before the session was attached."""
        with suppress(CdpError, BrowserLost):  # no session was attached
            self._end_tap(asked.result()["sessionId"])

    def _end_tap(self, session: str) -> None:
        self._browser().tell("Target.detachFromTarget", {"sessionId": session})

    def close_tap(self, tap: ProtocolTap) -> None:
        assert isinstance(tap, Tap)
        if self._connection is not None and not self._over.is_set():
            self._connection.taps.close(tap)
            self._end_tap(tap.session)
            self._holds.leave(tap)

    def release(self, tab: TabHandle, tap: ProtocolTap) -> None:
        assert isinstance(tap, Tap)
        self._holds.release(tab, tap)

    def tab_of(self, frame: str) -> TabHandle | None:
        tab = self._tab_of_frame(frame)
        return None if tab is None else tab.handle

    async def put_downloads(self, jar: str, folder: str) -> None:
        await put_downloads(self._browser(), self._context(jar), folder)

    def _let_run(self, tab: TabHandle) -> None:
        """Let a paused page run.

        A popup without an opener has no renderer until it runs. Then Chromium 156 attaches the
        session that waits (this driver's) before the document is committed, and the sessions of
        DevTools clients after it. So a client may miss the document's first events. None of these
        helps: waiting for the client's replies first (there is no renderer that replies), running
        the page through the client's session (it does not resume the navigation), holding the
        document with ``Fetch``, pausing at the first script with ``Debugger``, detaching the
        waiting session after it said to run.
        """
        page = self._tabs.get(tab)
        if page is not None:
            self._browser().tell("Runtime.runIfWaitingForDebugger", None, page.session)

    async def film(
        self, tab: TabHandle, options: FilmOptions, show: Show, miss: Miss | None = None
    ) -> Film:
        self.page(tab)
        film = Screencast(options, show, self.close_tap)
        tap = await self.open_tap(film)
        try:
            await film.begin(tap, tab)
        except BaseException:
            film.close()
            raise
        return film

    async def usage(self, tab: TabHandle) -> TabUsage:
        return await tab_usage(self._browser(), self.page(tab).session)

    # --- targets -------------------------------------------------------------------------------

    async def _create_page(self, jar: str) -> Json:
        """Create a blank, paused page and return its attachment event."""
        params: Json = {"url": BLANK, "background": True, **self._context(jar)}
        return await self._new_tabs.created(self._browser().call("Target.createTarget", params))

    def _close(self, target: str) -> None:
        self._browser().tell("Target.closeTarget", {"targetId": target})

    @asynccontextmanager
    async def _unseen_page(self, jar: str) -> AsyncIterator[UnseenPage]:
        page = UnseenPage(self._browser(), await self._create_page(jar))
        self._unseen[page.session] = page.target
        try:
            await page.set_up()
            yield page
        finally:
            page.close()

    async def _open_label(self, jar: str, html: str) -> str:
        attached = await self._create_page(jar)
        session, target = attached["sessionId"], str(attached["targetInfo"]["targetId"])
        self._unseen[session] = target
        try:
            await fill_label(self._browser(), session, target, html)
        except CdpError as error:
            self._close(target)
            raise TabGone("The label tab closed as it opened.", page_said=str(error)) from None
        except BaseException:
            self._close(target)
            raise
        return target

    async def _hide_label(self, jar: str) -> None:
        """Give the front back to a page of the session, if Chromium chose the label as the tab to
        select after one closed. To select another tab, CDP would have to raise the window; closing
        the label does not."""
        label = self._labels.of(jar)
        session = next((one for one, page in self._unseen.items() if page == label), None)
        if label is None or session is None:
            return
        with suppress(CdpError, TabGone):
            if await is_visible(self._browser(), session):
                await self._labels.renew(jar)

    def _context(self, jar: str) -> Json:
        """Return the parameters that name the jar in a command. The shared jar needs none."""
        if jar == SHARED_JAR:
            return {}
        if jar not in self._jars:
            raise JarUnavailable("That jar is gone.")
        return {"browserContextId": jar}

    async def _watch_targets(self) -> None:
        cdp = self._browser()
        options = {
            "autoAttach": True,
            "waitForDebuggerOnStart": True,
            "flatten": True,
            "filter": _FILTER,
        }
        await cdp.call("Target.setAutoAttach", options)

    def _take_over(self, handover: Json) -> None:
        """Take over an earlier broker's sessions, and what happened in them since. End the sessions
        of its DevTools clients, because these lost their connections with that broker."""
        own = [s for s in handover["sessions"] if not s["parent"]]
        for known in own:
            if known["targetInfo"]["type"] == "browser":
                self._browser().tell("Target.detachFromTarget", {"sessionId": known["sessionId"]})
        for known in own:
            if known["targetInfo"]["type"] != "page":
                continue
            if known["waiting"]:
                self._take_over_new(known)
            else:
                tab = self._adopt(known)
                tab.crashed = known["sessionId"] in handover["crashed"]
        for known in handover["sessions"]:
            above = self._sessions.get(known["parent"])
            if above is not None:
                self._tabs[above].take_over_below(known)
        # Requests come last: what becomes of them depends on the conditions of their tab.
        for what in ("dialogs", "choosers"):
            self._take_over_open(what, handover)
        for tab in self._tabs.values():
            if not tab.is_ready:
                tab.learn(self._conditions_of(tab.handle))
        self._take_over_open("requests", handover)

    def _take_over_open(self, what: str, handover: Json) -> None:
        for left in handover[what]:
            for tab in self._tabs.values():
                tab.take_over(what, left["sessionId"], left["params"])

    def _take_over_new(self, known: Json) -> None:
        """Take over a page that is still paused. If the last broker created it, close the page: no
        call waits for it. Otherwise the page is a popup that was never reported."""
        if known.get("created"):
            self._close(known["targetInfo"]["targetId"])
        else:
            self._attached(known)

    def _heard(self, method: str, params: Json) -> None:
        match method:
            case "Target.attachedToTarget":
                self._attached(params)
            case "Target.detachedFromTarget":
                self._detached(params["sessionId"])
            case "Browser.downloadWillBegin":
                self._downloads.began(params)
            case "Browser.downloadProgress":
                self._downloads.went_on(params)

    def _attached(self, params: Json) -> None:
        info = params["targetInfo"]
        if info["type"] == "browser":
            return  # the session of a DevTools client
        if info["type"] != "page":
            cdp = self._browser()
            cdp.tell("Runtime.runIfWaitingForDebugger", None, params["sessionId"])
            cdp.tell("Target.detachFromTarget", {"sessionId": params["sessionId"]})
        elif "openerId" in info or not self._new_tabs.may_be_ours(info["targetId"], params):
            self._tab_opened(params)

    def _tab_opened(self, params: Json) -> None:
        """Report a page that no call opened. The page stays paused until its owner is known, and
        longer if the report is answered with a ``Hold``."""
        info = params["targetInfo"]
        tab = self._adopt(params)
        self._announced.add(tab.handle)
        opener = info.get("openerId") or self._who_asked_for(tab)
        hold = self._report(
            TabOpened(
                handle=tab.handle,
                opener=None if opener is None else TabHandle(opener),
                jar=tab.jar,
                url=BLANK,  # the popup's own address is not committed yet and may never be
            )
        )
        if hold is not None:
            self._holds.hold(tab.handle, hold.taps)
        conditions = self._conditions_of(tab.handle)
        ready = tab.set_up(resume=hold is None, conditions=conditions)
        ready.add_done_callback(_heard_or_gone)

    def _who_asked_for(self, new: CdpTab) -> TabHandle | None:
        """Return the opener of a ctrl-clicked tab: the tab of the same jar that asked for a tab.
        Chromium names no opener for it."""
        asking = (
            tab
            for tab in self._tabs.values()
            if tab.jar == new.jar and tab.side_effects.asks_for_tab
        )
        opener = next(asking, None)
        if opener is None:
            return None
        opener.side_effects.tab_came()
        return opener.handle

    def _tab_of_frame(self, frame: str) -> CdpTab | None:
        return next((tab for tab in self._tabs.values() if tab.frames.get(frame)), None)

    def _adopt(self, params: Json) -> CdpTab:
        info = params["targetInfo"]
        handle = TabHandle(info["targetId"])
        context = info.get("browserContextId", "")
        jar = context if context in self._jars else SHARED_JAR
        cdp = self._browser()
        passwords = self._passwords.setdefault(jar, Passwords())
        tab = CdpTab(
            cdp,
            handle,
            params["sessionId"],
            jar,
            self._bundle,
            passwords,
            self._tell,
            main_frame=info["targetId"],
            clipboard=self.clipboard,
        )
        tab.dialogs.viewport = self._keeper.viewport
        self._tabs[handle] = tab
        self._sessions[params["sessionId"]] = handle
        return tab

    def _detached(self, session: str) -> None:
        unseen = self._unseen.pop(session, None)
        if unseen is not None:
            self._labels.closed(unseen)
            self._browser().end_session(session)
        handle = self._sessions.pop(session, None)
        if handle is None:
            return
        self._announced.discard(handle)
        self._holds.forget(handle)
        tab = self._tabs.pop(handle)
        tab.ended()
        closing = self._closing.pop(handle, None)
        if closing is not None and not closing.done():
            closing.set_result(None)
        self._drop_unused_label(tab.jar)
        for other in [one for one in self._tabs.values() if one.jar == tab.jar]:
            other.conditions.renew()
        self._report(TabClosed(handle))

    def _drop_unused_label(self, jar: str) -> None:
        if not any(tab.jar == jar for tab in self._tabs.values()):
            self._labels.drop(jar)

    # --- the link ------------------------------------------------------------------------------

    def _speak(self, link: Link) -> CdpConnection:
        return CdpConnection(link, self._word, self._ended)

    def _lost(self, error: BrowserLost) -> None:
        self._new_tabs.clear()
        lost(self.clipboard)
        for tab in self._tabs.values():
            tab.ended(error)
        for closing in self._closing.values():
            if not closing.done():
                closing.set_result(None)

    def _forget_everything(self) -> None:
        self._connection = None
        self._holds = Holds(self._let_run)
        self._labels = WindowLabels(self._open_label, self._close)
        self._new_tabs = NewTabs("targetId", self._tab_opened, self._close)
        for table in (self._tabs, self._sessions, self._closing, self._unseen):
            table.clear()
        self._announced.clear()
        self._passwords.clear()
        self._grants = Grants()
        self._version = self._spare = None

    def page(self, tab: TabHandle) -> CdpTab:
        self._browser()
        found = self._tabs.get(tab)
        if found is None:
            raise TabGone("There is no such tab.")
        return found


def _heard_or_gone(answer: asyncio.Future[Json]) -> None:
    if not answer.cancelled() and (error := answer.exception()) is not None:
        logger.debug("a tab went as it came: %s", error)
