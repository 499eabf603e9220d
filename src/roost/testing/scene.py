"""The scene of an API check: a house, its agents, and an operator.

A front end takes part by implementing ``Way``: how an agent connects through it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from roost.api import operations as ops
from roost.api.broker import BrokerApi, Notice, Notices
from roost.api.door import Admission
from roost.api.operations import Answers
from roost.api.views import PageView, View
from roost.client.client import Client
from roost.errors import RoostError
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import SECONDS, answer_of, started
from roost.vocabulary import JarPolicy, Reads, SessionId
from roost.wire.hello import ClientKind, Hello

R = TypeVar("R", bound=View)
CHECK_SECONDS = 30.0
URL = "https://site.test/"
NEVER = ops.Evaluate(function="() => new Promise(() => {})")


class Way(Protocol):
    """One way to connect: direct, or through a front end. ``enter`` connects a caller."""

    async def enter(self, house: FakeHouse, hello: Hello) -> BrokerApi: ...

    async def leave(self, house: FakeHouse, api: BrokerApi) -> None:
        """Disconnect with a goodbye."""


class Direct:
    """Uses the broker's own ``BrokerApi``, without anything in between."""

    def __init__(self) -> None:
        self._admissions: dict[BrokerApi, Admission] = {}

    async def enter(self, house: FakeHouse, hello: Hello) -> BrokerApi:
        admission = house.admit(hello)
        self._admissions[admission.api] = admission
        return admission.api

    async def leave(self, house: FakeHouse, api: BrokerApi) -> None:
        house.door.leave(self._admissions.pop(api), goodbye=True)


class Socket:
    """Uses the client library over the unix socket."""

    async def enter(self, house: FakeHouse, hello: Hello) -> BrokerApi:
        return await house.client(hello)

    async def leave(self, house: FakeHouse, api: BrokerApi) -> None:
        assert isinstance(api, Client)
        await api.aclose()


@dataclass(slots=True)
class Scene:
    """One house with its callers, who all connect the same way."""

    house: FakeHouse
    way: Way
    _here: list[BrokerApi] = field(default_factory=list)

    async def agent(
        self, *, name: str = "tester", session: str | None = None, jar: JarPolicy | None = None
    ) -> BrokerApi:
        """Connect an agent. ``session``: id of a named session to join."""
        joined = None if session is None else SessionId(session)
        return await self._enter(replace(self.house.hello(), name=name, session=joined, jar=jar))

    async def operator(self) -> BrokerApi:
        """Connect the operator."""
        return await self._enter(self.house.hello(ClientKind.CLI))

    async def _enter(self, hello: Hello) -> BrokerApi:
        api = await self.way.enter(self.house, hello)
        self._here.append(api)
        return api

    async def leave(self, api: BrokerApi) -> None:
        """Disconnect one caller with a goodbye."""
        self._here.remove(api)
        await self.way.leave(self.house, api)

    async def leave_all(self) -> None:
        for api in list(self._here):
            await self.leave(api)

    async def navigate(self, api: BrokerApi, url: str = URL, **where: str) -> PageView:
        """Navigate the caller's tab. ``where``: ``tab`` or ``session``."""
        return await api.call(ops.Navigate.model_validate({"url": url, **where}))

    async def open_tab(self, api: BrokerApi, url: str | None = None, **where: Any) -> str:
        """Open one more tab and return its id. Evict nothing unless ``evict`` is given."""
        arguments = {"action": "new", "url": url, "evict": False, **where}
        view = await api.call(ops.Tabs.model_validate(arguments))
        assert view.opened is not None
        return view.opened

    async def tabs(self, api: BrokerApi, **where: str) -> list[str]:
        """Return the ids of the caller's tabs. ``where``: ``session``."""
        view = await api.call(ops.Tabs.model_validate({"action": "list", **where}))
        return [tab.tab for tab in view.tabs]

    async def under_way(self, api: BrokerApi, operation: Answers[R]) -> asyncio.Task[R]:
        """Return a call that the broker is working on.

        The broker has received it, because a later call on the same connection has been answered.
        """
        task = await started(api.call(operation))
        await api.call(ops.Ping())
        assert not task.done()
        return task


async def next_notice(notices: Notices, *kinds: str) -> Notice:
    """Return the next notice, of one of these kinds if any are named."""
    async with asyncio.timeout(SECONDS):
        async for notice in notices:
            if not kinds or notice.kind in kinds:
                return notice
    raise AssertionError("the notices ended")


def blind(error: RoostError, *names: str) -> dict[str, Any]:
    """Return the error's wire form without these names. The rest must reveal nothing."""
    return {key: _without(value, names) for key, value in error.to_wire().items()}


def _without(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        for name in names:
            value = value.replace(name, "<name>")
    return value


ApiCheck = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HouseSettings:
    """The settings of the house in which a check runs."""

    pool: int = 12
    reads: Reads = Reads.PRIVATE


API_CHECKS: dict[ApiCheck, HouseSettings] = {}


def api_check(pool: int = 12, reads: Reads = Reads.PRIVATE) -> Callable[[ApiCheck], ApiCheck]:
    """Add a check to the suite, with the settings of the house it needs."""

    def add(check: ApiCheck) -> ApiCheck:
        API_CHECKS[check] = HouseSettings(pool, reads)
        return check

    return add


async def check_broker_api(
    way: Callable[[], Way], folder: Path, check: ApiCheck | None = None
) -> None:
    """Run one check or all on that way to connect.

    ``way``: makes the ``Way`` for one check.
    ``folder``: each check gets a house of its own below it.
    ``check``: the check to run; all by default.
    """
    for number, each in enumerate(API_CHECKS if check is None else [check]):
        setting = API_CHECKS[each]
        place = folder / str(number)
        async with fake_house(place, pool=setting.pool, reads=setting.reads) as house:
            scene = Scene(house, way())
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await each(scene)
            finally:
                await answer_of(scene.leave_all())
