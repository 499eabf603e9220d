"""Send input to one tab, in order.

Clicks and keys are sent without waiting for each reply: waiting makes a click four times slower.
Moves with a held button are awaited, because Chromium would merge them into one. If such a move
starts an HTML5 drag, the rest of the gesture is sent as drag events. So the operating system's own
drag and drop never starts. A drag may last over several calls: from the press until the release of
the button, drags stay intercepted.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from roost.drivers.base import Dropped, Input, MouseMove
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.input_translation import commands
from roost.drivers.connection import Json, Pending
from roost.drivers.held_input import HeldInput

_OUTSIDE = MouseMove(-1, -1)
_RELEASES = ("mouseReleased", "keyUp")


class TabInput:
    """Sends input to one tab. The tab's lane runs one operation at a time, so gestures never
    overlap."""

    def __init__(self, cdp: CdpConnection, session: str) -> None:
        self._cdp = cdp
        self._session = session
        self._carried: Json | None = None
        self._held = HeldInput()
        self._intercepts = False
        """Chromium reports a drag that the page starts, instead of starting its own."""

    @property
    def held_keys(self) -> Sequence[str]:
        return self._held.keys

    def drag_began(self, params: Json) -> None:
        self._carried = params["data"]

    async def send(self, inputs: Sequence[Input]) -> None:
        given = deque(commands(self._held.effective(inputs), self._held))
        if not self._intercepts and not any(_drags(params) for _, params in given):
            await asyncio.gather(*(self._send(*command) for command in given))
            return
        if not self._intercepts:
            self._carried, self._intercepts = None, True
            await self._send("Input.setInterceptDrags", {"enabled": True})
        try:
            while given:
                await self._step(*given.popleft())
        finally:
            # After an error or a cancellation, nothing may stay pressed that the call would lift.
            for method, params in given:
                if params.get("type") in _RELEASES:
                    self._cdp.tell(method, params, self._session)
            if not self._held.buttons:
                self._end_interception()

    async def drop(self, point: tuple[float, float], dropped: Dropped) -> None:
        """Drop files and data from outside of the page."""
        items = [{"mimeType": kind, "data": data} for kind, data in dropped.data]
        data: Json = {"items": items, "dragOperationsMask": 1}
        if dropped.paths:
            data["files"] = list(dropped.paths)
        at = {"x": point[0], "y": point[1], "modifiers": 0, "data": data}
        for kind in ("dragEnter", "dragOver", "drop"):
            await self._send("Input.dispatchDragEvent", {"type": kind, **at})

    def release(self) -> None:
        """Release all held buttons and keys, without waiting for the page. The mouse leaves the
        page first, so that the release is not a click, and a drag is cancelled."""
        lifts = self._held.lifts()
        if not lifts:
            return
        if self._carried is not None:
            x, y = self._held.point
            cancel = {"type": "dragCancel", "x": x, "y": y, "data": self._carried, "modifiers": 0}
            self._cdp.tell("Input.dispatchDragEvent", cancel, self._session)
        inputs = [_OUTSIDE, *lifts] if self._held.buttons else lifts
        for method, params in list(commands(inputs, self._held)):
            self._cdp.tell(method, params, self._session)
        self._end_interception()

    def _end_interception(self) -> None:
        if self._intercepts:
            self._intercepts, self._carried = False, None
            self._cdp.tell("Input.setInterceptDrags", {"enabled": False}, self._session)

    async def _step(self, method: str, params: Json) -> None:
        kind = params.get("type")
        if self._carried is None or kind not in ("mouseMoved", "mouseReleased"):
            await self._send(method, params)
        elif kind == "mouseMoved":
            await self._carry("dragOver", params)
        else:
            await self._carry("drop", params)
            self._carried = None

    async def _carry(self, kind: str, mouse: Json) -> None:
        where = {"x": mouse["x"], "y": mouse["y"], "modifiers": mouse["modifiers"]}
        data = {"data": self._carried, **where}
        await self._send("Input.dispatchDragEvent", {"type": "dragEnter", **data})
        await self._send("Input.dispatchDragEvent", {"type": "dragOver", **data})
        if kind == "drop":
            await self._send("Input.dispatchDragEvent", {"type": "drop", **data})

    def _send(self, method: str, params: Json) -> Pending:
        return self._cdp.call(method, params, self._session)


def _drags(params: Json) -> bool:
    """Return whether Chromium would merge the input with the next one, if it were not awaited."""
    kind = params.get("type")
    return kind == "touchMove" or (kind == "mouseMoved" and bool(params["buttons"]))
