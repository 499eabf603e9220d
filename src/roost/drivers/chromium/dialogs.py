"""The file choosers, dialogs and viewport size of one tab, and its responses' bodies, over CDP."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace

from roost.conditions import Emulation
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.scripts import Scripts
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.dialogs import Field, TabDialogs
from roost.drivers.events import DriverEvent
from roost.vocabulary import TabHandle

_METRICS = "Emulation.setDeviceMetricsOverride"
_ANSWER = "Page.handleJavaScriptDialog"


class Dialogs(TabDialogs):
    def __init__(
        self,
        cdp: CdpConnection,
        handle: TabHandle,
        session: str,
        scripts: Scripts,
        report: Callable[[DriverEvent], None],
    ) -> None:
        super().__init__(handle, report)
        self._cdp = cdp
        self._session = session
        self._scripts = scripts
        self.viewport: tuple[int, int] | None = None
        """The viewport size of the tab. None: the window's size."""
        self._device = Emulation()

    def dismiss_dialog(self) -> None:
        self._cdp.tell(_ANSWER, {"accept": False}, self._session)

    async def resize(self, width: int, height: int) -> None:
        self.viewport = width, height
        self._device = replace(self._device, width=None, height=None)
        await self._cdp.call(_METRICS, self._metrics(), self._session)

    def set_viewport(self) -> None:
        """Give the page of a new protocol session the tab's viewport size."""
        if self.viewport is not None or self._device != Emulation():
            self.say_device().add_done_callback(log_failure)

    def put_device(self, emulation: Emulation) -> None:
        """Take the size and scale of an emulated device. ``say_device`` tells Chromium."""
        chosen = {name: getattr(emulation, name) for name in ("width", "height", "scale", "mobile")}
        self._device = Emulation(**chosen)

    def say_device(self) -> Pending:
        if self.viewport is None and self._device == Emulation():
            return self._cdp.call("Emulation.clearDeviceMetricsOverride", None, self._session)
        return self._cdp.call(_METRICS, self._metrics(), self._session)

    def _metrics(self) -> Json:
        """Return the size and scale of the page. Zero leaves the window's own."""
        device, (width, height) = self._device, self.viewport or (0, 0)
        size = {"width": device.width or width, "height": device.height or height}
        screen = {"screenWidth": size["width"], "screenHeight": size["height"]}
        return {
            **size,
            **(screen if device.width else {}),
            "deviceScaleFactor": device.scale or 0,
            "mobile": bool(device.mobile),
        }

    def chooser_opened(self, session: str, params: Json) -> None:
        if "backendNodeId" not in params:
            return  # a script asked without a file field, so the files could go nowhere
        field = {"backendNodeId": params["backendNodeId"]}
        self.chooser.opened((session, field), multiple=params["mode"] == "selectMultiple")

    def dialog_opened(self, params: Json) -> None:
        self._dialog_opened(params["type"], params["message"], params.get("defaultPrompt", ""))

    async def _field(self, frame: str | None, ref: str) -> Field:
        element = await self._scripts.element(frame, ref)
        return self._scripts.session_of(frame), {"objectId": element}

    async def _give(self, field: Field, paths: Sequence[str]) -> None:
        session, named = field
        await self._cdp.call("DOM.setFileInputFiles", {**named, "files": list(paths)}, session)

    async def _answer(self, accept: bool, text: str | None) -> None:
        typed = {} if text is None else {"promptText": text}
        await self._cdp.call(_ANSWER, {"accept": accept, **typed}, self._session)

    async def _kept_body(self, request: str) -> bytes:
        wanted = {"requestId": request}
        answer = await self._cdp.call("Network.getResponseBody", wanted, self._session)
        body: str = answer["body"]
        return base64.b64decode(body) if answer["base64Encoded"] else body.encode()
