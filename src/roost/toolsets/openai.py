"""Drivers for OpenAI's browser toolset, ``openai.lib.browser`` of the package ``openai``.

``AsyncRoostBrowser`` is the driver of an ``AsyncBrowserToolset``, ``RoostBrowser`` that of a
``BrowserToolset``. Each instance opens a session of its own in Roost at its first call and ends it
in ``close``. All instances of all processes share one browser.

Points are pixels of the last screenshot of a tab. ``BrowserSession`` turns them into points of the
viewport.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from openai.lib import browser as sdk

from roost.api import operations as ops
from roost.api.page_views import ScreenshotView
from roost.api.views import View
from roost.errors import BadRequest, NotFound, RoostError
from roost.toolsets import background_loop, keyboard, replies
from roost.toolsets.browser_session import BrowserSession, SessionOptions, made

__all__ = ["AsyncRoostBrowser", "RoostBrowser", "SessionOptions"]

P = ParamSpec("P")
T = TypeVar("T")
_NAMES = {
    "Click": "click", "Close": "close_tab",
    "ConsoleMessages": "read_diagnostics", "Drag": "drag_path",
    "Evaluate": "run_script", "FileUpload": "upload_file",
    "FillForm": "type", "Find": "find", "GetContent": "get_page_text",
    "HoldKey": "hold_keys", "Hover": "hover", "MouseClickXy": "click_at",
    "MouseDragXy": "drag_path", "MouseMoveXy": "hover_at",
    "Navigate": "navigate", "NetworkRequests": "read_diagnostics",
    "PressKey": "key", "PressSequentially": "type", "Scroll": "scroll_to",
    "SelectOption": "select_option", "Snapshot": "read_page",
    "Tabs": "list_tabs", "TakeScreenshot": "screenshot", "Type": "type",
    "WaitFor": "wait_for", "ZoomScreenshot": "zoom",
}  # fmt: skip
MEMBERS = {operation: f"browser_{member}" for operation, member in _NAMES.items()}
"""The tool that performs each operation, for hints."""
READ_CHARS = 50_000
SCROLL_PIXELS = 10_000
LABEL_CHARS = 60
SCOPES = frozenset(
    {
        "article", "banner", "complementary", "contentinfo", "dialog", "form", "main", "navigation",
        "region", "search",
    }
)  # fmt: skip
_LINE = re.compile(r'^\s*- (?P<role>[\w-]+)(?: "(?P<name>[^"]*)")?.*?\[ref=(?P<ref>\w+)\]')
_REFUSED: sdk.BrowserFileOutcome = {
    "version": 1, "status": "refused", "effect": "none", "cleanup": "not_started",
}  # fmt: skip
_COMPLETED: sdk.BrowserFileOutcome = {
    "version": 1, "status": "completed", "effect": "completed", "cleanup": "completed",
}  # fmt: skip


def _member(
    work: Callable[Concatenate[AsyncRoostBrowser, P], Awaitable[T]],
) -> Callable[Concatenate[AsyncRoostBrowser, P], Any]:
    """Return the member with Roost's errors as the SDK's, whose text the model reads."""

    @wraps(work)
    async def member(browser: AsyncRoostBrowser, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await work(browser, *args, **kwargs)
        except RoostError as error:
            raise sdk.BrowserError(replies.refusal(error, MEMBERS)) from error

    return member


class AsyncRoostBrowser:
    """The driver of one agent, for ``AsyncBrowserToolset``. Use it in ``async with``."""

    def __init__(self, session: SessionOptions | None = None) -> None:
        """Make a driver; its session is opened by the first call.

        session: how to open the session; None: a fresh one that ends with this driver.
        """
        self._session = BrowserSession(session or SessionOptions())
        self._uploads: dict[str, str] = {}
        self._downloads: dict[str, Path] = {}
        self._fetched: set[str] = set()
        """Paths of downloads that were given out."""

    async def __aenter__(self) -> AsyncRoostBrowser:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the session."""
        await self._session.aclose()

    async def state(self) -> sdk.BrowserState:
        """Return the session's tabs. If Roost cannot be reached, there are none."""
        try:
            tabs = await self._session.tabs()
        except RoostError:
            return {"tabs": []}
        return {
            "tabs": [
                {
                    "id": tab.tab,
                    "title": tab.title,
                    "url": tab.url or "about:blank",
                    "active": tab.current,
                }
                for tab in tabs
            ]
        }

    # --- files: what the application allows ------------------------------------------------------

    def grant_upload(self, path: str | Path) -> str:
        """Allow one upload of that file. Return the grant, which the application tells the model.

        The file goes to the field whose chooser is open, else to the page's only file field. Roost
        takes files below the working directory of this process.
        """
        return self._grant(self._uploads, str(path))

    def grant_download(self, path: str | Path) -> str:
        """Allow one download to be copied to that path. Return the grant for the model."""
        return self._grant(self._downloads, Path(path))

    @staticmethod
    def _grant(grants: dict[str, T], value: T) -> str:
        grant = secrets.token_urlsafe(12)
        grants[grant] = value
        return grant

    # --- navigating ------------------------------------------------------------------------------

    @_member
    async def navigate(self, action: sdk.NavigateInput) -> str | None:
        operation = made(ops.Navigate, tab=action["tab_id"], url=action["url"])
        view = await self._session.call(operation)
        status = "" if view.status is None else f"The page answered with HTTP {view.status}."
        return self._said(view, status)

    @_member
    async def new_tab(self, action: sdk.NewTabInput) -> str | None:
        await self._session.new_tab(action["url"])
        return self._said()

    @_member
    async def switch_tab(self, action: sdk.TabInput) -> str | None:
        tab = action["tab_id"]
        return self._said(await self._session.call(made(ops.Tabs, action="select", tab=tab)))

    @_member
    async def close_tab(self, action: sdk.TabInput) -> str | None:
        return self._said(await self._session.call(made(ops.Close, tab=action["tab_id"])))

    # --- reading ---------------------------------------------------------------------------------

    @_member
    async def read_page(self, action: sdk.ReadPageInput) -> str:
        return replies.page_text(await self._snapshot(action))

    @_member
    async def read_page_scoped(self, action: sdk.ReadPageScopedInput) -> sdk.BrowserScopedReadV1:
        text = await self._snapshot(action, target=action["root"], depth=action["depth"])
        found = [match for line in text.splitlines() if (match := _LINE.match(line))]
        scopes: list[sdk.BrowserReadScope] = [
            {"ref": one["ref"], "label": f"{one['role']} {one['name'] or ''}".strip()[:LABEL_CHARS]}
            for one in found
            if one["role"] in SCOPES and one["ref"] != action["root"]
        ]
        read = replies.page_text(text)
        return {"version": 1, "text": read, "elements": [], "omitted": [], "scopes": scopes}

    async def _snapshot(self, action: sdk.ReadPageInput, **more: Any) -> str:
        is_short = action["filter"] == "interactive"
        operation = made(
            ops.Snapshot,
            tab=action["tab_id"], interactive=is_short, max_chars=READ_CHARS, **more,
        )  # fmt: skip
        return (await self._session.call(operation)).snapshot

    @_member
    async def get_page_text(self, action: sdk.TabInput) -> str:
        operation = made(ops.GetContent, tab=action["tab_id"], max_length=READ_CHARS)
        view = await self._session.call(operation)
        cut = f"Cut: the page has {view.length} characters." if view.truncated else ""
        return replies.page_text(view.text, cut)

    @_member
    async def find(self, action: sdk.FindInput) -> str:
        return replies.found_text(*await self._session.find(action["tab_id"], action["query"]))

    @_member
    async def wait_for(self, action: sdk.WaitForInput) -> str | None:
        seconds = action["timeout_ms"] / 1000
        operation = made(ops.WaitFor, tab=action["tab_id"], text=action["text"], timeout=seconds)
        return self._said(await self._session.call(operation))

    @_member
    async def screenshot(self, action: sdk.TabInput) -> Any:
        return _picture(await self._session.screenshot(action["tab_id"]))

    @_member
    async def zoom(self, action: sdk.ZoomInput) -> Any:
        left, top, right, bottom = map(float, action["region"])
        region = (left, top, right, bottom)
        return _picture(await self._session.zoom(action["tab_id"], region))

    @_member
    async def read_diagnostics(self, action: sdk.ReadDiagnosticsInput) -> sdk.BrowserReadV1:
        tab, limit = action["tab_id"], action["limit"]
        if action["source"] == "console":
            console = made(ops.ConsoleMessages, tab=tab, limit=limit)
            text = replies.console_text(await self._session.call(console))
        else:
            network = made(ops.NetworkRequests, tab=tab, limit=limit)
            text = replies.network_text(await self._session.call(network))
        return {"version": 1, "text": text, "elements": [], "omitted": []}

    @_member
    async def run_script(self, action: sdk.RunScriptInput) -> str:
        seconds = action["timeout_ms"] / 1000
        value = await self._session.run_script(action["tab_id"], action["source"], timeout=seconds)
        return replies.value_text(value)

    # --- acting ----------------------------------------------------------------------------------

    @_member
    async def click(self, action: sdk.ClickInput) -> str | None:
        return await self._act(ops.Click, action, target=action["target"])

    @_member
    async def hover(self, action: sdk.ClickInput) -> str | None:
        return await self._act(ops.Hover, action, target=action["target"])

    @_member
    async def scroll_to(self, action: sdk.ClickInput) -> str | None:
        operation = made(ops.Scroll, tab=action["tab_id"], target=action["target"])
        return self._said(await self._session.call(operation))

    @_member
    async def select_option(self, action: sdk.SelectOptionInput) -> str | None:
        target, values = action["target"], action["values"]
        return await self._act(ops.SelectOption, action, target=target, values=values)

    @_member
    async def set_checked(self, action: sdk.SetCheckedInput) -> str | None:
        field = {"target": action["target"], "value": action["checked"]}
        return await self._act(ops.FillForm, action, fields=[field])

    @_member
    async def type(self, action: sdk.TypeInput) -> str | None:
        if action["target"] is None:
            return await self._act(ops.PressSequentially, action, text=action["text"])
        return await self._act(ops.Type, action, target=action["target"], text=action["text"])

    @_member
    async def key(self, action: sdk.KeyInput) -> str | None:
        if not action["keys"]:
            raise BadRequest("keys: name at least one key.")
        chord = keyboard.chord("+".join(action["keys"]))
        return await self._act(ops.PressKey, action, key=chord)

    @_member
    async def hold_keys(self, action: sdk.HoldKeysInput) -> str | None:
        chord = keyboard.chord("+".join(action["keys"]))
        seconds = action["duration_ms"] / 1000
        return await self._act(ops.HoldKey, action, key=chord, seconds=seconds)

    @_member
    async def scroll(self, action: sdk.ScrollInput) -> str | None:
        amount = min(action["amount"], SCROLL_PIXELS)
        dx, dy = {
            "up": (0, -amount), "down": (0, amount), "left": (-amount, 0), "right": (amount, 0),
        }[action["direction"]]  # fmt: skip
        return await self._act(ops.MouseWheel, action, x=1, y=1, delta_x=dx, delta_y=dy)

    @_member
    async def hover_at(self, action: sdk.HoverAtInput) -> str | None:
        x, y = self._session.point(action["tab_id"], action["x"], action["y"])
        return await self._act(ops.MouseMoveXy, action, x=x, y=y)

    @_member
    async def click_at(self, action: sdk.ClickAtInput) -> str | None:
        x, y = self._session.point(action["tab_id"], action["x"], action["y"])
        return await self._act(
            ops.MouseClickXy,
            action,
            x=x,
            y=y,
            button=action["button"],
            click_count=action["click_count"],
            modifiers=action["keys"],
        )

    @_member
    async def drag_path(self, action: sdk.DragPathInput) -> str | None:
        tab = action["tab_id"]
        start, *via, end = [
            self._session.point(tab, point["x"], point["y"]) for point in action["path"]
        ]
        return await self._act(
            ops.MouseDragXy,
            action,
            start_x=start[0],
            start_y=start[1],
            end_x=end[0],
            end_y=end[1],
            via=[{"x": x, "y": y} for x, y in via],
            modifiers=action["keys"],
        )

    @_member
    async def upload_file(self, action: sdk.BrowserFileInput) -> sdk.BrowserFileOutcome:
        path = self._uploads.pop(action["grant_id"], None)
        if path is None:
            return _REFUSED
        try:
            await self._session.call(made(ops.FileUpload, paths=[path], snapshot="none"))
        except NotFound:  # no chooser is open
            upload = made(ops.FileUpload, paths=[path], target="input[type=file]", snapshot="none")
            await self._session.call(upload)
        return _COMPLETED

    @_member
    async def download_file(self, action: sdk.BrowserFileInput) -> sdk.BrowserFileOutcome:
        """Copy the newest download that was not given out yet to the path of the grant."""
        goal = self._downloads.pop(action["grant_id"], None)
        if goal is None:
            return _REFUSED
        done = [one.path for one in await self._session.downloads() if one.state == "done"]
        fresh = [path for path in done if path is not None and path not in self._fetched]
        if not fresh:
            self._downloads[action["grant_id"]] = goal
            raise NotFound("No finished download is there.", hint="Start one, or wait for it.")
        self._fetched.add(fresh[-1])
        await asyncio.to_thread(shutil.copyfile, fresh[-1], goal)
        return _COMPLETED

    # --- parts -----------------------------------------------------------------------------------

    async def _act(self, operation: Any, action: Any, **arguments: Any) -> str | None:
        given = {"tab": action["tab_id"], "snapshot": "none", **arguments}
        return self._said(await self._session.call(made(operation, **given)))

    def _said(self, view: View | None = None, remark: str = "") -> str | None:
        """Return what the model has to read after an action. The page's words are marked."""
        lines = [remark] if remark else []
        lines += [] if view is None else replies.notes(view, MEMBERS)
        for dialog in self._session.dismissed_dialogs():
            lines.append(f"The page showed a dialog ({dialog.kind}), which was dismissed:")
            lines.append(replies.page_text(dialog.message))
        return "\n".join(lines) or None


