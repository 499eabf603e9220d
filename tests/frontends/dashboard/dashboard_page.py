"""A dashboard page as the tests see it: the WebSocket, without a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import websockets
from websockets.asyncio.client import ClientConnection

from roost.testing.waits import SECONDS
from tests.frontends.http.http_callers import HttpDoor

Json = dict[str, Any]


class DashboardPage:
    """One open page. ``walls``, ``lines``, ``pictures`` and ``misses``: what it was sent so far."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.token = ""
        self.walls: list[Json] = []
        self.lines: list[Json] = []
        self.pictures: list[bytes] = []
        self.misses: list[Json] = []
        self.answers: dict[int, Json] = {}

    async def say(self, message: Json) -> None:
        await self.socket.send(json.dumps(message))

    async def hear(self) -> Json:
        """Take the next message. A picture is ``{"picture": bytes}``."""
        async with asyncio.timeout(SECONDS):
            data = await self.socket.recv()
        if isinstance(data, bytes):
            self.pictures.append(data)
            return {"picture": data}
        message: Json = json.loads(data)
        if "welcome" in message:
            self.token = message["welcome"]["token"]
        elif "wall" in message:
            self.walls.append(message["wall"])
        elif "feed" in message:
            self.lines += message["feed"]
        elif "missed" in message:
            self.misses.append(message)
        elif "id" in message:
            self.answers[message["id"]] = message
        return message

    async def hear_until(self, is_there: Callable[[], Any]) -> None:
        async with asyncio.timeout(SECONDS):
            while not is_there():
                await self.hear()

    async def call(self, number: int, op: str, **arguments: Any) -> Json:
        await self.say({"id": number, "op": op, "arguments": arguments})
        await self.hear_until(lambda: number in self.answers)
        return self.answers[number]

    def tile(self, session: str) -> Json:
        found = [tile for tile in self.walls[-1]["tiles"] if tile["id"] == session]
        return found[0] if found else {}


async def new_code(house: HttpDoor) -> str:
    """Return a code as ``roost dashboard`` gets it."""
    session = await house.session("any")
    path = f"/session/{session.session}/tools/dashboard_open"
    answer = await house.operator.ask("POST", path, json={})
    return str(answer["code"])


@asynccontextmanager
async def socket_of(house: HttpDoor, **headers: str) -> AsyncIterator[ClientConnection]:
    address = f"ws://127.0.0.1:{house.port}/dashboard/live"
    connecting = websockets.connect(address, additional_headers=headers, max_size=None)
    async with connecting as socket:
        yield socket


@asynccontextmanager
async def open_page(house: HttpDoor, **login: str) -> AsyncIterator[DashboardPage]:
    """Open a page, logged in with a new code unless ``token`` or ``code`` is given."""
    async with socket_of(house) as socket:
        page = DashboardPage(socket)
        await page.say(login or {"code": await new_code(house)})
        await page.hear_until(lambda: page.token and page.walls)
        yield page
