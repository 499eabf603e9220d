"""One tab over BiDi: its address, its navigations, its input (``act``) and the events of its page.

A tab is a top-level browsing context. Its frames are child contexts, whose events this module also
handles. https://w3c.github.io/webdriver-bidi/#module-browsingContext
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from roost.drivers import events
from roost.drivers.base import (
    BLANK,
    FAILED_TITLE,
    Arrival,
    Bundle,
    Dropped,
    FrameInfo,
    Input,
    Picture,
    Shot,
)
from roost.drivers.clipboard import Clipboard, give_inputs
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.events import DriverEvent, TabNavigated
from roost.drivers.firefox.camera import Camera
from roost.drivers.firefox.conditions import TabConditions
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.dialogs import Dialogs
from roost.drivers.firefox.input import NO_DROPS, TabInput
from roost.drivers.firefox.input_translation import releases
from roost.drivers.firefox.interception import Interception
from roost.drivers.firefox.navigation import (
    Documents,
    End,
    Navigations,
    NavigationStart,
    bare,
    start_of,
)
from roost.drivers.firefox.page_events import report_of
from roost.drivers.firefox.scripts import DocumentGone, Scripts, SentScript
from roost.drivers.navigation_errors import NO_CONTENT, cannot_open, wants_login
from roost.errors import NotFound, RoostError, TabCrashed, TabGone, Unsupported
from roost.hints import Hint
from roost.vocabulary import TabHandle

CRASH_PAGE = "about:tabcrashed"
ERROR_PAGES = ("about:neterror", "about:certerror", "about:httpsonlyerror")
FROZEN_SECONDS = 3.0


class TabContexts(Protocol):
    """The part of ``Contexts`` that a tab needs."""

    clipboard: Clipboard | None

    async def replace(self, tab: BidiTab) -> None:
        """Give the tab a new context, and close its old one."""

    async def blank_tab(self) -> str:
        """Return the context of the browser's first tab, which belongs to no session."""

    async def select(self, tab: BidiTab) -> None:
        """Show and focus the tab's page, as far as Firefox can."""

    def note_intercepts(self) -> None:
        """Tell the keeper which intercepts the tabs have, for the next broker."""

    @property
    def preloads(self) -> set[str]:
        """The ids of all init scripts in this Firefox."""

    @property
    def viewport(self) -> tuple[int, int] | None:
        """The size of pages without an emulated device. None: the window's size."""

    async def await_tabs_of(self, opener: BidiTab) -> None:
        """Wait until all tabs that ``opener`` opened have been reported."""


