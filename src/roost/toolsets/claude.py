"""Drivers for Claude's browser toolset, ``browser_toolset_20260801`` of the package ``anthropic``.

``AsyncBrowserToolset`` is for ``AsyncAnthropic``, ``BrowserToolset`` for ``Anthropic``. Each
instance opens a session of its own in Roost at its first call and ends it in ``close``. All
instances of all processes share one browser.

Points are pixels of the last screenshot of a tab. ``BrowserSession`` turns them into points of the
viewport.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from anthropic import NOT_GIVEN, NotGiven
from anthropic.tools import ToolError
from anthropic.tools.browser import (
    BetaAbstractBrowserToolset20260801,
    BetaAsyncAbstractBrowserToolset20260801,
    BetaAsyncConfirmCallable,
    BetaAsyncURLPolicy,
    BetaBrowserMemberResult,
    BetaBrowserNavigateResult,
    BetaBrowserState,
    BetaConfirmCallable,
    BetaDialogDismissed,
    BetaFilePolicy,
    BetaScreenshotResult,
    BetaToolConfigs,
    BetaToolsetCallContext,
    BetaURLPolicy,
)
from anthropic.types import beta

from roost.api import operations as ops
from roost.api.page_views import DownloadView, ScreenshotView
from roost.api.views import PageView, TabView, View
from roost.errors import BadRequest, RoostError
from roost.toolsets import background_loop, keyboard, replies
from roost.toolsets.browser_session import (
    BrowserSession,
    SessionOptions,
    changed_downloads,
    made,
)

__all__ = ["AsyncBrowserToolset", "BrowserToolset", "SessionOptions"]

MEMBERS = {
    "Click": "left_click", "Close": "close_tab", "ConsoleMessages": "read_console",
    "Drag": "left_click_drag", "Evaluate": "javascript_exec", "FileUpload": "file_upload",
    "FillForm": "form_input", "Find": "find", "GetContent": "get_page_text", "HoldKey": "hold_key",
    "Hover": "hover", "MouseDown": "left_mouse_down", "MouseDragXy": "left_click_drag",
    "MouseUp": "left_mouse_up", "Navigate": "navigate", "NetworkRequests": "read_network",
    "PressKey": "key", "PressSequentially": "type", "Reload": "navigate", "Scroll": "scroll_to",
    "Snapshot": "read_page", "Tabs": "list_tabs", "TakeScreenshot": "screenshot",
    "TripleClick": "triple_click", "Type": "type", "WaitFor": "wait", "ZoomScreenshot": "zoom",
}  # fmt: skip
"""The member that performs each operation, for hints."""
READ_CHARS = 50_000
DEPTH = 15
NOTCH_PIXELS = 100
NOTCHES = 3
PRESSES = 100
"""The most key presses of one call."""
LOG_LINES = 500
TABS = 100
"""The most tabs that the API takes in a report."""


class AsyncBrowserToolset(BetaAsyncAbstractBrowserToolset20260801):
    """Claude's browser toolset in a session of its own, for ``AsyncAnthropic``."""

    def __init__(
        self,
        session: SessionOptions | None = None,
        *,
        configs: beta.BetaBrowserToolsetConfigsParam | None = None,
        confirm: BetaAsyncConfirmCallable | None = None,
        url_policy: BetaAsyncURLPolicy | NotGiven = NOT_GIVEN,
        file_policy: BetaFilePolicy | None = None,
        tool_configs: BetaToolConfigs | None = None,
    ) -> None:
        """Make a toolset; its session is opened by the first call.

        session: how to open the session; None: a fresh one that ends with this toolset.
        configs, url_policy, file_policy, tool_configs: as in the SDK.
        confirm: as in the SDK, which demands it for scripts and uploads. Roost approves nothing.
        """
        super().__init__(
            configs=configs,
            confirm=confirm,
            url_policy=url_policy,
            file_policy=file_policy,
            tool_configs=tool_configs,
        )
        self._browser = ClaudeBrowser(session or SessionOptions())

    async def execute(
        self, context: BetaToolsetCallContext, name: Any, input: Any
    ) -> BetaBrowserMemberResult:
        """Perform one member call."""
        return await self._browser.execute(name, input)

    async def _browser_state(self, context: BetaToolsetCallContext) -> BetaBrowserState:
        return await self._browser.state()

    async def close(self) -> None:
        """End the session, after the calls under way."""
        await super().close()
        await self._browser.session.aclose()


