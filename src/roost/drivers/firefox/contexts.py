"""All contexts of one browser: its tabs and their frames, as they open and close.

Firefox names the opener of a new context before anything happens in the context. So a new tab need
not be paused until its owner is known. All tabs open in the window of the browser's first tab,
never in a popup's window. The first tab belongs to no session and stays open. With a window on a
screen, each jar's tabs stand beside a label tab.
https://w3c.github.io/webdriver-bidi/#command-browsingContext-create
"""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import Callable, Sequence

from roost.drivers.base import Bundle, Group
from roost.drivers.clipboard import Clipboard
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.events import (
    DriverEvent,
    TabClosed,
    TabOpened,
)
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.navigation import SOON_SECONDS
from roost.drivers.firefox.tab import BidiTab
from roost.drivers.new_tabs import NewTabs
from roost.drivers.window_labels import WindowLabels, no_window
from roost.errors import RoostError, TabGone, Unsupported
from roost.vocabulary import TabHandle

CLOSE_SECONDS = 5.0
SELECT_SECONDS = 0.5


class Contexts:
    """The contexts of one run of the browser. ``report`` gets the events of all tabs."""

    def __init__(
        self,
        bidi: BidiConnection,
        bundle: Bundle,
        report: Callable[[DriverEvent], None],
        *,
        headless: bool = True,
        viewport: tuple[int, int] | None = None,
        clipboard: Clipboard | None = None,
    ) -> None:
        self.viewport = viewport
        self.clipboard = clipboard
        self.preloads: set[str] = set()
        self.tabs: dict[TabHandle, BidiTab] = {}
        self._is_headless = headless
        self._selected: str | None = None
        """The context that ``select`` selected last, while it is open."""
        self._bidi = bidi
        self._bundle = bundle
        self._report = report
        self._whose: dict[str, BidiTab] = {}
        """The tab of each context, for tabs and frames alike."""
        self._first_tab: str | None = None
        """The blank first tab. It must stay open, because Firefox does not close its last tab."""
        self._replacing_first = asyncio.Lock()
        self._new_tabs = NewTabs("context", self._tab_opened, self._close)
        self._closing: dict[TabHandle, asyncio.Future[None]] = {}
        self._removed_jars: set[str] = set()
        self._labels = WindowLabels(self._open_label, self._close)
        self._came = asyncio.Event()

    def tab_of(self, context: str | None) -> BidiTab | None:
        return self._whose.get(context or "")

    # --- opening and closing -------------------------------------------------------------------

    async def open(self, jar: str, group: Group | None = None) -> BidiTab:
        """Open a blank tab in the background. In a window it stands beside its group's label."""
        if group is not None:
            await self.label(jar, group)
        try:
            return self._adopt(await self._create_beside(self._labels.of(jar), jar))
        finally:
            self._drop_unused_label(jar)

    async def label(self, jar: str, group: Group) -> None:
        """Label the jar's tabs in the strip. Do nothing without a window."""
        if not self._is_headless:
            await self._labels.show(jar, group)

    async def bring_to_front(self, tab: BidiTab) -> None:
        """Select the tab and raise its window. BiDi cannot restore a minimized window."""
        if self._is_headless:
            raise no_window()
        try:
            await self._bidi.call("browsingContext.activate", {"context": tab.context})
        except BidiError as error:
            raise Unsupported("Firefox did not show the tab.", page_said=str(error)) from None

    async def open_unseen(self, jar: str) -> str:
        """Open an unseen page, which Roost does not treat as a tab. Mark it as known to the keeper,
        so that a later broker takes it over as a tab without an owner."""
        context = (await self._create_beside(None, jar))["context"]
        self._bidi.say("told", context)
        return str(context)

    async def _open_label(self, jar: str, html: str) -> str:
        context = await self.open_unseen(jar)
        address = f"data:text/html;charset=utf-8;base64,{b64encode(html.encode()).decode()}"
        way = {"context": context, "url": address, "wait": "none"}
        try:
            await self._bidi.call("browsingContext.navigate", way, context)
        except BidiError as error:
            raise TabGone("The label tab closed as it opened.", page_said=str(error)) from None
        except BaseException:
            self._close(context)
            raise
        return context

    def _drop_unused_label(self, jar: str) -> None:
        if not any(tab.jar == jar for tab in self.tabs.values()):
            self._labels.drop(jar)

    async def close(self, tab: BidiTab) -> None:
        """Close the tab without asking the page, and wait until Firefox reports it closed."""
        await self.blank_tab()
        gone = self._closing.setdefault(tab.handle, asyncio.get_running_loop().create_future())
        self._bidi.tell("browsingContext.close", {"context": tab.context})
        async with asyncio.timeout(CLOSE_SECONDS):
            await asyncio.shield(gone)

    async def await_tabs_of(self, opener: BidiTab) -> None:
        """Wait until all tabs that ``opener`` opened have been reported. Such a tab exists at once,
        but Firefox reports it a little later."""
        tree = await self._bidi.call("browsingContext.getTree", {"maxDepth": 0})
        asked = [c["context"] for c in tree["contexts"] if c["originalOpener"] == opener.context]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SOON_SECONDS):
                while not all(map(self._is_known, asked)):
                    self._came.clear()
                    await self._came.wait()

    async def select(self, tab: BidiTab) -> None:
        """Make the tab the selected one of the window. Firefox shows and focuses only this tab's
        page, and no command or preference changes that for another page.

        Do nothing with a window on a screen: selecting a tab would bring the window before what the
        person works with. Do not wait long either: Firefox answers when the page of the previously
        selected tab is hidden, and that page may be frozen.
        """
        if not self._is_headless or self._selected == tab.context:
            return
        self._selected = tab.context
        selecting = self._bidi.call("browsingContext.activate", {"context": tab.context})
        selecting.add_done_callback(log_failure)
        await asyncio.wait({selecting}, timeout=SELECT_SECONDS)

    def note_intercepts(self) -> None:
        intercepts = {one.context: one.interception.intercept for one in self.tabs.values()}
        left = {context: one for context, one in intercepts.items() if one is not None}
        self._bidi.say("note", {"intercepts": left})

    def ended(self, error: RoostError) -> None:
        """Fail everything that waits for a tab, because the browser is gone."""
        self._new_tabs.clear()
        for tab in self.tabs.values():
            tab.ended(error)
        for closing in self._closing.values():
            if not closing.done():
                closing.set_result(None)

    async def _create_beside(self, other: str | None, jar: str) -> Json:
        """Create a tab after that context in the strip, or after the first tab (None)."""
        beside = other or await self.blank_tab()
        return await self._create({"userContext": jar, "referenceContext": beside})

    async def blank_tab(self) -> str:
        """Return the context of the first tab. If a person closed it, open another."""
        async with self._replacing_first:
            first = self._first_tab
            if first is None:
                context = await self._create({})
                first = self._first_tab = str(context["context"])
                self._bidi.say("note", {"firstTab": first})
        return first

    async def _create(self, options: Json) -> Json:
        """Create a tab and return its ``contextCreated`` event."""
        options = {"type": "tab", "background": True, **options}
        making = self._bidi.call("browsingContext.create", options, options.get("userContext", ""))
        return await self._new_tabs.created(making)

    def _close(self, context: str) -> None:
        self._bidi.tell("browsingContext.close", {"context": context})

    def close_left(self, left: Sequence[Pending]) -> None:
        """Close the tabs that the last broker's unanswered commands create: no call waits for them.
        Call this before ``take_over``, so that such a tab is not taken for a popup."""
        for making in left:
            self._new_tabs.close_when_created(making)

    def jar_removed(self, jar: str) -> None:
        """Fail commands that create tabs in a jar that is about to be removed. Firefox never
        answers such a command, but may create the tab nevertheless."""
        self._removed_jars.add(jar)
        self._bidi.fail(jar, TabGone("The jar was removed while a tab was made in it."))

    async def replace(self, tab: BidiTab) -> None:
        """Give a frozen tab a new context, and close the old one. The tab keeps its handle; the
        keeper notes the change for the next broker."""
        context = await self._create_beside(self._labels.of(tab.jar), tab.jar)
        old = tab.context
        self._forget(tab, old)
        tab.bind(context["context"])
        self._know(tab, context)
        changed = [one for one in self.tabs.values() if one.context != one.handle]
        self._bidi.say("note", {"handles": {one.context: one.handle for one in changed}})
        self._bidi.tell("browsingContext.close", {"context": old})
        self._bidi.fail(old, TabGone("The page was frozen and had to be given up."))

    # --- opened and closed tabs ----------------------------------------------------------------

    def take_over(self, handover: Json, tree: list[Json]) -> frozenset[TabHandle]:
        """Take over the tabs of an earlier broker and return their handles.

        Tabs that it never heard of are reported as new. Tabs that it created without getting the
        reply are closed, because no call waits for them.
        """
        if self._first_tab not in {one["context"] for one in tree}:
            self._first_tab = None
        known = {tab["context"]: tab for tab in handover["tabs"]}
        handles = handover["notes"].get("handles", {})
        taken = []
        for context in tree:
            name = context["context"]
            if self._is_known(name):
                continue
            about = known.get(name, {})
            if about.get("told"):
                tab = self._adopt(context, handles.get(name))
                tab.interception.intercept = handover["notes"].get("intercepts", {}).get(name)
                tab.take_over(context["url"], about)
                taken.append(tab.handle)
            elif about.get("created"):
                self._close(name)
            else:
                self.created(context)
        return frozenset(taken)

    def expect_first_tab(self, context: str | None) -> None:
        self._first_tab = context

    def created(self, context: Json) -> None:
        name, parent = context["context"], context["parent"]
        if parent is not None:
            self._frame_came(name, parent)
        elif self._is_known(name):
            pass  # the context tree listed this tab before the event arrived
        elif context["originalOpener"] is not None or not self._new_tabs.may_be_ours(name, context):
            self._tab_opened(context)

    def destroyed(self, context: str) -> None:
        if context == self._first_tab:
            self._first_tab = None
        if context == self._selected:
            self._selected = None
        self._new_tabs.gone(context)
        self._labels.closed(context)
        tab = self.tab_of(context)
        if tab is None:
            return
        self._forget(tab, context)
        if context == tab.context:
            self._closed(tab)

    def _tab_opened(self, context: Json) -> None:
        """Report a tab that no call opened, before any other event about the tab."""
        # Firefox names no jar for a tab whose jar was removed while the tab was made.
        if context["userContext"] in (None, *self._removed_jars):
            self._close(context["context"])
            return
        opener = self.tab_of(context["originalOpener"])
        tab = self._adopt(context)
        self._report(
            TabOpened(
                handle=tab.handle,
                opener=None if opener is None else opener.handle,
                jar=tab.jar,
                url=context["url"],
            )
        )

    def _adopt(self, context: Json, handle: str | None = None) -> BidiTab:
        tab = BidiTab(
            self._bidi,
            TabHandle(handle or context["context"]),
            context["context"],
            context["userContext"],
            self._bundle,
            self._report,
            self,
        )
        self.tabs[tab.handle] = tab
        self._know(tab, context)
        return tab

    def _know(self, tab: BidiTab, context: Json) -> None:
        self._whose[tab.context] = tab
        self._frames_below(context)
        self._bidi.say("told", tab.context)
        self._came.set()

    def _forget(self, tab: BidiTab, context: str) -> None:
        for gone in tab.frame_went(context):
            self._whose.pop(gone, None)

    def _closed(self, tab: BidiTab) -> None:
        del self.tabs[tab.handle]
        tab.ended(TabGone("The tab was closed."))
        closing = self._closing.pop(tab.handle, None)
        if closing is not None and not closing.done():
            closing.set_result(None)
        self._drop_unused_label(tab.jar)
        self._report(TabClosed(tab.handle))

    def _frames_below(self, context: Json) -> None:
        for child in context["children"] or []:
            self._frame_came(child["context"], context["context"])
            self._frames_below(child)

    def _frame_came(self, context: str, parent: str) -> None:
        tab = self.tab_of(parent)
        if tab is not None:
            tab.frames[context] = parent
            self._whose[context] = tab

    def _is_known(self, context: str) -> bool:
        return context == self._first_tab or context in self._whose or context in self._new_tabs
