"""The file choosers, dialogs, viewport size and PDFs of one tab, and its responses' bodies.

https://w3c.github.io/webdriver-bidi/#command-browsingContext-handleUserPrompt,
…#command-input-setFiles, …#command-browsingContext-print, …#command-network-getData
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from roost.drivers.connection import Json, Pending
from roost.drivers.dialogs import Field, TabDialogs
from roost.drivers.events import DriverEvent
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.scripts import Scripts
from roost.errors import BadRequest, Unsupported
from roost.vocabulary import TabHandle

_ANSWER = "browsingContext.handleUserPrompt"


class Dialogs(TabDialogs):
    def __init__(
        self,
        bidi: BidiConnection,
        handle: TabHandle,
        context: str,
        scripts: Scripts,
        report: Callable[[DriverEvent], None],
    ) -> None:
        super().__init__(handle, report)
        self._bidi = bidi
        self._context = context
        self._scripts = scripts

    def dismiss_dialog(self) -> None:
        self._bidi.tell(_ANSWER, {"context": self._context, "accept": False})

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

    def chooser_opened(self, params: Json) -> None:
        field = params.get("element")
        if field is not None:
            asks = params["context"], {"sharedId": field["sharedId"]}
            self.chooser.opened(asks, multiple=params["multiple"])

    def dialog_opened(self, params: Json) -> None:
        self._dialog_opened(params["type"], params["message"], params.get("defaultValue") or "")

    async def _field(self, frame: str | None, ref: str) -> Field:
        return frame or self._context, {"sharedId": await self._scripts.element(frame, ref)}

    async def _give(self, field: Field, paths: Sequence[str]) -> None:
        context, element = field
        params = {"context": context, "element": element, "files": list(paths)}
        await self._call("input.setFiles", params)

    async def _answer(self, accept: bool, text: str | None) -> None:
        if text is None and self.dialog is not None:
            text = self.dialog.default or None
        typed = {} if text is None else {"userText": text}
        await self._call(_ANSWER, {"context": self._context, "accept": accept, **typed})

    async def _kept_body(self, request: str) -> bytes:
        kept = await self._call("network.getData", {"request": request, "dataType": "response"})
        value: str = kept["bytes"]["value"]
        return base64.b64decode(value) if kept["bytes"]["type"] == "base64" else value.encode()

    def _call(self, method: str, params: Json) -> Pending:
        return self._bidi.call(method, params, self._context)
