"""One tab over CDP: its protocol sessions, frames, navigations, dialogs and page work.

A tab has several protocol sessions: the page's own, and one for each frame or worker in another
process. This module handles the events of all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from roost.conditions import NO_CONDITIONS, Conditions
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
from roost.drivers.chromium.camera import Camera
from roost.drivers.chromium.conditions import TabConditions, Where
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.dialogs import Dialogs
from roost.drivers.chromium.frames import Frames
from roost.drivers.chromium.input import TabInput
from roost.drivers.chromium.interception import Interception
from roost.drivers.chromium.navigation import Navigation
from roost.drivers.chromium.page_events import console_called, exception_thrown
from roost.drivers.chromium.page_exit import FROZEN_SECONDS, PageExit
from roost.drivers.chromium.passwords import Passwords, wants_password
from roost.drivers.chromium.requests import Requests
from roost.drivers.chromium.scripts import Scripts, StaleContext
from roost.drivers.chromium.side_effects import SideEffects
from roost.drivers.chromium.titles import Title
from roost.drivers.clipboard import GUARD, Clipboard, give_inputs
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.events import DriverEvent, TabNavigated
from roost.drivers.navigation_errors import NO_CONTENT, cannot_open, still_leaving, wants_login
from roost.errors import NotFound, RoostError, TabCrashed, TabGone
from roost.vocabulary import TabHandle

FRAME_TYPES = ("iframe", "webview")
PATIENT_SECONDS = 2.0
"""If the next document takes longer than this, calls to the page fail instead of waiting."""


class CdpTab:
    """One Chromium tab. ``report`` gets the tab's events."""

    def __init__(
        self,
        cdp: CdpConnection,
        handle: TabHandle,
        session: str,
        jar: str,
        bundle: Bundle,
        passwords: Passwords,
        report: Callable[[DriverEvent], None],
        *,
        main_frame: str,
        clipboard: Clipboard | None = None,
    ) -> None:
        self.handle = handle
        self.session = session
        self.jar = jar
        self.crashed = False
        self.is_ready = False
        """The page is set up and running. Documents committed earlier are not reported."""
        self.frames = Frames(main_frame, session)
        self._title = Title(cdp, self.session, self.frames, self._tell_place)
        self.scripts = Scripts(cdp, self.frames, bundle)
        self.input = TabInput(cdp, session)
        self.camera = Camera(cdp, session)
        self.dialogs = Dialogs(cdp, handle, session, self.scripts, report)
        self._exit = PageExit(cdp, session, self.dialogs)
        self._cdp = cdp
        self._passwords = passwords
        self._interception = Interception(cdp, passwords)
        self._clipboard = clipboard
        guard = None if clipboard is None else GUARD
        self.conditions = TabConditions(cdp, session, self._interception, self.dialogs, guard)
        self._report = report
        self._sessions = {session}
        self._navigations: set[Navigation] = set()
        self._is_leaving = False
        """Something asked for a new main document, which is not committed yet."""
        self._awaited: str | None = None
        """The address of a navigation that Chromium has begun and not yet committed."""
        self._requests = Requests(handle, report)
        self._streams = self._requests.messages
        self.side_effects = SideEffects()
        self._dismisses = False
        """Dismiss dialogs until the next commit: a page must not keep its tab by opening more."""
        self._calling_off: Pending | None = None
        """The command that stops a navigation whose caller gave up."""
        self._gone: RoostError | None = None
        """The error of all later calls, once the tab is gone."""
        self._listen(session)

    @property
    def url(self) -> str:
        """The address of the document that Chromium committed last."""
        main = self.frames.get(None)
        return BLANK if main is None else main.url

    # --- life ----------------------------------------------------------------------------------

    def set_up(self, *, resume: bool, conditions: Conditions = NO_CONDITIONS) -> Pending:
        """Enable CDP domains and let the page run. Return the reply with the frame tree."""
        self.conditions.begin(conditions)
        tell, session = self._cdp.tell, self.session
        tell("Page.enable", None, session)
        tell("Page.setLifecycleEventsEnabled", {"enabled": True}, session)
        tell("Runtime.enable", None, session)
        tell("Network.enable", None, session)
        # Without focus emulation, Chromium gives a hidden tab no input and draws no frames.
        tell("Emulation.setFocusEmulationEnabled", {"enabled": True}, session)
        tell("Page.setInterceptFileChooserDialog", {"enabled": True}, session)
        self.dialogs.set_viewport()
        self.conditions.watch(session, Where.PAGE)
        self._attach_below(session)
        ready = self._ask_frames(session)
        if resume:
            tell("Runtime.runIfWaitingForDebugger", None, session)
        self.is_ready = True
        return ready

    def take_over_below(self, known: Json) -> None:
        """Take over a child session of an earlier broker, and let it run if it is paused."""
        self._sessions.add(known["sessionId"])
        self._listen(known["sessionId"])
        self.conditions.expect(known["sessionId"], known["targetInfo"]["type"])
        if known["targetInfo"]["type"] in FRAME_TYPES:
            self.frames.attached(known["targetInfo"]["targetId"], None, known["sessionId"])
        if known["waiting"]:
            self._cdp.tell("Runtime.runIfWaitingForDebugger", None, known["sessionId"])

    def learn(self, conditions: Conditions) -> None:
        """Ask for the frames and contexts of a tab that an earlier broker set up. Do not wait for
        the replies: a page with an open dialog sends none."""
        self.conditions.take_over(conditions)
        if self.crashed:
            return
        self.is_ready = True
        for session in self._sessions:
            for method in ("Runtime.disable", "Runtime.enable"):
                self._cdp.tell(method, None, session)
            self._ask_frames(session, is_news=True)

    def take_over(self, what: str, session: str, params: Json) -> None:
        """Take over a dialog, file chooser or paused request that an earlier broker left open."""
        if session in self._sessions:
            _LEFT_BEHIND[what](self, session, params)

    def ended(self, error: RoostError | None = None) -> None:
        """Fail everything that waits for this tab, which is gone."""
        self._interception.ended()
        for session in self._sessions:
            self._cdp.end_session(session, error)
        self._gone = error or TabGone("The tab was closed.")
        for navigation in self._navigations:
            navigation.failed(self._gone)

    def check_open(self) -> None:
        if self._gone is not None:
            raise self._gone

    def check_alive(self) -> None:
        self.check_open()
        if self.crashed:
            raise TabCrashed("The page's process died.")

    async def check_answers(self) -> None:
        """Raise an error if the page crashed or cannot answer. Chromium delays all commands to a
        page that waits for its next document, so a slow server would block every call."""
        self.check_alive()
        if self._awaited is not None and not self.dialogs.has_dialog:
            if await self._exit.is_silent(PATIENT_SECONDS) and self._awaited is not None:
                raise still_leaving(self._awaited)

    # --- navigation ----------------------------------------------------------------------------

    async def navigate(self, url: str) -> Arrival:
        to = {"url": self._passwords.taken_from(url)}
        return await self._go(lambda: self._cdp.call("Page.navigate", to, self.session))

    async def reload(self) -> Arrival:
        url = self.url

        def start() -> Pending:
            if self.url != url:  # ``_go`` left the blocked page, so there is nothing to reload
                return self._cdp.call("Page.navigate", {"url": url}, self.session)
            return self._cdp.call("Page.reload", None, self.session)

        return await self._go(start)

    async def travel(self, delta: int) -> Arrival:
        """Go back or forward. Raises ``NotFound`` if the history has no such entry."""
        self.check_alive()
        history = await self._cdp.call("Page.getNavigationHistory", None, self.session)
        index = history["currentIndex"] + delta
        if not 0 <= index < len(history["entries"]):
            raise NotFound(f"There is no page to go {'back' if delta < 0 else 'forward'} to.")
        entry = {"entryId": history["entries"][index]["id"]}
        return await self._go(
            lambda: self._cdp.call("Page.navigateToHistoryEntry", entry, self.session)
        )

    async def settle(self, frame: str | None, argument: Json) -> Json | None:
        """After input, wait for its handlers, or for the document, tab or download it caused."""
        self.check_alive()
        navigation = Navigation()
        self._navigations.add(navigation)
        answer: Json | None = None
        try:
            # If the input removed the frame or its document, there is no answer.
            with contextlib.suppress(NotFound, StaleContext):
                answer = await self.scripts.call_bundle(frame, "settled", argument)
            await self.side_effects.tab()
            if self._is_leaving:
                answer = None
                await navigation.arrived({})
            if self.side_effects.may_download:
                await self._download_of(navigation)
        except asyncio.CancelledError:
            if self._is_leaving:
                self._give_up(navigation)
            raise
        finally:
            # The next action must not wait for the same navigation again.
            self._is_leaving = self.side_effects.may_download = False
            self._navigations.discard(navigation)
        return answer

    async def _go(self, start: Callable[[], Pending]) -> Arrival:
        """Navigate even if the page is busy or crashed. A crashed page gets a new process."""
        self.check_open()
        await self._called_off()
        has_asked = self._dismiss_dialogs()
        if not self.crashed:
            if has_asked or await self._exit.is_blocked(is_leaving=self._is_leaving):
                await self._escape()
        self.crashed = False
        navigation = Navigation()
        self._navigations.add(navigation)
        try:
            while (answer := await self._exit.answer_to(start(), navigation)) is None:
                await self._escape()  # the page took its thread after Roost had looked at it
                self._navigations.discard(navigation)
                navigation = Navigation()
                self._navigations.add(navigation)
            error = answer.get("errorText")
            stayed = bool(answer.get("isDownload")) or navigation.last_status in NO_CONTENT
            if stayed:
                await self._download_of(navigation)
            elif error:
                await navigation.shows_error(answer)
                raise cannot_open(error)
            else:
                await navigation.shows_document(answer)
        except CdpError as error_:
            raise cannot_open(str(error_)) from None
        except asyncio.CancelledError:
            self._give_up(navigation)
            raise
        finally:
            self._dismisses = self.side_effects.may_download = False
            self._navigations.discard(navigation)
        status = navigation.last_status if stayed else navigation.status
        if navigation.wants_password:
            raise wants_login(status=status)
        return await self._here(status, stayed=stayed)

    def _dismiss_dialogs(self) -> bool:
        """Dismiss the open dialog, except ``beforeunload``, which the caller answers. Return True
        if a dialog was open: such a page may open the next dialog at once."""
        self._dismisses = True
        if not self.dialogs.has_dialog or self.dialogs.asks_to_stay:
            return False
        self.dialogs.dismiss_dialog()
        return True

    async def _escape(self) -> None:
        navigation = Navigation()
        self._navigations.add(navigation)
        try:
            await self._exit.escape(navigation)
        finally:
            self._navigations.discard(navigation)

    def _give_up(self, navigation: Navigation) -> None:
        """Stop a navigation that committed no document in time, so that the page answers again."""
        if not navigation.has_committed and not self.dialogs.has_dialog:
            self._calling_off = self._cdp.call("Page.stopLoading", None, self.session)
            self._calling_off.add_done_callback(log_failure)

    async def _called_off(self) -> None:
        """Wait for the last events of a stopped navigation: they would seem to end the next one."""
        if self._calling_off is not None:
            await asyncio.wait({self._calling_off}, timeout=FROZEN_SECONDS)
            self._calling_off = None

    async def _download_of(self, navigation: Navigation) -> None:
        """Wait briefly for a download if the navigation committed no document and was no 204."""
        if navigation.last_status not in NO_CONTENT:
            await self.side_effects.download()

    async def _here(self, status: int | None = None, *, stayed: bool = False) -> Arrival:
        """Return and report where the tab is, as the browser (never the page) says."""
        if not self.dialogs.has_dialog:
            # A page that navigates again at once answers nothing until its next document arrives.
            await self._exit.is_silent(PATIENT_SECONDS)
        await self._title.read()
        self._tell_place()
        return Arrival(self.url, self._title.text, status, stayed)

    def _tell_place(self) -> None:
        self._report(TabNavigated(self.handle, self.url, self._title.text))

    async def resize(self, width: int, height: int) -> None:
        self.check_open()
        await self.dialogs.resize(width, height)

    # --- page work -----------------------------------------------------------------------------

    async def evaluate(
        self, function: str, *, frame: str | None = None, ref: str | None = None
    ) -> Any:
        await self.check_answers()
        with self._exit.ending(self.scripts.session_of(frame), lambda: self._is_leaving):
            return await self.scripts.evaluate(function, frame, ref)

    async def all_frames(self) -> list[FrameInfo]:
        self.check_open()
        return [FrameInfo(frame.id, frame.parent, frame.url) for frame in self.frames]

    async def call_page(
        self,
        frame: str | None,
        function: str,
        argument: Json,
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        await self.check_answers()
        return await self.scripts.call_bundle(
            frame, function, argument, owner_of=owner_of, once=once
        )

    async def act(self, inputs: Sequence[Input], frame: str | None, argument: Json) -> Json | None:
        if inputs:
            await self.check_answers()
            await self._give(inputs)
        return await self.settle(frame, argument)

    async def send_input(self, inputs: Sequence[Input]) -> None:
        self.check_alive()
        await self._give(inputs)

    async def _give(self, inputs: Sequence[Input]) -> None:
        held, give = self.input.held_keys, self.input.send
        await give_inputs(self._clipboard, self.handle, self, inputs, held, give)

    async def drop(self, point: tuple[float, float], dropped: Dropped) -> None:
        await self.check_answers()
        await self.input.drop(point, dropped)

    async def release(self) -> None:
        self.check_alive()
        self.input.release()

    async def capture(self, shot: Shot) -> Picture:
        await self.check_answers()
        return await self.camera.capture(shot)

    async def pdf(self) -> bytes:
        await self.check_answers()
        return await self.camera.pdf()

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        self.check_open()
        await self.dialogs.set_files(frame, ref, paths)

    async def choose_files(self, paths: Sequence[str]) -> None:
        self.check_open()
        await self.dialogs.choose_files(paths)

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        self.check_open()
        await self.dialogs.answer_dialog(accept=accept, text=text)

    async def body(self, request: str) -> bytes:
        self.check_open()
        return await self.dialogs.body(request)

    # --- events --------------------------------------------------------------------------------

    def _heard(self, session: str, method: str, params: Json) -> None:
        heard = _EVENTS.get(method)
        if heard is not None:
            heard(self, session, params)

    def _frame_attached(self, session: str, params: Json) -> None:
        self.frames.attached(params["frameId"], params.get("parentFrameId"), session)

    def _frame_navigated(self, session: str, params: Json) -> None:
        frame = self.frames.navigated(params["frame"], session)
        if frame.id != self.frames.main:
            return
        self._is_leaving, self._awaited, self._dismisses = False, None, False
        self._requests.end_all_but(frame.loader)
        self.dialogs.chooser.close()
        for navigation in self._navigations:
            navigation.committed(frame.loader)
            if params.get("type") == "BackForwardCacheRestore":
                navigation.done_at_once()
        if self.is_ready and not self._exit.is_escaping:
            self._title.text = FAILED_TITLE if frame.is_error else ""
            self._tell_place()

    def _frame_detached(self, session: str, params: Json) -> None:
        if params.get("reason") != "swap":
            self.frames.detached(params["frameId"])

    def _leaving(self, session: str, params: Json) -> None:
        disposition = params.get("disposition", "currentTab")
        if disposition in ("newTab", "newWindow"):
            self.side_effects.tab_wanted()
        elif params["frameId"] == self.frames.main and disposition == "currentTab":
            self._is_leaving = True

    def _started_navigating(self, session: str, params: Json) -> None:
        """Note a navigation that began, also one that a command or an answered dialog started."""
        is_within = params.get("navigationType", "").lower().endswith("samedocument")
        if params["frameId"] == self.frames.main and not is_within:
            self._is_leaving, self._awaited = True, params["url"]

    def _stopped_loading(self, session: str, params: Json) -> None:
        """Loading ended. If it committed no document (a download, 204), none will follow."""
        if params["frameId"] != self.frames.main:
            return
        self._awaited = None
        if self._is_leaving:
            self._is_leaving, self.side_effects.may_download = False, True
            for navigation in self._navigations:
                navigation.done_at_once()

    def _moved_within(self, session: str, params: Json) -> None:
        self.frames.moved_within(params["frameId"], params["url"])
        if params["frameId"] == self.frames.main:
            self._is_leaving = False
            for navigation in self._navigations:
                navigation.done_at_once()
            self._tell_place()

    def _lifecycle(self, session: str, params: Json) -> None:
        if params["frameId"] != self.frames.main:
            return
        for navigation in self._navigations:
            navigation.reached(params["name"], params["loaderId"])
        is_told = self.is_ready and not self._exit.is_escaping
        if params["name"] in ("DOMContentLoaded", "load") and is_told:
            main = self.frames.get(None)
            if main is not None and main.loader != params["loaderId"]:
                # Chromium may not report a popup's first commit while its session is set up.
                self._ask_frames(self.session)
            self._title.ask()

    def _request_sent(self, session: str, params: Json) -> None:
        if params.get("type") == "Document" and params.get("frameId") == self.frames.main:
            for navigation in self._navigations:
                navigation.is_requested = True
        self._requests.sent(params)

    def _response_received(self, session: str, params: Json) -> None:
        if params.get("frameId") == self.frames.main and params["type"] == "Document":
            for navigation in self._navigations:
                status = params["response"]["status"]
                navigation.answered(
                    params["loaderId"], status, wants_password=wants_password(params["response"])
                )
        self._requests.answered(params)

    def _request_finished(self, session: str, params: Json) -> None:
        self._requests.finished(params)

    def _chooser_opened(self, session: str, params: Json) -> None:
        self.dialogs.chooser_opened(session, params)

    def _dialog_opened(self, session: str, params: Json) -> None:
        if self._dismisses and params["type"] != "beforeunload":
            self.dialogs.dismiss_dialog()
        else:
            self.dialogs.dialog_opened(params)

    def _dialog_closed(self, session: str, params: Json) -> None:
        self.dialogs.dialog_closed()

    def _context_gone(self, session: str, params: Json) -> None:
        self.frames.context_gone(params["executionContextId"], session)

    def _target_crashed(self, session: str, params: Json) -> None:
        if session != self.session:
            return
        self.crashed, self._awaited = True, None
        error = TabCrashed("The page's process died.")
        for one in self._sessions:
            self._cdp.interrupt(one, error)
        for navigation in self._navigations:
            navigation.failed(error)
        self.dialogs.dialog_closed()
        self._report(events.TabCrashed(self.handle))

    def _attached_below(self, session: str, params: Json) -> None:
        """Set up the session of a frame in another process, or of a worker of this tab."""
        below, info = params["sessionId"], params["targetInfo"]
        self._sessions.add(below)
        self._listen(below)
        if info["type"] in FRAME_TYPES:
            self.frames.attached(info["targetId"], None, below)
            self.frames.hosted_by(info["targetId"], below)
            for method in ("Page.enable", "Runtime.enable", "Network.enable"):
                self._cdp.tell(method, None, below)
            self._cdp.tell("Page.setInterceptFileChooserDialog", {"enabled": True}, below)
            self.conditions.watch(below, Where.FRAME)
            self._ask_frames(below)
        else:
            self._cdp.tell("Runtime.enable", None, below)
            self.conditions.watch(below, Where.WORKER)
        self._attach_below(below)
        self._cdp.tell("Runtime.runIfWaitingForDebugger", None, below)

    def _detached_below(self, session: str, params: Json) -> None:
        below = params["sessionId"]
        self._sessions.discard(below)
        self.conditions.forget(below)
        self._cdp.end_session(below)

    def _listen(self, session: str) -> None:
        self._cdp.on_event(session, lambda method, params: self._heard(session, method, params))

    def _attach_below(self, session: str) -> None:
        options = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        self._cdp.tell("Target.setAutoAttach", options, session)

    def _ask_frames(self, session: str, *, is_news: bool = False) -> Pending:
        """Ask Chromium for the session's frame tree. No script of the page takes part."""
        tree = self._cdp.call("Page.getFrameTree", None, session)
        tree.add_done_callback(partial(self._know_frames, session=session, is_news=is_news))
        return tree

    def _know_frames(self, answer: Pending, *, session: str, is_news: bool = False) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        before = self.url
        self.frames.learn(answer.result()["frameTree"], session)
        if session == self.session and (is_news or self.url != before):
            # The document was committed before this session received events.
            self._tell_place()
            self._title.ask()


_EVENTS: dict[str, Callable[[CdpTab, str, Json], None]] = {
    "Page.frameAttached": CdpTab._frame_attached,
    "Page.frameNavigated": CdpTab._frame_navigated,
    "Page.frameDetached": CdpTab._frame_detached,
    "Page.frameRequestedNavigation": CdpTab._leaving,
    "Page.frameStartedNavigating": CdpTab._started_navigating,
    "Page.frameStoppedLoading": CdpTab._stopped_loading,
    "Page.navigatedWithinDocument": CdpTab._moved_within,
    "Page.lifecycleEvent": CdpTab._lifecycle,
    "Page.fileChooserOpened": CdpTab._chooser_opened,
    "Page.javascriptDialogOpening": CdpTab._dialog_opened,
    "Page.javascriptDialogClosed": CdpTab._dialog_closed,
    "Fetch.requestPaused": lambda tab, s, params: tab._interception.request_paused(s, params),
    "Network.requestWillBeSent": CdpTab._request_sent,
    "Network.responseReceived": CdpTab._response_received,
    "Network.webSocketCreated": lambda tab, _, p: tab._streams.opened(p["requestId"], p["url"]),
    "Network.webSocketFrameSent": lambda tab, _, params: tab._streams.frame(params, sent=True),
    "Network.webSocketFrameReceived": lambda tab, _, params: tab._streams.frame(params, sent=False),
    "Network.eventSourceMessageReceived": lambda tab, _, params: tab._streams.event(params),
    "Network.loadingFinished": CdpTab._request_finished,
    "Network.loadingFailed": CdpTab._request_finished,
    "Runtime.consoleAPICalled": lambda tab, _, p: tab._report(console_called(tab.handle, p)),
    "Runtime.exceptionThrown": lambda tab, _, p: tab._report(exception_thrown(tab.handle, p)),
    "Runtime.executionContextCreated": lambda tab, s, p: tab.frames.context_made(p["context"], s),
    "Runtime.executionContextDestroyed": CdpTab._context_gone,
    "Runtime.executionContextsCleared": lambda tab, s, _: tab.frames.contexts_cleared(s),
    "Input.dragIntercepted": lambda tab, _, params: tab.input.drag_began(params),
    "Inspector.targetCrashed": CdpTab._target_crashed,
    "Target.attachedToTarget": CdpTab._attached_below,
    "Target.detachedFromTarget": CdpTab._detached_below,
}
_LEFT_BEHIND: dict[str, Callable[[CdpTab, str, Json], None]] = {
    "dialogs": CdpTab._dialog_opened,
    "choosers": CdpTab._chooser_opened,
    "requests": lambda tab, session, params: tab._interception.request_paused(session, params),
}
