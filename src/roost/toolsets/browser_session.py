"""One session in Roost for one toolset: opened at the first call, ended by ``aclose``.

Vendors' toolsets have no member that answers a dialog. So this class dismisses a dialog that the
page opens, and tells the model so.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from roost.api import operations as ops
from roost.api.operations import Answers, Operation, PageOperation
from roost.api.page_operations import ActionOperation
from roost.api.page_views import ActionView, DialogView, DownloadView, FoundView, ScreenshotView
from roost.api.views import TabView, ValueView, View
from roost.client.client import Client, connect
from roost.errors import BadRequest, DialogOpen, NotFound, TabGone
from roost.local.home import Home
from roost.vocabulary import JarPolicy

R = TypeVar("R", bound=View)
Made = TypeVar("Made", bound=Operation)
LONG_EDGE = 1568
"""The longest edge of a picture, in pixels. Vendors reject larger pictures, or scale them down so
that the model's points no longer fit."""
PICTURE_PIXELS = 1_150_000
ZOOM = 4.0
QUALITY = 80
DIALOGS = 5
"""How many dialogs one call dismisses. A page may open one after another without end."""
FOUND_LINES = 20
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How to open the session; the fields are those of ``roost.connect``."""

    name: str | None = None
    session: str | None = None
    browser: str | None = None
    jar: JarPolicy | Literal["fresh", "clone", "shared"] | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    home: Home | None = None


class BrowserSession:
    """The session of one toolset, and its pages as a model sees them."""

    def __init__(self, options: SessionOptions) -> None:
        self._options = options
        self._client: Client | None = None
        self._opening = asyncio.Lock()
        self._is_closed = False
        self._current: str | None = None
        self._scales: dict[str, float] = {}
        """Pixels of the last screenshot for each CSS pixel, by tab."""
        self._dismissed: list[DialogView] = []

    async def aclose(self) -> None:
        """End the session. A session that has a name stays."""
        self._is_closed = True
        async with self._opening:
            if self._client is not None:
                await self._client.aclose()

    async def connection(self) -> Client:
        """Return the connection, and open the session first if it is not open yet."""
        async with self._opening:
            if self._is_closed:
                raise BadRequest("This browser is closed.", hint="Make a new one.")
            if self._client is None:
                options = self._options
                self._client = await connect(
                    name=options.name,
                    session=options.session,
                    browser=options.browser,
                    jar=options.jar,
                    profile=options.profile,
                    allow=options.allow,
                    deny=options.deny,
                    home=options.home,
                )
            return self._client

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        """Ask the broker, and dismiss the dialogs that stop the page.

        A call that a dialog refused before it did anything is repeated. A call that a dialog
        interrupted is not.
        """
        assert isinstance(operation, Operation)
        client = await self.connection()
        for _ in range(DIALOGS):
            try:
                view = await client.call(operation, timeout=timeout)
            except DialogOpen as error:
                tab = operation.tab if isinstance(operation, PageOperation) else None
                kind, said = str(error.details.get("kind", "alert")), error.page_said or ""
                await self._dismiss(tab, DialogView(kind=kind, message=said))
                # An action that a dialog interrupts answers with the dialog: this one did nothing.
                if not operation.only_reads() and not isinstance(operation, ActionOperation):
                    raise error.retold(
                        message="The page showed a dialog, which was dismissed.",
                        hint="Look at the page before you try again.",
                    ) from None
                continue
            if isinstance(view, ActionView):
                await self._dismiss(view.tab, view.dialog)
            return view
        raise DialogOpen("The page opens one dialog after another.", hint="Leave the page.")

    async def _dismiss(self, tab: str | None, dialog: DialogView | None) -> None:
        """Dismiss a dialog of the tab, and those that follow it.

        The model asked to leave a page that asks whether it may be left, so that is accepted.
        """
        client = await self.connection()
        for _ in range(DIALOGS):
            if dialog is None:
                return
            leaves = dialog.kind == "beforeunload"
            if not leaves:
                self._dismissed.append(dialog)
            try:
                answer = ops.HandleDialog(accept=leaves, tab=tab, snapshot="none")
                dialog = (await client.call(answer)).dialog
            except NotFound:
                return  # the page closed it

    def dismissed_dialogs(self) -> list[DialogView]:
        """Return the dialogs that were dismissed since the last call of this method."""
        dialogs, self._dismissed = self._dismissed, []
        return dialogs

    # --- tabs ----------------------------------------------------------------------------------

    async def tabs(self) -> list[TabView]:
        """Return the session's tabs. One of them is the current one, if there is any.

        The current tab may have closed itself. Then the tab that was used last becomes current.
        """
        client = await self.connection()
        view = await client.call(ops.Tabs(action="list"))
        if view.tabs and not any(tab.current for tab in view.tabs):
            last = view.tabs[-1].tab
            view = await client.call(ops.Tabs(action="select", tab=last))
        self._current = next((tab.tab for tab in view.tabs if tab.current), None)
        return view.tabs

    async def tab(self, named: str) -> TabView:
        """Return that tab of the session. Raises ``TabGone`` if there is no such tab."""
        for tab in await self.tabs():
            if tab.tab == named:
                return tab
        raise TabGone(f"There is no tab {named[:32]}.", tab=named[:32])

    async def new_tab(self, url: str | None = None) -> TabView:
        """Open a tab, which becomes the current one."""
        view = await self.call(ops.Tabs(action="new", url=url))
        assert view.opened is not None
        return await self.tab(view.opened)

    async def downloads(self) -> list[DownloadView]:
        """Return the downloads of this session, in the order in which they began."""
        client = await self.connection()
        return (await client.call(ops.Downloads())).downloads

    # --- pictures and points ---------------------------------------------------------------------

    async def screenshot(self, tab: str | None) -> ScreenshotView:
        """Picture the viewport. Its pixels are CSS pixels, or fewer if the viewport is large."""
        view = await self.call(_shot(tab, 1.0))
        scale = _fitting(view.width, view.height)
        if scale < 1:
            view = await self.call(_shot(tab, scale))
        self._scales[view.tab] = view.scale
        return view

    async def zoom(
        self, tab: str | None, region: tuple[float, float, float, float]
    ) -> ScreenshotView:
        """Picture a region of the last screenshot, as large as allowed.

        region: left, top, right and bottom, in pixels of that screenshot.
        """
        left, top = self.point(tab, region[0], region[1])
        right, bottom = self.point(tab, region[2], region[3])
        width, height = right - left, bottom - top
        if width <= 0 or height <= 0:
            raise BadRequest("region: right must be above left, and bottom above top.")
        scale = max(0.1, min(ZOOM, _fitting(width, height, most=ZOOM)))
        return await self.call(
            made(
                ops.ZoomScreenshot,
                tab=tab, x=left, y=top, width=width, height=height, scale=scale, type="jpeg",
                quality=QUALITY,
            )
        )  # fmt: skip

    def point(self, tab: str | None, x: float, y: float) -> tuple[float, float]:
        """Return a point of the last screenshot of the tab as a point of its viewport."""
        scale = self._scales.get(tab or self._current or "", 1.0)
        return x / scale, y / scale

    # --- reading and scripts ---------------------------------------------------------------------

    async def find(self, tab: str | None, query: str) -> tuple[FoundView, str]:
        """Search the page for the words of a description. Return the lines and a remark.

        Nothing in Roost understands the description. If no line contains all of it, lines that
        contain some of its words are returned.
        """
        view = await self.call(made(ops.Find, tab=tab, text=query, limit=FOUND_LINES))
        words = _WORD.findall(query)
        if view.total or not words:
            return view, ""
        regex = "|".join(dict.fromkeys(words[:20]))
        view = await self.call(made(ops.Find, tab=tab, regex=regex, limit=FOUND_LINES))
        return view, "No line contains the whole description; these contain some of its words."

    async def run_script(
        self, tab: str | None, source: str, *, timeout: float | None = None
    ) -> Any:
        """Run a script in the page and return the value of its last expression."""
        text = _as_script_string(source)
        function = f"async () => await (0, eval)({text})"
        try:
            return (await self._evaluated(tab, function, timeout)).value
        except BadRequest as error:
            if "EvalError" not in (error.page_said or ""):
                raise
        # The page's Content-Security-Policy forbids eval, and nothing of the script has run.
        function = f"async () => (\n{source}\n)"
        return (await self._evaluated(tab, function, timeout)).value

    async def _evaluated(self, tab: str | None, function: str, timeout: float | None) -> ValueView:
        return await self.call(made(ops.Evaluate, tab=tab, function=function), timeout=timeout)


def made(operation: type[Made], **arguments: Any) -> Made:
    """Return the operation with these arguments. Raises ``BadRequest`` if one is not allowed."""
    try:
        return operation(**arguments)
    except ValidationError as error:
        raise ops.explained(operation, operation.op, error) from None


def changed_downloads(
    seen: Mapping[str, str], downloads: list[DownloadView]
) -> dict[str, DownloadView]:
    """Return the downloads whose state changed since ``seen`` (states by id), by their ids.

    A download has no id of its own. Its address, and its place among those of that address, name
    it.
    """
    found: dict[str, DownloadView] = {}
    counts: dict[str, int] = {}
    for one in downloads:
        if one.url is None:
            continue  # a file of an earlier time
        counts[one.url] = counts.get(one.url, 0) + 1
        id = f"{counts[one.url]} {one.url}"[-200:]
        if seen.get(id) != one.state:
            found[id] = one
    return found


def _shot(tab: str | None, scale: float) -> ops.TakeScreenshot:
    return made(ops.TakeScreenshot, tab=tab, scale=scale, type="jpeg", quality=QUALITY)


def _fitting(width: float, height: float, *, most: float = 1.0) -> float:
    """Return the scale at which a picture of that size is within the limits."""
    by_edge = LONG_EDGE / max(width, height)
    by_area = math.sqrt(PICTURE_PIXELS / (width * height))
    return min(most, by_edge, by_area)


def _as_script_string(text: str) -> str:
    return json.dumps(text).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
