"""A real daemon with a real Chromium, and the endpoints of its sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from roost import ops
from roost.api.operations import Answers
from roost.api.views import StatusView, View
from roost.client.client import Client
from roost.vocabulary import SessionId
from roost.wire.hello import ClientKind, Hello
from tests.support.pages_house import House, house_of

T = TypeVar("T")
R = TypeVar("R", bound=View)
SECONDS = 40.0
"""No wait is longer; nothing waits this long in a run that passes."""


class CdpHouse:
    """Calls are made in a thread, because Playwright's synchronous interface has this one."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._numbers = count(1)
        self._thread = ThreadPoolExecutor(1)

    def start(self) -> None:
        self._thread.submit(self.house.start).result(SECONDS)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self._thread.submit(lambda: asyncio.run(work())).result(SECONDS)

    def call(self, operation: Answers[R]) -> R:
        """As the person."""

        async def called() -> R:
            async with self.house.operator() as operator:
                return await operator.call(operation)

        return self.run(called)

    def url(self, session: str | None = None, **more: Any) -> str:
        """The endpoint of that session; of a new one if none is named."""
        name = session or f"cdp-{next(self._numbers)}"
        self.call(ops.SessionOpen(session=name, **more))
        token = self.call(ops.SessionToken(session=name)).token
        return f"{self.status().broker.http}/cdp/{token}"

    def status(self) -> StatusView:
        return self.call(ops.Status())

    def files(self, session: str) -> Path:
        return self.house.home.files / session

    def tabs(self, session: str) -> list[str]:
        """The addresses of its tabs, as the person sees them."""
        return [tab.url for tab in self.call(ops.SessionShow(session=session)).tabs]

    def as_agent(self, session: str, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """What an agent in that session does."""

        async def joined() -> T:
            hello = Hello(token="", kind=ClientKind.PYTHON, session=SessionId(session))
            client = Client(self.house.home, hello, start=False)
            await client.reach()
            async with client:
                return await work(client)

        return self.run(joined)

    def close(self) -> None:
        self._thread.shutdown()


@contextmanager
def cdp_house(**settings: Any) -> Iterator[CdpHouse]:
    with house_of("chromium", **settings) as house:
        found = CdpHouse(house)
        try:
            found.start()
            yield found
        finally:
            found.close()