def _blocking(work: Callable[..., Any]) -> Callable[[RoostBrowser, Any], Any]:
    """Return the member for callers without an event loop."""

    def member(browser: RoostBrowser, action: Any) -> Any:
        return background_loop.run(work(browser.asynchronous, action))

    member.__name__ = work.__name__
    return member


class RoostBrowser:
    """The driver of one agent, for ``BrowserToolset``. Use it in ``with``."""

    def __init__(self, session: SessionOptions | None = None) -> None:
        """Make a driver. The argument is that of ``AsyncRoostBrowser``."""
        self.asynchronous = AsyncRoostBrowser(session)

    def __enter__(self) -> RoostBrowser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session."""
        background_loop.run(self.asynchronous.close())

    def state(self) -> sdk.BrowserState:
        """Return the session's tabs."""
        return background_loop.run(self.asynchronous.state())

    def grant_upload(self, path: str | Path) -> str:
        """Allow one upload of that file; see ``AsyncRoostBrowser``."""
        return self.asynchronous.grant_upload(path)

    def grant_download(self, path: str | Path) -> str:
        """Allow one download to be copied to that path; see ``AsyncRoostBrowser``."""
        return self.asynchronous.grant_download(path)

    navigate = _blocking(AsyncRoostBrowser.navigate)
    read_page = _blocking(AsyncRoostBrowser.read_page)
    get_page_text = _blocking(AsyncRoostBrowser.get_page_text)
    find = _blocking(AsyncRoostBrowser.find)
    click = _blocking(AsyncRoostBrowser.click)
    type = _blocking(AsyncRoostBrowser.type)
    key = _blocking(AsyncRoostBrowser.key)
    scroll = _blocking(AsyncRoostBrowser.scroll)
    select_option = _blocking(AsyncRoostBrowser.select_option)
    hover = _blocking(AsyncRoostBrowser.hover)
    screenshot = _blocking(AsyncRoostBrowser.screenshot)
    zoom = _blocking(AsyncRoostBrowser.zoom)
    new_tab = _blocking(AsyncRoostBrowser.new_tab)
    switch_tab = _blocking(AsyncRoostBrowser.switch_tab)
    close_tab = _blocking(AsyncRoostBrowser.close_tab)
    scroll_to = _blocking(AsyncRoostBrowser.scroll_to)
    wait_for = _blocking(AsyncRoostBrowser.wait_for)
    hover_at = _blocking(AsyncRoostBrowser.hover_at)
    set_checked = _blocking(AsyncRoostBrowser.set_checked)
    click_at = _blocking(AsyncRoostBrowser.click_at)
    drag_path = _blocking(AsyncRoostBrowser.drag_path)
    hold_keys = _blocking(AsyncRoostBrowser.hold_keys)
    read_page_scoped = _blocking(AsyncRoostBrowser.read_page_scoped)
    read_diagnostics = _blocking(AsyncRoostBrowser.read_diagnostics)
    run_script = _blocking(AsyncRoostBrowser.run_script)
    upload_file = _blocking(AsyncRoostBrowser.upload_file)
    download_file = _blocking(AsyncRoostBrowser.download_file)


def _picture(view: ScreenshotView) -> dict[str, Any]:
    url = f"data:{view.mime_type};base64,{view.data}"
    return {"type": "input_image", "image_url": url, "detail": "original"}
