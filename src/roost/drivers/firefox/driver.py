"""The Driver over BiDi: jars are user contexts, tabs are top-level browsing contexts.

Firefox says of every new context who opened it, before anything happens there, so nothing has to
wait for its owner to be found. All tabs are made beside the browser's first one, in its window, and
never in a popup's; that first tab is nobody's and stays. A broker that comes later goes on in the
same protocol session with what the keeper remembers (design.md §8).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from roost.drivers.base import (
    Arrival,
    BrowserEnded,
    Capabilities,
    Cookie,
    DriverEvent,
    FrameInfo,
    Input,
    Picture,
    Report,
    Shot,
    Started,
    TabAppeared,
    TabDisappeared,
)
from roost.drivers.firefox.connection import BidiConnection, BidiError, Json
from roost.drivers.firefox.jars import SHARED_JAR, Jars
from roost.drivers.firefox.tab import BidiTab
from roost.drivers.firefox.waits import SOON_SECONDS
from roost.drivers.keeping import Keeping
from roost.drivers.link import Link
from roost.errors import BrowserLost, JarUnavailable, TabGone
from roost.vocabulary import MIB, JarPolicy, TabHandle

CLOSE_SECONDS = 5.0
BODY_BYTES = 10 * MIB
"""The largest response whose body is kept for whoever asks for it later."""
_EVENTS = ["browsingContext", "network", "log.entryAdded", "input.fileDialogOpened"]


class FirefoxDriver:
    """One Firefox. ``keeping`` finds or starts the keeper that holds it."""

    capabilities = Capabilities()

    def __init__(self, keeping: Keeping, bundle: str) -> None:
        self._keeping = keeping
        self._bundle = bundle
        self._bidi: BidiConnection | None = None
        self._jars: Jars | None = None
        self._report: Report = _ignore
        self._tabs: dict[TabHandle, BidiTab] = {}
        self._frames: dict[str, BidiTab] = {}
        self._first_tab: str | None = None
        """Nobody's: others are made beside it, and while it is there, any of them can be closed."""
        self._creating = 0
        self._undecided: dict[TabHandle, Json] = {}
        self._closing: dict[TabHandle, asyncio.Future[None]] = {}
        self._came = asyncio.Event()
        self._went: set[str] | None = None
        """Contexts that went while we are still asking which there are."""
        self._handover: asyncio.Future[Json] | None = None
        self._over = asyncio.Event()
        self._is_stopping = False

    # --- life ----------------------------------------------------------------------------------

    def linked(self, link: Link) -> None:
        self._keeping.linked(link)

    async def start(self, report: Report) -> Started:
        self._forget_everything()
        self._report = report
        link, is_new = await self._keeping.link()
        self._handover = asyncio.get_running_loop().create_future()
        self._bidi = bidi = BidiConnection(link, self._word, self._ended, self._heard)
        self._jars = jars = Jars(bidi, self._keeping.viewport)
        handover = await self._handover
        bidi.resume_ids(handover["nextId"])
        self._first_tab = handover["notes"].get("firstTab", handover["firstTab"])
        try:
            if not handover["notes"].get("isSetUp"):
                await self._set_up(jars)
            await jars.learn()
            tree = await bidi.call("browsingContext.getTree")
        except BidiError as error:
            raise BrowserLost(f"Firefox cannot be set up: {error}.") from None
        tabs = self._take_over(handover, tree["contexts"])
        return Started(
            version=handover["product"],
            pid=handover["pid"],
            headless=self._keeping.headless,
            resumed=not is_new,
            tabs=tabs,
            jars=frozenset(jars.known),
        )

    async def stop(self) -> None:
        self._is_stopping = True
        if self._bidi is not None and not self._over.is_set():
            self._bidi.say("end")
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                self._bidi.close()
        await self._keeping.ended()

    # --- jars and tabs -------------------------------------------------------------------------

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        if policy not in self.capabilities.jars:
            raise JarUnavailable(f"Firefox has no {policy} jars.")
        self._browser()
        return await self._all_jars().make(policy, proxy, downloads)

    async def remove_jar(self, jar: str) -> None:
        await self._all_jars().remove(jar)

    async def read_cookies(self, jar: str) -> list[Cookie]:
        return await self._all_jars().read_cookies(jar)

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        await self._all_jars().write_cookies(jar, cookies)

    async def open_tab(self, jar: str) -> TabHandle:
        self._all_jars().check(jar)
        await self._keep_first_tab()
        context = await self._create({"userContext": jar, "referenceContext": self._first_tab})
        return self._adopt(context).handle

    async def close_tab(self, tab: TabHandle) -> None:
        bidi = self._browser()
        if tab not in self._tabs:
            return
        await self._keep_first_tab()
        gone = self._closing.setdefault(tab, asyncio.get_running_loop().create_future())
        bidi.tell("browsingContext.close", {"context": tab})
        async with asyncio.timeout(CLOSE_SECONDS):
            await asyncio.shield(gone)

    # --- pages ---------------------------------------------------------------------------------

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        return await self._tab(tab).navigate(url)

    async def reload(self, tab: TabHandle) -> Arrival:
        return await self._tab(tab).reload()

    async def travel(self, tab: TabHandle, delta: int) -> Arrival:
        return await self._tab(tab).travel(delta)

    async def evaluate(
        self,
        tab: TabHandle,
        function: str,
        *,
        frame: str | None = None,
        ref: str | None = None,
    ) -> Any:
        return await self._living(tab).scripts.evaluate(function, frame, ref)

    async def frames(self, tab: TabHandle) -> list[FrameInfo]:
        return await self._tab(tab).all_frames()

    async def call_page(
        self,
        tab: TabHandle,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
    ) -> Any:
        return await self._living(tab).scripts.call_bundle(frame, function, argument, owner_of)

    async def give_input(self, tab: TabHandle, inputs: Sequence[Input]) -> None:
        await self._tab(tab).give(inputs)

    async def settle(
        self, tab: TabHandle, frame: str | None, argument: dict[str, Any]
    ) -> dict[str, Any] | None:
        page = self._tab(tab)
        answer = await page.settle(frame, argument)
        await self._await_tabs_of(page)
        return answer

    async def set_files(
        self, tab: TabHandle, frame: str | None, ref: str, paths: Sequence[str]
    ) -> None:
        await self._tab(tab).set_files(frame, ref, paths)

    async def choose_files(self, tab: TabHandle, paths: Sequence[str]) -> None:
        await self._tab(tab).choose_files(paths)

    async def answer_dialog(self, tab: TabHandle, *, accept: bool, text: str | None) -> None:
        await self._tab(tab).answer_dialog(accept=accept, text=text)

    async def resize(self, tab: TabHandle, width: int, height: int) -> None:
        await self._tab(tab).resize(width, height)

    async def pdf(self, tab: TabHandle) -> bytes:
        return await self._tab(tab).pdf()

    async def body(self, tab: TabHandle, request: str) -> bytes:
        return await self._tab(tab).body(request)

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        return await self._living(tab).camera.take(shot)

    # --- contexts ------------------------------------------------------------------------------

    async def _set_up(self, jars: Jars) -> None:
        """What holds for the whole browser, told once in its life."""
        bidi = self._browser()
        bodies = {"dataTypes": ["response"], "maxEncodedDataSize": BODY_BYTES}
        await asyncio.gather(
            bidi.call("session.subscribe", {"events": _EVENTS}),
            bidi.call("network.addDataCollector", bodies),
            bidi.call("network.addIntercept", {"phases": ["authRequired"]}),
            jars.furnish(SHARED_JAR, None),
        )
        bidi.say("note", {"isSetUp": True})

    def _take_over(self, handover: Json, contexts: list[Json]) -> frozenset[TabHandle]:
        """Go on with the tabs an earlier broker left; those it never heard of appear now."""
        known = {tab["context"]: tab for tab in handover["tabs"]}
        went, self._went = self._went or set(), None
        there = [one for one in contexts if one["context"] not in went]
        if self._first_tab not in {one["context"] for one in there}:
            self._first_tab = None
        taken = []
        for context in there:
            if self._is_known(context["context"]):
                continue
            about = known.get(context["context"], {})
            if about.get("told"):
                tab = self._adopt(context)
                tab.take_over(context["url"], about)
                taken.append(tab.handle)
            else:
                self._appeared(context)
        for request in handover["requests"]:
            self._shown_unasked(request)
        for prompt in handover["prompts"]:
            if (shown := self._tab_of(prompt["context"])) is not None:
                shown.heard("browsingContext.userPromptOpened", prompt)
        return frozenset(taken)

    async def _keep_first_tab(self) -> None:
        """A person may have closed it."""
        if self._first_tab is None:
            context = await self._create({})
            self._first_tab = context["context"]
            self._browser().say("note", {"firstTab": self._first_tab})

    async def _create(self, options: Json) -> Json:
        """A tab in the background that we asked for: what its creation said of it."""
        bidi = self._browser()
        self._creating += 1
        try:
            made = await bidi.call(
                "browsingContext.create", {"type": "tab", "background": True, **options}
            )
        except BidiError as error:
            raise JarUnavailable(f"No tab can be opened there: {error}.") from None
        finally:
            self._creating -= 1
            if not self._creating:
                asyncio.get_running_loop().call_soon(self._decide_the_rest)
        context = self._undecided.pop(TabHandle(made["context"]), None)
        if context is None:
            raise TabGone("The tab was closed as it opened.")
        return context

    def _decide_the_rest(self) -> None:
        """Tabs that came while we made some, and were none of those."""
        if not self._creating and not self._over.is_set():
            undecided, self._undecided = self._undecided, {}
            for context in undecided.values():
                self._appeared(context)

    async def _await_tabs_of(self, page: BidiTab) -> None:
        """A tab that an action asked for is there at once, and told of a little later."""
        bidi = self._browser()
        tree = await bidi.call("browsingContext.getTree", {"maxDepth": 0})
        asked = [c["context"] for c in tree["contexts"] if c["originalOpener"] == page.handle]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SOON_SECONDS):
                while not all(map(self._is_known, asked)):
                    self._came.clear()
                    await self._came.wait()

    def _heard(self, method: str, params: Json) -> None:
        match method:
            case "browsingContext.contextCreated":
                self._created(params)
            case "browsingContext.contextDestroyed":
                self._destroyed(params["context"])
            case "network.authRequired":
                self._shown_unasked(params)
            case _:
                context = params.get("context") or params.get("source", {}).get("context")
                tab = None if context is None else self._tab_of(context)
                if tab is not None:
                    tab.heard(method, params)

    def _shown_unasked(self, params: Json) -> None:
        """A server wants a password that its address did not name. No window asks for one: the
        page says so itself."""
        answer = {"request": params["request"]["request"], "action": "cancel"}
        self._browser().tell("network.continueWithAuth", answer)

    def _created(self, context: Json) -> None:
        handle, parent = TabHandle(context["context"]), context["parent"]
        if parent is not None:
            self._frame_came(handle, parent)
        elif self._is_known(handle):
            pass  # the tree told us of it before this did
        elif self._creating and context["originalOpener"] is None:
            # Ours or the person's: only the answer to our own command can tell.
            self._undecided[handle] = context
        else:
            self._appeared(context)

    def _appeared(self, context: Json) -> None:
        """A tab nobody asked for, told before anything else about it."""
        tab = self._adopt(context)
        opener = context["originalOpener"]
        self._report(
            TabAppeared(
                handle=tab.handle,
                opener=None if opener is None else TabHandle(opener),
                jar=tab.jar,
                url=context["url"],
            )
        )

    def _adopt(self, context: Json) -> BidiTab:
        bidi, handle = self._browser(), TabHandle(context["context"])
        tab = BidiTab(bidi, handle, context["userContext"], self._bundle, self._tell)
        self._tabs[handle] = tab
        self._frames_below(context)
        bidi.say("told", handle)
        self._came.set()
        return tab

    def _frames_below(self, context: Json) -> None:
        for child in context["children"] or []:
            self._frame_came(child["context"], context["context"])
            self._frames_below(child)

    def _frame_came(self, context: str, parent: str) -> None:
        tab = self._tab_of(parent)
        if tab is not None:
            tab.frames[context] = parent
            self._frames[context] = tab

    def _destroyed(self, context: str) -> None:
        if self._went is not None:
            self._went.add(context)
        handle = TabHandle(context)
        tab = self._tab_of(context)
        if context == self._first_tab:
            self._first_tab = None
        self._undecided.pop(handle, None)
        if tab is None:
            return
        for gone in tab.frame_went(context):
            self._frames.pop(gone, None)
        if context != tab.handle:
            return
        del self._tabs[handle]
        tab.ended()
        closing = self._closing.pop(handle, None)
        if closing is not None and not closing.done():
            closing.set_result(None)
        self._report(TabDisappeared(handle))

    def _is_known(self, context: str) -> bool:
        handle = TabHandle(context)
        return handle in self._tabs or handle in self._undecided or context == self._first_tab

    def _tab_of(self, context: str) -> BidiTab | None:
        return self._tabs.get(TabHandle(context)) or self._frames.get(context)

    # --- the link ------------------------------------------------------------------------------

    def _word(self, word: str, what: Any) -> None:
        if word == "handover" and self._handover is not None and not self._handover.done():
            self._handover.set_result(what)

    def _ended(self) -> None:
        self._over.set()
        if self._handover is not None and not self._handover.done():
            self._handover.set_exception(BrowserLost("The browser ended as it started."))
        for tab in self._tabs.values():
            tab.ended(BrowserLost("The browser ended."))
        for closing in self._closing.values():
            if not closing.done():
                closing.set_result(None)
        report, self._report = self._report, _ignore
        self._keeping.lost()
        if not self._is_stopping:
            report(BrowserEnded("its keeper or its process is gone"))

    def _forget_everything(self) -> None:
        self._is_stopping = False
        self._over.clear()
        self._bidi = self._jars = None
        self._went = set()
        for table in (self._tabs, self._frames, self._undecided, self._closing):
            table.clear()

    def _tell(self, event: DriverEvent) -> None:
        self._report(event)

    def _browser(self) -> BidiConnection:
        if self._bidi is None or self._over.is_set():
            raise BrowserLost("The browser is not running.")
        return self._bidi

    def _all_jars(self) -> Jars:
        self._browser()
        assert self._jars is not None
        return self._jars

    def _tab(self, tab: TabHandle) -> BidiTab:
        self._browser()
        found = self._tabs.get(tab)
        if found is None:
            raise TabGone("There is no such tab.")
        return found

    def _living(self, tab: TabHandle) -> BidiTab:
        page = self._tab(tab)
        page.check_alive()
        return page


def _ignore(event: DriverEvent) -> None:
    pass
