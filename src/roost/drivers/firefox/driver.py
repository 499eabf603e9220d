"""The Firefox driver: jars are user contexts, tabs are top-level browsing contexts.

Firefox allows one BiDi session. If its client dies, Firefox refuses every new session until it
restarts. So the keeper holds the session, and each new broker continues in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from roost.conditions import NO_CONDITIONS, Conditions
from roost.drivers.base import (
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
    RunningBrowser,
    Show,
)
from roost.drivers.clipboard import GUARD, lost, shared_out
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.events import (
    DriverEvent,
    TabNavigated,
    TabOpened,
)
from roost.drivers.firefox.conditions import JarConditions
from roost.drivers.firefox.conditions import check as check_conditions
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.contexts import Contexts
from roost.drivers.firefox.jars import (
    Jars,
)
from roost.drivers.firefox.lacks import LACKS
from roost.drivers.firefox.scripts import SANDBOX
from roost.drivers.firefox.storage import UnseenPage, read_page_storage
from roost.drivers.firefox.tab import BidiTab
from roost.drivers.keeper_process import KeeperProcess
from roost.drivers.link import Link
from roost.drivers.managed_driver import ManagedDriver
from roost.drivers.repeated_shots import RepeatedShots
from roost.drivers.storage_visitor import read_storage, write_storage
from roost.errors import BrowserLost, JarUnavailable, TabGone, Timeout, TooLarge
from roost.vocabulary import MIB, JarPolicy, TabHandle

logger = logging.getLogger(__name__)
OPEN_SECONDS = 30.0
BODY_BYTES = 10 * MIB
"""Firefox keeps response bodies up to this size for later ``body`` calls."""
_EVENTS = ["browsingContext", "network", "log.entryAdded", "input.fileDialogOpened"]


class FirefoxDriver(ManagedDriver[BidiConnection]):
    """The driver of one Firefox that a keeper holds."""

    capabilities = Capabilities(draws_for_pictures=False, sees_messages=False, lacks=LACKS)

    def __init__(self, keeper: KeeperProcess, bundle: Bundle) -> None:
        super().__init__(keeper, bundle)
        self._jars: Jars | None = None
        self._contexts: Contexts | None = None
        self._unseen: dict[str, UnseenPage] = {}
        self._conditions_of: ConditionsOf = lambda _: NO_CONDITIONS
        self._jar_conditions: dict[str, JarConditions] = {}
        self._putting: set[asyncio.Task[None]] = set()
        self.clipboard = shared_out(lambda: self._unseen_page(SHARED_JAR), keeper.headless)

    # --- life ----------------------------------------------------------------------------------

    async def _begin(self, bidi: BidiConnection, handover: Json, is_new: bool) -> RunningBrowser:
        jars, contexts = self._all_jars(), self._all_contexts()
        notes = handover["notes"]
        contexts.expect_first_tab(notes.get("firstTab", handover["firstTab"]))
        # Keepers of earlier versions do not know "creating".
        left = [bidi.expect(one, "browsingContext.create") for one in handover.get("creating", ())]
        for making in left:
            making.add_done_callback(log_failure)
        try:
            if not notes.get("isSetUp"):
                is_new = True  # an earlier broker may have started Firefox and died before this
                await self._set_up(bidi, jars)
            await jars.learn()
            roots = await bidi.call("browsingContext.getTree", {"maxDepth": 0})
        except BidiError as error:
            raise BrowserLost("Firefox cannot be set up.", page_said=str(error)) from None
        tree = await asyncio.gather(*(_with_frames(bidi, root) for root in roots["contexts"]))
        gone = {params["context"] for params in bidi.held("browsingContext.contextDestroyed")}
        there = [one for one in tree if one["context"] not in gone]
        contexts.close_left(left)
        tabs = contexts.take_over(handover, there)
        for preload in notes.get("preloads", ()):
            bidi.tell("script.removePreloadScript", {"script": preload})
        for tab in contexts.tabs.values():
            tab.interception.put(self._conditions_of(tab.handle))
        self._take_over_what_waits(handover)
        bidi.release()
        return RunningBrowser(
            version=handover["product"],
            pid=handover["pid"],
            headless=self._keeper.headless,
            resumed=not is_new,
            tabs=tabs,
            jars=frozenset(jars.known),
        )

    # --- jars and tabs -------------------------------------------------------------------------

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        if policy not in self.capabilities.jars:
            raise JarUnavailable(f"Firefox has no {policy} jars.")
        self._browser()
        return await self._all_jars().make(policy, proxy, downloads)

    async def remove_jar(self, jar: str) -> None:
        jars = self._all_jars()
        self._all_contexts().jar_removed(jar)
        self._jar_conditions.pop(jar, None)
        await jars.remove(jar)

    async def read_cookies(self, jar: str) -> list[Cookie]:
        return await self._all_jars().read_cookies(jar)

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        return await self._all_jars().write_cookies(jar, cookies)

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        await self._all_jars().delete_cookies(jar, cookies)

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        return await read_storage(lambda: self._unseen_page(jar), origins)

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        page = self.page(tab)
        page.check_alive()
        return await read_page_storage(self._browser(), page.context, origin)

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        return await write_storage(lambda: self._unseen_page(jar), storage)

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        self._all_jars().check(jar)
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                return (await self._all_contexts().open(jar, group)).handle
        except TimeoutError:
            raise Timeout(
                f"Firefox did not open a tab within {OPEN_SECONDS:.0f} s.",
                hint="Try again; the machine may be busy.",
            ) from None

    async def bring_to_front(self, tab: TabHandle) -> None:
        await self._all_contexts().bring_to_front(self.page(tab))

    async def label(self, jar: str, group: Group) -> None:
        await self._all_contexts().label(jar, group)

    async def close_tab(self, tab: TabHandle) -> None:
        contexts = self._all_contexts()
        if tab in contexts.tabs:
            await contexts.close(contexts.tabs[tab])

    # --- conditions ----------------------------------------------------------------------------

    def ask_conditions(self, of: ConditionsOf) -> None:
        self._conditions_of = of

    def check_conditions(self, conditions: Conditions) -> None:
        check_conditions(conditions)

    async def put_jar_conditions(self, jar: str, conditions: Conditions) -> None:
        self._all_jars().check(jar)
        known = self._jar_conditions.get(jar)
        if known is None:
            known = JarConditions(
                self._browser(), jar, self._keeper.viewport, self._all_contexts().preloads
            )
            self._jar_conditions[jar] = known
        await known.put(conditions)

    async def put_conditions(self, tab: TabHandle, conditions: Conditions) -> None:
        page = self.page(tab)
        page.check_open()
        known = self._jar_conditions.get(page.jar)
        await page.conditions.put(conditions, NO_CONDITIONS if known is None else known.now)

    # --- the browser ---------------------------------------------------------------------------

    @asynccontextmanager
    async def _unseen_page(self, jar: str) -> AsyncIterator[UnseenPage]:
        self._all_jars().check(jar)
        context = await self._all_contexts().open_unseen(jar)
        page = self._unseen[context] = UnseenPage(self._browser(), context)
        try:
            await page.set_up()
            yield page
        finally:
            del self._unseen[context]
            page.close()

    async def _set_up(self, bidi: BidiConnection, jars: Jars) -> None:
        """Send the settings of the whole browser, once in the browser's life."""
        bodies = {"dataTypes": ["response"], "maxEncodedDataSize": BODY_BYTES}
        await asyncio.gather(
            bidi.call("session.subscribe", {"events": _EVENTS}),
            bidi.call("network.addDataCollector", bodies),
            bidi.call("network.addIntercept", {"phases": ["authRequired"]}),
            jars.furnish(SHARED_JAR, None),
            *self._guard(bidi),
        )
        bidi.say("note", {"isSetUp": True})

    def _guard(self, bidi: BidiConnection) -> list[Pending]:
        """Run the guard of pastes in each document, before the page's scripts."""
        if self.clipboard is None:
            return []
        script = {"functionDeclaration": f"() => {GUARD}", "sandbox": SANDBOX}
        return [bidi.call("script.addPreloadScript", script)]

    def _take_over_what_waits(self, handover: Json) -> None:
        """Handle the requests, dialogs and file choosers that opened while no broker ran."""
        for request in handover["requests"]:
            tab = self._all_contexts().tab_of(request["context"])
            if not request.get("isBlocked"):
                self._refuse_password(request)
            elif tab is not None:
                tab.interception.request_paused(request)
        for prompt in handover["prompts"]:
            self._heard("browsingContext.userPromptOpened", prompt)
        for chooser in handover["choosers"]:
            self._heard("input.fileDialogOpened", chooser)

    def _heard(self, method: str, params: Json) -> None:
        contexts = self._contexts
        assert contexts is not None
        match method:
            case "browsingContext.contextCreated":
                contexts.created(params)
            case "browsingContext.contextDestroyed":
                contexts.destroyed(params["context"])
                if params["context"] in self._unseen:
                    self._unseen[params["context"]].gone()
            case "network.authRequired":
                self._refuse_password(params)
            case _:
                context = params.get("context") or params.get("source", {}).get("context")
                tab = contexts.tab_of(context) or self._unseen.get(context or "")
                if tab is not None:
                    tab.heard(method, params)

    def _refuse_password(self, params: Json) -> None:
        """Refuse a server's request for a password that the address did not contain. Otherwise
        Firefox would ask in a window."""
        answer = {"request": params["request"]["request"], "action": "cancel"}
        self._browser().tell("network.continueWithAuth", answer)
        tab = self._all_contexts().tab_of(params["context"])
        if tab is not None:
            tab.password_wanted(params)

    # --- the link ------------------------------------------------------------------------------

    def _speak(self, link: Link) -> BidiConnection:
        bidi = BidiConnection(link, self._word, self._ended, self._heard)
        self._jars = Jars(bidi, self._keeper.viewport)
        self._contexts = Contexts(
            bidi,
            self._bundle,
            self._tell,
            headless=self._keeper.headless,
            viewport=self._keeper.viewport,
            clipboard=self.clipboard,
        )
        self._jar_conditions.clear()
        bidi.begin()
        return bidi

    def _lost(self, error: BrowserLost) -> None:
        if self._contexts is not None:
            self._contexts.ended(error)
        lost(self.clipboard)

    def _tell(self, event: DriverEvent) -> None:
        if isinstance(event, TabNavigated):
            self._all_jars().visited(self.page(event.handle).jar, event.url)
        super()._tell(event)
        if isinstance(event, TabOpened):
            self._begin_conditions(event.handle)

    def _begin_conditions(self, tab: TabHandle) -> None:
        """Make a tab that no call opened follow its conditions. BiDi cannot pause the tab until
        then, so its first request may go without the rules of the tab (``lacks.py``)."""
        conditions = self._conditions_of(tab)
        if conditions != NO_CONDITIONS:
            putting = asyncio.get_running_loop().create_task(
                self.put_conditions(tab, conditions), name=f"set up {tab}"
            )
            self._putting.add(putting)
            putting.add_done_callback(self._putting.discard)
            putting.add_done_callback(_log_refused)

    def _all_jars(self) -> Jars:
        self._browser()
        assert self._jars is not None
        return self._jars

    def _all_contexts(self) -> Contexts:
        self._browser()
        assert self._contexts is not None
        return self._contexts

    async def film(
        self, tab: TabHandle, options: FilmOptions, show: Show, miss: Miss | None = None
    ) -> Film:
        return RepeatedShots(self.page(tab).capture, options, show, miss)

    def page(self, tab: TabHandle) -> BidiTab:
        found = self._all_contexts().tabs.get(tab)
        if found is None:
            raise TabGone("There is no such tab.")
        return found


def _log_refused(putting: asyncio.Task[None]) -> None:
    if not putting.cancelled() and (error := putting.exception()) is not None:
        logger.debug("a new tab does not follow its conditions: %r", error)


async def _with_frames(bidi: BidiConnection, root: Json) -> Json:
    """Return the tab's context with the frames below it. Ask for each tab separately, so that one
    page with an unreadable frame tree does not hide the other tabs."""
    try:
        tree = await bidi.call("browsingContext.getTree", {"root": root["context"]})
    except (BidiError, TooLarge):
        return root
    found: Json = tree["contexts"][0]
    return found
