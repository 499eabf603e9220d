"""Send input to one tab, in order.

Clicks and keys are sent without waiting for each reply: waiting makes a click four times slower.
Moves with a held button are awaited, because Chromium would merge them into one. If such a move
starts an HTML5 drag, the rest of the gesture is sent as drag events. So the operating system's own
drag and drop never starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from roost.drivers.base import Input
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.input_translation import commands
from roost.drivers.connection import Json, Pending


class TabInput:
    """Sends input to one tab. The tab's lane runs one operation at a time, so gestures never
    overlap."""

    def __init__(self, cdp: CdpConnection, session: str) -> None:
        self._cdp = cdp
        self._session = session
        self._carried: Json | None = None

    def drag_began(self, params: Json) -> None:
        self._carried = params["data"]

    async def send(self, inputs: Sequence[Input]) -> None:
        given = list(commands(inputs))
        if not any(_drags(params) for _, params in given):
            await asyncio.gather(*(self._send(*command) for command in given))
            return
        self._carried = None
        await self._send("Input.setInterceptDrags", {"enabled": True})
        try:
            for method, params in given:
                await self._step(method, params)
        finally:
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
    return params.get("type") == "mouseMoved" and bool(params["buttons"])
