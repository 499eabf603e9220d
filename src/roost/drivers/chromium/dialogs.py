"""The file choosers, dialogs and viewport size of one tab, and its responses' bodies."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from roost.drivers.choosers import Chooser
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.scripts import Scripts
from roost.drivers.connection import Json
from roost.drivers.events import (
    DialogClosed,
    DialogOpened,
    DriverEvent,
)
from roost.errors import BadRequest, NotFound
from roost.vocabulary import TabHandle

_METRICS = "Emulation.setDeviceMetricsOverride"


class Dialogs:
    """Answers one tab's dialogs and requests for files. ``report`` gets their events."""

    def __init__(
        self,
        cdp: CdpConnection,
        handle: TabHandle,
        session: str,
        scripts: Scripts,
        report: Callable[[DriverEvent], None],
    ) -> None:
        self._cdp = cdp
        self._handle = handle
        self._session = session
        self._scripts = scripts
        self._report = report
        self.chooser: Chooser[tuple[str, int]] = Chooser(handle, report)
        """The field that asked for files, as its protocol session and node."""
        self.dialog: str | None = None
        """The kind of the open dialog."""
        self.viewport: tuple[int, int] | None = None
        """The viewport size of the tab. None: the window's size."""

    @property
    def has_dialog(self) -> bool:
        return self.dialog is not None

    async def set_files(self, frame_id: str | None, ref: str, paths: Sequence[str]) -> None:
        element = await self._scripts.element(frame_id, ref)
        params = {"objectId": element, "files": list(paths)}
        try:
            session = self._scripts.session_of(frame_id)
            await self._cdp.call("DOM.setFileInputFiles", params, session)
        except CdpError as error:
            raise BadRequest(
                "paths: the browser refused them.", field="paths", page_said=str(error)
            ) from None

    async def choose_files(self, paths: Sequence[str]) -> None:
        session, node = self.chooser.take()
        params = {"backendNodeId": node, "files": list(paths)}
        try:
            await self._cdp.call("DOM.setFileInputFiles", params, session)
        except CdpError as error:
            raise NotFound(
                "The field that asked for files is gone.", page_said=str(error)
            ) from None

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        params: Json = {"accept": accept}
        if text is not None:
            params["promptText"] = text
        try:
            await self._cdp.call("Page.handleJavaScriptDialog", params, self._session)
        except CdpError:
            raise NotFound(
                "No dialog is open in this tab.", hint="There is nothing to answer; continue."
            ) from None

    def dismiss_dialog(self) -> None:
        """Dismiss the dialog, as Escape does. Do not wait: the page may open the next at once."""
        self._cdp.tell("Page.handleJavaScriptDialog", {"accept": False}, self._session)

    async def resize(self, width: int, height: int) -> None:
        self.viewport = width, height
        await self._cdp.call(_METRICS, _metrics(width, height), self._session)

    def set_viewport(self) -> None:
        """Give the page of a new protocol session the tab's viewport size."""
        if self.viewport is not None:
            self._cdp.tell(_METRICS, _metrics(*self.viewport), self._session)

    async def body(self, request: str) -> bytes:
        try:
            answer = await self._cdp.call(
                "Network.getResponseBody", {"requestId": request}, self._session
            )
        except CdpError:
            raise NotFound("The browser no longer has that body.", request=request) from None
        body: str = answer["body"]
        return base64.b64decode(body) if answer["base64Encoded"] else body.encode()

    def chooser_opened(self, session: str, params: Json) -> None:
        if "backendNodeId" not in params:
            return  # a script asked without a file field, so the files could go nowhere
        multiple = params["mode"] == "selectMultiple"
        self.chooser.opened((session, params["backendNodeId"]), multiple=multiple)

    def dialog_opened(self, params: Json) -> None:
        self.dialog = params["type"]
        self._report(
            DialogOpened(
                handle=self._handle,
                kind=params["type"],
                message=params["message"],
                default=params.get("defaultPrompt", ""),
            )
        )

    def dialog_closed(self) -> None:
        if self.dialog is None:
            return
        self.dialog = None
        self._report(DialogClosed(self._handle))


def _metrics(width: int, height: int) -> Json:
    return {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