class BrowserToolset(BetaAbstractBrowserToolset20260801):
    """Claude's browser toolset in a session of its own, for ``Anthropic``."""

    def __init__(
        self,
        session: SessionOptions | None = None,
        *,
        configs: beta.BetaBrowserToolsetConfigsParam | None = None,
        confirm: BetaConfirmCallable | None = None,
        url_policy: BetaURLPolicy | NotGiven = NOT_GIVEN,
        file_policy: BetaFilePolicy | None = None,
        tool_configs: BetaToolConfigs | None = None,
    ) -> None:
        """Make a toolset. The arguments are those of ``AsyncBrowserToolset``."""
        super().__init__(
            configs=configs,
            confirm=confirm,
            url_policy=url_policy,
            file_policy=file_policy,
            tool_configs=tool_configs,
        )
        self._browser = ClaudeBrowser(session or SessionOptions())

    def execute(
        self, context: BetaToolsetCallContext, name: Any, input: Any
    ) -> BetaBrowserMemberResult:
        """Perform one member call."""
        return background_loop.run(self._browser.execute(name, input))

    def _browser_state(self, context: BetaToolsetCallContext) -> BetaBrowserState:
        return background_loop.run(self._browser.state())

    def close(self) -> None:
        """End the session, after the calls under way."""
        super().close()
        background_loop.run(self._browser.session.aclose())


