"""Seats without a broker: the browser answers ``{}`` to everything, and tabs open at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from roost.api.protocol import SeatEar
from roost.errors import PoolFull, Unauthorized
from tests.frontends.cdp.cdp_stage import MINE, ROOT, StrictChecks


class StubSeat(StrictChecks):
    """Implements ``api.protocol.Seat``."""

    root, context = ROOT, MINE
    unanswered_bytes = 0

    def __init__(self, ear: SeatEar) -> None:
        super().__init__()
        self.ear = ear
        self.sent: list[str] = []
        self.released: list[str] = []
        self.closed = 0
        self.tabs_used: list[str] = []
        self.failing: PoolFull | None = None
        self.may_open = asyncio.Event()
        self.may_open.set()
        self.results: dict[str, Any] = {}
        """What the browser answers, other than ``{}``."""

    def show_tabs(self) -> None:
        self.ear.tab_came("T-1")

    def touched(self) -> None: ...

    def used(self, target: str) -> None:
        self.tabs_used.append(target)

    def send(self, key: Hashable, method: str, params: dict[str, Any], session: str = "") -> None:
        self.sent.append(method)
        answer = {"id": 9, "result": self.results.get(method, {}), "sessionId": ROOT}
        self.ear.answered(key, json.dumps(answer, separators=(",", ":")).encode())

    def release(self, target: str) -> None:
        self.released.append(target)

    def give_proxy_password(self, context: str | None, password: str | None) -> None: ...

    async def open_tab(self, context: str | None) -> str:
        await self.may_open.wait()
        if self.failing is not None:
            raise self.failing
        return "T-1"

    async def go_to(self, target: str, url: str) -> None: ...

    async def close_tab(self, target: str) -> None: ...

    async def make_context(self, proxy: str | None) -> str:
        return "CONTEXT-new"

    async def remove_context(self, context: str) -> None: ...

    async def use_clipboard(
        self, target: str, use: str, press: Callable[[bool], Awaitable[None]]
    ) -> None:
        await press(False)

    async def close(self) -> None:
        self.closed += 1


class StubLook:
    def __init__(self, version: dict[str, Any], infos: list[dict[str, Any]]) -> None:
        self._version, self._infos = version, infos

    async def version(self) -> dict[str, Any]:
        return self._version

    async def targets(self) -> list[dict[str, Any]]:
        return self._infos


class StubDoor:
    def __init__(self, infos: list[dict[str, Any]] | None = None, **results: Any) -> None:
        self.seats: list[StubSeat] = []
        self.infos = infos or []
        self.has_come = asyncio.Event()
        self.may_sit = asyncio.Event()
        self.may_sit.set()
        self.results = {name.replace("_", "."): value for name, value in results.items()}

    async def look(self, token: str) -> StubLook:
        if token != "right":
            raise Unauthorized("token: wrong.")
        return StubLook(self.results["Browser.getVersion"], self.infos)

    async def take_seat(self, token: str, ear: SeatEar) -> StubSeat:
        if token != "right":
            raise Unauthorized("token: wrong.")
        self.has_come.set()
        await self.may_sit.wait()
        self.seats.append(StubSeat(ear))
        self.seats[-1].results = self.results
        return self.seats[-1]
