"""Callers over HTTP of a Roost in this process (``fake_house``)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import SECONDS

URL = "https://site.test/"


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller with that token."""

    client: httpx.AsyncClient
    token: str
    session: str = ""

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        return await self.client.request(method, path, headers=headers, **more)

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        """Return the body of an answer that must succeed."""
        answer = await self.send(method, path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def tool(self, name: str, /, **arguments: Any) -> Any:
        return await self.ask("POST", f"/session/{self.session}/tools/{name}", json=arguments)

    async def refused(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        """Return the status and the code of a refusal, after checking its shape."""
        answer = await self.send(method, path, **more)
        assert answer.is_error, answer.text
        error = answer.json()
        assert error["message"], error
        assert error["hint"], error
        return answer.status_code, error["code"]


@dataclass(frozen=True, slots=True)
class Raw:
    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpDoor:
    """The HTTP door of a house, and callers that come in through it."""

    house: FakeHouse
    client: httpx.AsyncClient

    @property
    def operator(self) -> Caller:
        return Caller(self.client, self.house.home.operator_token())

    @property
    def port(self) -> int:
        return self.client.base_url.port or 0

    async def raw(self, request: bytes) -> Raw:
        """Send bytes, and return everything up to the end of the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            async with asyncio.timeout(SECONDS):
                head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        return Raw(int(head.split(b" ")[1]), body)

    async def session(self, name: str) -> Caller:
        opened = await self.operator.ask("POST", "/session", json={"sessionId": name})
        return Caller(self.client, opened["token"], name)


def plain_http(base_url: str = "", **more: Any) -> httpx.AsyncClient:
    """Return a client for ``http:`` addresses.

    Without ``verify=False``, each client would read all certificates of this system, which takes
    longer than most tests.
    """
    return httpx.AsyncClient(base_url=base_url, verify=False, **more)


@asynccontextmanager
async def http_door(folder: Path, **settings: Any) -> AsyncIterator[HttpDoor]:
    async with fake_house(folder, **settings) as house:
        assert house.broker.http is not None
        async with plain_http(house.broker.http, timeout=10) as client:
            yield HttpDoor(house, client)