class ClaudeBrowser:
    """The members of the toolset, on one session."""

    def __init__(self, options: SessionOptions) -> None:
        self.session = BrowserSession(options)
        self._tabs: set[str] | None = None
        """The tabs of the last report."""
        self._downloads: dict[str, str] = {}
        """The states of the downloads in the last report, by id."""

    async def execute(self, name: str, input: Any) -> BetaBrowserMemberResult:
        member = cast(Callable[[Any], Awaitable[BetaBrowserMemberResult]], getattr(self, name))
        try:
            return await member(input)
        except RoostError as error:
            raise ToolError(replies.refusal(error, MEMBERS)) from error

    async def state(self) -> BetaBrowserState:
        """Return the tabs, and what happened since the last report.

        If Roost cannot be reached, there are no tabs. The SDK takes an error here for a fault of
        the driver and ends the run.
        """
        try:
            tabs = (await self.session.tabs())[-TABS:]
            downloads = await self.session.downloads()
        except RoostError:
            return BetaBrowserState(tabs=[])
        now = {tab.tab for tab in tabs}
        changes: list[Any] = [
            {"type": "tab_opened", "tab_id": tab} for tab in sorted(now - (self._tabs or set()))
        ]
        self._tabs = now
        for id, one in changed_downloads(self._downloads, downloads).items():
            self._downloads[id] = one.state
            changes.append(_download(id, one))
        changes += [
            BetaDialogDismissed(kind=dialog.kind, message=dialog.message)
            for dialog in self.session.dismissed_dialogs()
        ]
        return BetaBrowserState(tabs=[_entry(tab) for tab in tabs], state_changes=changes)

    # --- navigating ------------------------------------------------------------------------------

    async def navigate(self, input: beta.BetaBrowserNavigateInput) -> BetaBrowserNavigateResult:
        tab = input.tab_id or None
        ways: dict[str, Any] = {
            "back": ops.NavigateBack, "forward": ops.NavigateForward, "reload": ops.Reload,
        }  # fmt: skip
        way = ways.get(input.url)
        operation = made(way, tab=tab) if way else made(ops.Navigate, tab=tab, url=input.url)
        view: PageView = await self.session.call(operation)
        return BetaBrowserNavigateResult(url=view.url, status=view.status, title=view.title)

    async def new_tab(self, input: Any) -> Any:
        return _entry(await self.session.new_tab())

    async def list_tabs(self, input: Any) -> Any:
        return [_entry(tab) for tab in await self.session.tabs()]

    async def switch_tab(self, input: beta.BetaBrowserSwitchTabInput) -> Any:
        await self.session.call(made(ops.Tabs, action="select", tab=input.tab_id))
        return _entry(await self.session.tab(input.tab_id))

    async def close_tab(self, input: beta.BetaBrowserCloseTabInput) -> None:
        await self.session.call(made(ops.Close, tab=input.tab_id))

    # --- the mouse -------------------------------------------------------------------------------

    async def left_click(self, input: beta.BetaBrowserLeftClickInput) -> str | None:
        return await self._click(input, button="left")

    async def right_click(self, input: beta.BetaBrowserRightClickInput) -> str | None:
        return await self._click(input, button="right")

    async def middle_click(self, input: beta.BetaBrowserMiddleClickInput) -> str | None:
        return await self._click(input, button="middle")

    async def double_click(self, input: beta.BetaBrowserDoubleClickInput) -> str | None:
        return await self._click(input, count=2)

    async def triple_click(self, input: beta.BetaBrowserTripleClickInput) -> str | None:
        return await self._click(input, count=3)

    async def _click(self, input: Any, *, button: str = "left", count: int = 1) -> str | None:
        where: dict[str, Any] = {"tab": input.tab_id or None, "snapshot": "none"}
        where["modifiers"] = keyboard.modifiers(input.modifiers)
        operation: ops.Click | ops.TripleClick | ops.MouseClickXy
        if input.target.type == "coordinate":
            x, y = self._point(input)
            operation = made(ops.MouseClickXy, x=x, y=y, button=button, click_count=count, **where)
        elif count == 3:
            operation = made(ops.TripleClick, target=_ref(input), **where)
        else:
            operation = made(
                ops.Click, target=_ref(input), button=button, double_click=count == 2, **where
            )
        return self._noted(await self.session.call(operation))

    async def hover(self, input: beta.BetaBrowserHoverInput) -> str | None:
        if input.target.type == "coordinate":
            return await self.mouse_move(cast(beta.BetaBrowserMouseMoveInput, input))
        return await self._act(ops.Hover, input, target=_ref(input))

    async def mouse_move(self, input: beta.BetaBrowserMouseMoveInput) -> str | None:
        x, y = self._point(input)
        return await self._act(ops.MouseMoveXy, input, x=x, y=y)

    async def left_mouse_down(self, input: beta.BetaBrowserLeftMouseDownInput) -> str | None:
        x, y = self._point(input)
        return await self._act(ops.MouseDown, input, x=x, y=y)

    async def left_mouse_up(self, input: beta.BetaBrowserLeftMouseUpInput) -> str | None:
        x, y = self._point(input)
        return await self._act(ops.MouseUp, input, x=x, y=y)

    async def left_click_drag(self, input: beta.BetaBrowserLeftClickDragInput) -> str | None:
        start = self.session.point(input.tab_id, input.from_.x, input.from_.y)
        end = self._point(input)
        return await self._act(
            ops.MouseDragXy, input, start_x=start[0], start_y=start[1], end_x=end[0], end_y=end[1]
        )

    async def scroll(self, input: beta.BetaBrowserScrollInput) -> str | None:
        x, y = self._point(input)
        turned = NOTCH_PIXELS * (input.scroll_amount or NOTCHES)
        dx, dy = {
            "up": (0, -turned), "down": (0, turned), "left": (-turned, 0), "right": (turned, 0),
        }[input.scroll_direction]  # fmt: skip
        return await self._act(ops.MouseWheel, input, x=x, y=y, delta_x=dx, delta_y=dy)

    async def scroll_to(self, input: beta.BetaBrowserScrollToInput) -> str | None:
        operation = made(ops.Scroll, tab=input.tab_id or None, target=_ref(input))
        return self._noted(await self.session.call(operation))

    # --- the keyboard ----------------------------------------------------------------------------

    async def type(self, input: beta.BetaBrowserTypeInput) -> str | None:
        return await self._act(ops.PressSequentially, input, text=input.text)

    async def key(self, input: beta.BetaBrowserKeyInput) -> str | None:
        chords = keyboard.sequence(input.text) * max(1, input.repeat or 1)
        if len(chords) > PRESSES:
            raise BadRequest(f"repeat: {PRESSES} presses are the most of one call.")
        lines = [await self._act(ops.PressKey, input, key=one) for one in chords]
        return " ".join(filter(None, lines)) or None

    async def hold_key(self, input: beta.BetaBrowserHoldKeyInput) -> str | None:
        held = keyboard.chord(input.text.strip() or " ")
        return await self._act(ops.HoldKey, input, key=held, seconds=input.duration)

    async def form_input(self, input: beta.BetaBrowserFormInputInput) -> str | None:
        field = {"target": _ref(input), "value": input.value}
        return await self._act(ops.FillForm, input, fields=[field])

    async def file_upload(self, input: beta.BetaBrowserFileUploadInput) -> str | None:
        if input.document_ids:
            raise BadRequest("Roost gives pages files of this machine, not document ids.")
        return await self._act(
            ops.FileUpload, input, target=_ref(input), paths=list(input.paths or ())
        )

    # --- reading ---------------------------------------------------------------------------------

    async def screenshot(self, input: beta.BetaBrowserScreenshotInput) -> BetaScreenshotResult:
        return _picture(await self.session.screenshot(input.tab_id or None))

    async def zoom(self, input: beta.BetaBrowserZoomInput) -> BetaScreenshotResult:
        if len(input.region) != 4:
            raise BadRequest("region: give four numbers, x0, y0, x1 and y1.")
        left, top, right, bottom = input.region
        region = (float(left), float(top), float(right), float(bottom))
        return _picture(await self.session.zoom(input.tab_id or None, region))

    async def read_page(self, input: beta.BetaBrowserReadPageInput) -> str:
        operation = made(
            ops.Snapshot,
            tab=input.tab_id or None,
            target=input.ref,
            depth=input.depth or DEPTH,
            interactive=input.filter == "interactive",
            max_chars=READ_CHARS,
        )
        return replies.page_text((await self.session.call(operation)).snapshot)

    async def find(self, input: beta.BetaBrowserFindInput) -> str:
        view, remark = await self.session.find(input.tab_id or None, input.query)
        return replies.found_text(view, remark)

    async def get_page_text(self, input: beta.BetaBrowserGetPageTextInput) -> str:
        operation = made(ops.GetContent, tab=input.tab_id or None, max_length=READ_CHARS)
        view = await self.session.call(operation)
        cut = f"Cut: the page has {view.length} characters." if view.truncated else ""
        return replies.page_text(view.text, cut)

    async def wait(self, input: beta.BetaBrowserWaitInput) -> str | None:
        if not 0 <= input.duration <= 30:
            raise BadRequest("duration: 30 seconds are the most.")
        operation = made(ops.WaitFor, tab=input.tab_id or None, time=input.duration)
        return self._noted(await self.session.call(operation))

    async def read_console(self, input: beta.BetaBrowserReadConsoleInput) -> str:
        operation = made(ops.ConsoleMessages, tab=input.tab_id or None, clear=True, limit=LOG_LINES)
        return replies.console_text(await self.session.call(operation))

    async def read_network(self, input: beta.BetaBrowserReadNetworkInput) -> str:
        operation = made(ops.NetworkRequests, tab=input.tab_id or None, clear=True, limit=LOG_LINES)
        return replies.network_text(await self.session.call(operation))

    async def javascript_exec(self, input: beta.BetaBrowserJavascriptExecInput) -> str:
        value = await self.session.run_script(input.tab_id or None, input.text)
        return replies.value_text(value)

    # --- parts -----------------------------------------------------------------------------------

    async def _act(self, operation: Any, input: Any, **arguments: Any) -> str | None:
        """Perform an action of the table and return what the model has to read after it."""
        given = {"tab": input.tab_id or None, "snapshot": "none", **arguments}
        return self._noted(await self.session.call(made(operation, **given)))

    def _noted(self, view: View) -> str | None:
        return " ".join(replies.notes(view, MEMBERS)) or None

    def _point(self, input: Any) -> tuple[float, float]:
        return self.session.point(input.tab_id, input.target.x, input.target.y)


def _ref(input: Any) -> str:
    return str(input.target.ref)


def _picture(view: ScreenshotView) -> BetaScreenshotResult:
    assert view.data is not None
    return BetaScreenshotResult(data=view.data, media_type=cast(Any, view.mime_type))


def _entry(tab: TabView) -> beta.BetaBrowserStateTabEntryParam:
    return {"tab_id": tab.tab, "title": tab.title, "url": tab.url, "active": tab.current}


def _download(id: str, view: DownloadView) -> dict[str, Any]:
    about: dict[str, Any] = {"download_id": id, "url": view.url or ""}
    if view.state == "done":
        more = {"path": view.path, "size_bytes": view.bytes}
        given = {name: value for name, value in more.items() if value is not None}
        return {"type": "download_completed", **about, **given}
    return {"type": "download_started" if view.state == "running" else "download_failed", **about}