class BidiTab:
    """One Firefox tab. ``report`` gets the tab's events."""

    def __init__(
        self,
        bidi: BidiConnection,
        handle: TabHandle,
        context: str,
        jar: str,
        bundle: Bundle,
        report: Callable[[DriverEvent], None],
        others: TabContexts,
    ) -> None:
        self.handle = handle
        self.jar = jar
        self.crashed = False
        self.url = BLANK
        """The address of the last committed document, as Firefox reports it. For an error page this
        is the address that could not be loaded."""
        self.title = ""
        self._is_error = False
        self._dismisses = False
        """One of our commands leaves the page. Dismiss its dialogs until a document is committed,
        so that a page cannot keep the tab by opening dialogs forever."""
        self.frames: dict[str, str] = {}
        """Each child context of the tab, at any depth, and its parent."""
        self._bidi = bidi
        self._bundle = bundle
        self._report = report
        self._others = others
        self._documents = Documents(self.check_alive)
        self.interception = Interception(bidi, context, others.note_intercepts)
        self.conditions = TabConditions(
            bidi, self.interception, lambda: others.viewport, others.preloads
        )
        self.bind(context)
        self._navigations = Navigations(lambda: self.scripts.stop_loading())
        self._given_up: NavigationStart | None = None
        """The navigation that was under way when the history of this blank page last changed. The
        opener gives it up if it writes into the page."""
        self._is_unknown = False
        """An earlier broker gave this tab input, which may still hold a mouse button."""
        self._before_input: tuple[int, NavigationStart | None] = 0, None
        """State before the last input: ``Documents.count``, and the navigation under way."""
        self._gone: RoostError | None = None
        self._crash: str | None = None
        """The navigation that the last reported crash was committed under."""

    # --- life ----------------------------------------------------------------------------------

    def bind(self, context: str) -> None:
        """Use that context for this tab. A tab with a frozen page gets a new context."""
        self.context = context
        if context != self.interception.context:
            self.interception.bind(context)
        self.frames.clear()
        self.scripts = Scripts(self._bidi, context, self._bundle, self._documents)
        self._input = TabInput(self._bidi, context, self.scripts, lambda: bool(self.frames))
        self.camera = Camera(self._bidi, context, self._documents, self._others.blank_tab)
        self.dialogs = Dialogs(self._bidi, self.handle, context, self.scripts, self._report)

    def take_over(self, url: str, known: Json) -> None:
        """Take over a tab of an earlier broker. ``known``: what the keeper remembers of it."""
        self._is_unknown = True
        committed = known.get("committed") or {"url": url}
        self._be_at(url)
        self._navigations.begun = start_of(known.get("begun"))
        if known.get("before") is None and url == BLANK:
            # Nobody can tell any more whether the opener wrote into the blank page or its process
            # died. Either way the tab shows a blank page and has never shown another.
            self._given_up = self._navigations.begun
        if "navigation" in committed and self._is_crash(committed):
            self.crashed = True
            self.url = (known.get("before") or committed)["url"]
        elif url == BLANK != committed["url"]:
            self.url = committed["url"]  # an event will tell a crash from a navigation to BLANK
        else:
            self._report(TabNavigated(self.handle, self.url, ""))
            self._ask_title()
        self._navigations.begun = start_of(known.get("started"))

    def ended(self, error: RoostError) -> None:
        """Fail everything that waits for this tab, which is gone."""
        self._gone = error
        self.interception.ended()
        self._interrupt(error)

    def check_open(self) -> None:
        if self._gone is not None:
            raise self._gone

    def check_alive(self) -> None:
        self.check_open()
        if self.crashed:
            raise TabCrashed("The page's process died.")

    def frame_went(self, context: str) -> list[str]:
        """Remove a frame and all frames below it. Return the removed contexts."""
        went = [context]
        for child in [child for child, parent in self.frames.items() if parent == context]:
            went += self.frame_went(child)
        self.frames.pop(context, None)
        return went

    async def all_frames(self) -> list[FrameInfo]:
        """Ask Firefox for the frame tree, which is always current and costs one short request."""
        self.check_alive()
        try:
            root = {"root": self.context}
            tree = await self._bidi.call("browsingContext.getTree", root, self.context)
        except BidiError:
            raise TabGone("The tab was closed.") from None
        return list(_flattened(tree["contexts"][0], None))

    # --- navigation ----------------------------------------------------------------------------

    async def navigate(self, url: str) -> Arrival:
        self.check_open()
        with self._dismissing():
            if not self.crashed:
                await self._thaw_if_frozen()
                # Firefox would load its crash page into a crashed tab that is selected.
                await self._others.select(self)
            self.crashed = False
            return await self._go("browsingContext.navigate", _to(url))

    async def reload(self) -> Arrival:
        self.check_open()
        with self._dismissing():
            if not self.crashed and not await self._thaw_if_frozen():
                return await self._go("browsingContext.reload", {"wait": "none"})
        return await self.navigate(self.url)  # the new or crashed context is blank

    async def travel(self, delta: int) -> Arrival:
        """Go back or forward. Raises ``NotFound`` if the history has no such entry."""
        self.check_alive()
        with self._dismissing(), self._navigations.waiting(self._gone) as navigation:
            try:
                await self._call("browsingContext.traverseHistory", {"delta": delta})
            except BidiError as error:
                way = "back" if delta < 0 else "forward"
                raise NotFound(f"There is no page to go {way} to.", page_said=str(error)) from None
            await self._navigations.finish(navigation)
            return await self._here(navigation.last_status)

    async def act(self, inputs: Sequence[Input], frame: str | None, argument: Json) -> Json | None:
        """Send input, then wait for its handlers, or for the document or download it caused.

        If the input ends with the release of a mouse button, the page itself can detect its end.
        Then ``settled`` is called before the input, which saves one round trip.
        """
        self.check_alive()
        sent = None
        inputs = await self._effective(inputs)
        if inputs:
            await self._others.select(self)
            self._before_input = self._documents.count, self._navigations.leaving
            if not self._input.holds_button and (count := releases(inputs)):
                sent = self.scripts.ask_settled(frame, {**argument, "releases": count})
            await self._give(inputs)
        answer = await self._settle(frame, argument, sent)
        if answer is None or not answer.get("hasActivation"):
            await self._others.await_tabs_of(self)
        return answer

    async def send_input(self, inputs: Sequence[Input]) -> None:
        self.check_alive()
        inputs = await self._effective(inputs)
        if inputs:
            await self._others.select(self)
            await self._give(inputs)

    async def _effective(self, inputs: Sequence[Input]) -> list[Input]:
        if self._is_unknown:
            self._is_unknown = False
            await self._input.forget()
        return self._input.effective(inputs)

    async def _give(self, inputs: Sequence[Input]) -> None:
        held, give = self._input.held_keys, self._input.send
        await give_inputs(self._others.clipboard, self.handle, self, inputs, held, give)

    async def drop(self, point: tuple[float, float], dropped: Dropped) -> None:
        raise Unsupported(NO_DROPS, hint=Hint("Give files to a file field[ with {FileUpload}]."))

    async def release(self) -> None:
        self.check_alive()
        await self._input.release()

    async def evaluate(
        self, function: str, *, frame: str | None = None, ref: str | None = None
    ) -> Any:
        self.check_alive()
        return await self.scripts.evaluate(function, frame, ref)

    async def call_page(
        self,
        frame: str | None,
        function: str,
        argument: Json,
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        self.check_alive()
        return await self.scripts.call_bundle(
            frame, function, argument, owner_of=owner_of, once=once
        )

    async def capture(self, shot: Shot) -> Picture:
        self.check_alive()
        return await self.camera.capture(shot)

    async def pdf(self) -> bytes:
        self.check_alive()
        return await self.dialogs.pdf()

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        self.check_open()
        await self.dialogs.set_files(frame, ref, paths)

    async def choose_files(self, paths: Sequence[str]) -> None:
        self.check_open()
        await self.dialogs.choose_files(paths)

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        self.check_open()
        await self.dialogs.answer_dialog(accept=accept, text=text)

    async def resize(self, width: int, height: int) -> None:
        self.check_open()
        await self.dialogs.resize(width, height)

    async def body(self, request: str) -> bytes:
        self.check_open()
        return await self.dialogs.body(request)

    async def _settle(
        self, frame: str | None, argument: Json, sent: SentScript | None
    ) -> Json | None:
        answer: Json | None = None
        with self._navigations.waiting(self._gone) as navigation:
            if not self._has_left():
                # If the input removed the frame or its document, there is no answer.
                with contextlib.suppress(NotFound, DocumentGone):
                    answer = await self.scripts.settled(frame, argument, sent)
            if self._has_left():
                await self._navigations.finish(navigation)
                await self._arrive()
                return None
        return answer

    def _has_left(self) -> bool:
        """Return True if the last input caused a new document, or a navigation that continues."""
        count, leaving = self._before_input
        return count != self._documents.count or self._navigations.leaving not in (None, leaving)

    async def _go(self, method: str, params: Json) -> Arrival:
        """Navigate. If a script blocks the navigation, give the tab a new context and retry."""
        loop = asyncio.get_running_loop()
        going = loop.create_task(self._went(method, params), name=f"lead {self.handle} away")
        count = self._documents.count
        try:
            while not going.done():
                await asyncio.wait({going}, timeout=FROZEN_SECONDS)
                is_left = count != self._documents.count or self.dialogs.asks_to_stay
                if not going.done() and not is_left and await self._is_silent():
                    if not going.done() and count == self._documents.count:
                        url = params.get("url", self.url)
                        await _ended(going)
                        await self._others.replace(self)
                        return await self._went("browsingContext.navigate", _to(url))
            return await going
        finally:
            await _ended(going)

    async def _went(self, method: str, params: Json) -> Arrival:
        with self._navigations.waiting(self._gone) as navigation:
            try:
                send = partial(self._call, method, params)
                answer = await asyncio.shield(await self._navigations.send(send))
                end = await navigation.end_of(answer["navigation"])
                status = navigation.status
                if navigation.wants_password:
                    raise wants_login()
            except BidiError as error:
                if navigation.last_status not in NO_CONTENT:
                    raise cannot_open(str(error)) from None
                end, status = End.NOTHING, navigation.last_status
            return await self._here(status, stayed=end in (End.DOWNLOAD, End.NOTHING))

    async def _thaw_if_frozen(self) -> bool:
        """Give the tab a new context if its page is frozen. Return True if it was.

        A page whose script never ends cannot be left, and BiDi cannot end a script. The tab loses
        only its history.
        """
        if self._navigations.leaving is not None or self.dialogs.asks_to_stay:
            return False
        if not await self._is_silent():
            return False
        await self._others.replace(self)
        return True

    @contextlib.contextmanager
    def _dismissing(self) -> Iterator[None]:
        """While the tab leaves its page, dismiss the open dialog and those that follow."""
        self._dismisses = True
        if self.dialogs.has_dialog and not self.dialogs.asks_to_stay:
            self.dialogs.dismiss_dialog()
        try:
            yield
        finally:
            self._dismisses = False

    async def _is_silent(self) -> bool:
        """Return True if the page does not evaluate a trivial script in ``FROZEN_SECONDS``."""
        probe = self.scripts.title()
        probe.add_done_callback(log_failure)
        await asyncio.wait({probe}, timeout=FROZEN_SECONDS)
        return not probe.done()

    async def _here(self, status: int | None, *, stayed: bool = False) -> Arrival:
        title = await self._arrive()
        await self._others.select(self)
        self.title = FAILED_TITLE if self._is_error else title
        self._report(TabNavigated(self.handle, self.url, self.title))
        return Arrival(self.url, self.title, status, stayed)

    async def _arrive(self) -> str:
        """Wait until the document has loaded, and return its title. A reply resumes its waiter one
        loop turn after events are handled, so ask again if a document was committed meanwhile."""
        while True:
            count = self._documents.count
            title = await self.scripts.arrived()
            if count == self._documents.count:
                return title

    # --- events --------------------------------------------------------------------------------

    def heard(self, method: str, params: Json) -> None:
        heard = _EVENTS.get(method)
        if heard is not None:
            heard(self, params)
        report = report_of(self.handle, method, params)
        if method == "network.beforeRequestSent" and params.get("isBlocked"):
            self.interception.request_paused(params)
        if report is not None:
            self._report(report)

    def _started(self, params: Json) -> None:
        if self._is_ours(params):
            self._navigations.started(params)

    def _committed(self, params: Json) -> None:
        if not self._is_ours(params):
            return
        if self._is_reported_crash(params):
            return
        begun, is_crash = self._navigations.begun, self._is_crash(params)
        self._navigations.begun = None
        self._given_up = None
        if is_crash:
            self._crash = params["navigation"]
            self._tab_crashed()
            return
        self._be_at(params["url"], begun)
        self.title, self.crashed = FAILED_TITLE if self._is_error else "", False
        self._dismisses = False
        self.dialogs.chooser.close()
        self._navigations.ended(params["navigation"], End.DOCUMENT)
        self._documents.changed()
        self._report(TabNavigated(self.handle, self.url, self.title))

    def _be_at(self, url: str, begun: NavigationStart | None = None) -> None:
        """Record the address of a committed document. For an error page, record the address that
        failed: the navigation's own, or the one that the error page names."""
        self.url, self._is_error = bare(url), url.startswith(ERROR_PAGES)
        if self._is_error:
            failed = parse_qs(urlsplit(url).query).get("u", [""])[0]
            self.url = bare((begun[1] if begun is not None else "") or failed or url)

    def _is_crash(self, params: Json) -> bool:
        """Return True if this commit means a crash, for which BiDi has no event. Firefox replaces a
        crashed page by a blank page or its crash page, without starting a navigation.

        A script cannot tell a crash, because the blank page that replaces a crashed one also runs
        scripts. But Firefox also commits a blank page when the opener writes into a popup whose
        first document is still to come: the opener's ``document.open()`` gives up that navigation.
        Firefox then reports the change of the history first, and the commit names the navigation
        that was given up."""
        to, begun = params["url"], self._navigations.begun
        if to == BLANK and begun is not None and begun == self._given_up:
            return bool(params["navigation"] != begun[0])
        return (to == BLANK or to.startswith(CRASH_PAGE)) and start_of(params) != begun

    def _is_reported_crash(self, params: Json) -> bool:
        """Return True if this commit is the second one of a crash. In a selected tab Firefox first
        commits a blank page and then its crash page, both under the navigation of the page that
        crashed. The tab may have been told to navigate in between."""
        is_again = params["url"].startswith(CRASH_PAGE) and params["navigation"] == self._crash
        return is_again and not self.crashed

    def _tab_crashed(self) -> None:
        self._navigations.leaving = None
        if not self.crashed:
            self.crashed = True
            self._interrupt(TabCrashed("The page's process died."))
            self._report(events.TabCrashed(self.handle))

    def _failed(self, params: Json) -> None:
        if self._is_ours(params):
            self._navigations.ended(params["navigation"], End.NOTHING)

    def _moved_within(self, params: Json) -> None:
        if self._is_ours(params):
            self._given_up = self._navigations.begun if self.url == params["url"] == BLANK else None
            self.url = bare(params["url"])
            if params.get("navigation") is not None:
                self._navigations.ended(params["navigation"], End.WITHIN)
            self._report(TabNavigated(self.handle, self.url, self.title))

    def _loaded(self, params: Json) -> None:
        """Ask for the title at ``DOMContentLoaded`` and again at ``load``: it may have changed."""
        if self._is_ours(params) and not self.crashed:
            self._ask_title()

    def _ask_title(self) -> None:
        self.scripts.title().add_done_callback(partial(self._titled, self._documents.count))

    def _titled(self, count: int, answer: Pending) -> None:
        if answer.cancelled() or answer.exception() is not None or count != self._documents.count:
            return
        title = answer.result().get("result", {}).get("value")
        if self._is_error:
            title = FAILED_TITLE
        if isinstance(title, str) and title != self.title:
            self.title = title
            self._report(TabNavigated(self.handle, self.url, title))

    def _answered(self, params: Json) -> None:
        if params["navigation"] is not None and self._is_ours(params):
            self._navigations.answered(params["navigation"], params["response"]["status"])

    def password_wanted(self, params: Json) -> None:
        if params["navigation"] is not None and self._is_ours(params):
            self._navigations.password_wanted()

    def _request_failed(self, params: Json) -> None:
        if params["navigation"] is not None and params["errorText"] == "NS_BINDING_ABORTED":
            self._failed(params)  # a 204 response: Firefox sends no other event for it

    def _download_began(self, params: Json) -> None:
        if params["navigation"] is not None:
            self._navigations.ended(params["navigation"], End.DOWNLOAD)

    def _dialog_opened(self, params: Json) -> None:
        if self._dismisses and params["type"] != "beforeunload":
            self.dialogs.dismiss_dialog()
        else:
            self.dialogs.dialog_opened(params)

    def _dialog_closed(self, params: Json) -> None:
        self.dialogs.dialog_closed()
        if params["type"] == "beforeunload" and params["accepted"]:
            self._navigations.leaving = self._navigations.begun

    def _chooser_opened(self, params: Json) -> None:
        self.dialogs.chooser_opened(params)

    # --- inside --------------------------------------------------------------------------------

    def _call(self, method: str, params: Json) -> Pending:
        return self._bidi.call(method, {"context": self.context, **params}, self.context)

    def _is_ours(self, params: Json) -> bool:
        """Return True if the event is about the main document, not about a frame."""
        return bool(params["context"] == self.context)

    def _interrupt(self, error: RoostError) -> None:
        self._documents.changed()
        self._bidi.fail(self.context, error)
        self._navigations.failed(error)


def _flattened(context: Json, parent: str | None) -> list[FrameInfo]:
    found = [FrameInfo(context["context"], parent, context["url"])]
    for child in context["children"] or []:
        found += _flattened(child, context["context"])
    return found


def _to(url: str) -> Json:
    return {"url": url, "wait": "none"}


async def _ended(task: asyncio.Task[Arrival]) -> None:
    """Cancel the task if it still runs. Its result or error is not needed."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    elif not task.cancelled():
        task.exception()


_EVENTS: dict[str, Callable[[BidiTab, Json], None]] = {
    "browsingContext.navigationStarted": BidiTab._started,
    "browsingContext.navigationCommitted": BidiTab._committed,
    "browsingContext.navigationFailed": BidiTab._failed,
    "browsingContext.navigationAborted": BidiTab._failed,
    "browsingContext.fragmentNavigated": BidiTab._moved_within,
    "browsingContext.historyUpdated": BidiTab._moved_within,
    "browsingContext.domContentLoaded": BidiTab._loaded,
    "browsingContext.load": BidiTab._loaded,
    "browsingContext.downloadWillBegin": BidiTab._download_began,
    "browsingContext.userPromptOpened": BidiTab._dialog_opened,
    "browsingContext.userPromptClosed": BidiTab._dialog_closed,
    "network.responseStarted": BidiTab._answered,
    "network.fetchError": BidiTab._request_failed,
    "input.fileDialogOpened": BidiTab._chooser_opened,
}
