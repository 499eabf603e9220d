"""The file choosers, dialogs, viewport size and PDFs of one tab, and its responses' bodies.

https://w3c.github.io/webdriver-bidi/#command-browsingContext-handleUserPrompt,
…#command-input-setFiles, …#command-browsingContext-print, …#command-network-getData
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from roost.drivers.choosers import Chooser
from roost.drivers.connection import Json, Pending
from roost.drivers.events import (
    DialogClosed,
    DialogOpened,
    DriverEvent,
)
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.scripts import Scripts
from roost.errors import BadRequest, NotFound, Unsupported
from roost.vocabulary import TabHandle


class Dialogs:
    """Answers one tab's dialogs and requests for files. ``report`` gets their events."""

    def __init__(
        self,
        bidi: BidiConnection,
        handle: TabHandle,
        context: str,
        scripts: Scripts,
        report: Callable[[DriverEvent], None],
    ) -> None:
        self.dialog: Json | None = None
        """The event of the open dialog."""
        self._bidi = bidi
        self._handle = handle
        self._context = context
        self._scripts = scripts
        self._report = report
        self.chooser: Chooser[tuple[str, Json]] = Chooser(handle, report)
        """The field that asked for files, as its context and element."""

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        field = {"sharedId": await self._scripts.element(frame, ref)}
        try:
            await self._choose(frame or self._context, field, paths)
        except BidiError as error:
            raise BadRequest(
                "paths: the browser refused them.", field="paths", page_said=str(error)
            ) from None

    async def choose_files(self, paths: Sequence[str]) -> None:
        context, field = self.chooser.take()
        try:
            await self._choose(context, field, paths)
        except BidiError as error:
            raise NotFound(
                "The field that asked for files is gone.", page_said=str(error)
            ) from None

    async def _choose(self, context: str, field: Json, paths: Sequence[str]) -> None:
        params = {"context": context, "element": field, "files": list(paths)}
        await self._call("input.setFiles", params)

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        params: Json = {"context": self._context, "accept": accept}
        if text is None and self.dialog is not None:
            text = self.dialog.get("defaultValue")
        if text is not None:
            params["userText"] = text
        try:
            await self._call("browsingContext.handleUserPrompt", params)
        except BidiError:
            raise NotFound(
                "No dialog is open in this tab.", hint="There is nothing to answer; continue."
            ) from None

    async def resize(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        params = {"context": self._context, "viewport": viewport}
        try:
            await self._call("browsingContext.setViewport", params)
        except BidiError as error:
            raise BadRequest("The page cannot have that size.", page_said=str(error)) from None

    async def pdf(self) -> bytes:
        params = {"context": self._context, "background": True}
        try:
            printed = await self._call("browsingContext.print", params)
        except BidiError as error:
            raise Unsupported("The page cannot be printed.", page_said=str(error)) from None
        return base64.b64decode(printed["data"])

    async def body(self, request: str) -> bytes:
        try:
            wanted = {"request": request, "dataType": "response"}
            kept = await self._call("network.getData", wanted)
        except BidiError:
            raise NotFound("The browser no longer has that body.", request=request) from None
        value: str = kept["bytes"]["value"]
        return base64.b64decode(value) if kept["bytes"]["type"] == "base64" else value.encode()

    # --- events --------------------------------------------------------------------------------

    def dialog_opened(self, params: Json) -> None:
        self.dialog = params
        self._report(
            DialogOpened(
                handle=self._handle,
                kind=params["type"],
                message=params["message"],
                default=params.get("defaultValue") or "",
            )
        )

    def dialog_closed(self) -> None:
        if self.dialog is None:
            return
        self.dialog = None
        self._report(DialogClosed(self._handle))

    def chooser_opened(self, params: Json) -> None:
        field = params.get("element")
        if field is not None:
            asks = params["context"], {"sharedId": field["sharedId"]}
            self.chooser.opened(asks, multiple=params["multiple"])

    def _call(self, method: str, params: Json) -> Pending:
        return self._bidi.call(method, params, self._context)
