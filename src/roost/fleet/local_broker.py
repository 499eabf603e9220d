"""The broker of this machine, as its node uses it: as the operator, and over HTTP for users."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from roost import __version__
from roost.api import operations as ops
from roost.api.move_operations import Luggage
from roost.api.views import BrowserView, StatusView
from roost.client.client import Client
from roost.errors import BrowserLost
from roost.fleet.connection_pool import ConnectionPool
from roost.fleet.streams import Stream
from roost.local.broker_start import ensure_broker
from roost.local.browsers import NAMES, find_browser
from roost.local.endpoint import Endpoint
from roost.local.home import Home
from roost.vocabulary import JarPolicy
from roost.wire.hello import ClientKind, Hello

BROWSER_SECONDS = 60.0
UNPACK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the node saw of its broker at one moment.

    sessions: the ids of all its sessions.
    broker: the broker's pid. A new process may have lost sessions with its journal.
    """

    status: StatusView
    sessions: frozenset[str]
    broker: int


class LocalBroker:
    """Keeps the broker of one ROOST_HOME running, and asks it as the operator."""

    def __init__(self, home: Home) -> None:
        self._home = home
        hello = Hello(token="", kind=ClientKind.CLI, software=__version__, operator=True)
        self._client = Client(home, hello, start=False)
        self._endpoint: Endpoint | None = None
        self._tokens: dict[str, str] = {}
        self.pool = ConnectionPool(self._connect)

    async def ensure(self) -> None:
        """Start the broker if it does not run. Raises a ``RoostError`` if it cannot start."""
        endpoint = await asyncio.to_thread(ensure_broker, self._home)
        if endpoint != self._endpoint:
            self._endpoint = endpoint
            self._tokens.clear()

    @property
    def host(self) -> bytes:
        """The Host header that the broker's HTTP front end expects."""
        assert self._endpoint is not None
        return (self._endpoint.http or "").removeprefix("http://").encode()

    async def look(self) -> Sighting:
        """Return the broker's state."""
        status = await self._client.call(ops.Status())
        sessions = frozenset(each.id for each in status.sessions)
        return Sighting(status, sessions, status.broker.pid)

    async def open(self, session: str, wish: dict[str, str]) -> None:
        """Open the session, or find it."""
        await self._client.call(
            ops.SessionOpen(
                session=session,
                name=wish.get("name"),
                jar=JarPolicy(wish["jar"]) if "jar" in wish else None,
                profile=wish.get("profile"),
                browser=wish.get("browser"),
                named=True,
            )
        )

    async def dispose(self, session: str) -> int:
        """End the session, and return how many tabs it had."""
        self._tokens.pop(session, None)
        return (await self._client.call(ops.SessionDispose(session=session))).tabs_closed

    async def token(self, session: str) -> str:
        """Return the session's own token, which opens that session only."""
        if session not in self._tokens:
            view = await self._client.call(ops.SessionToken(session=session))
            self._tokens[session] = view.token
        return self._tokens[session]

    async def pack(self, session: str) -> dict[str, Any]:
        """Return what the session would need on another machine."""
        view = await self._client.call(ops.SessionPack(session=session))
        return view.luggage.model_dump(mode="json", by_alias=True)

    async def unpack(self, session: str, luggage: dict[str, Any]) -> list[str]:
        """Give the session what ``pack`` answered elsewhere. Returns what could not be given."""
        view = await self._client.call(
            ops.SessionUnpack(session=session, luggage=Luggage.model_validate(luggage)),
            timeout=UNPACK_SECONDS,
        )
        return view.notes or []

    async def start_browser(self) -> BrowserView:
        """Start the default browser. Raises ``BrowserLost`` if there is none."""
        return await self._client.call(ops.BrowserStart(), timeout=BROWSER_SECONDS)

    def installed(self) -> frozenset[str]:
        """Return the kinds of browsers that are installed on this machine."""
        found = set()
        for kind in NAMES:
            with suppress(BrowserLost):
                find_browser(kind, None)
                found.add(kind)
        return frozenset(found)

    async def profiles(self) -> frozenset[str]:
        listed = await self._client.call(ops.ProfileList())
        return frozenset(each.name for each in listed.profiles)

    async def aclose(self) -> None:
        self.pool.cut()
        await self._client.aclose()

    async def _connect(self) -> Stream:
        if self._endpoint is None or self._endpoint.http is None:
            raise OSError("the broker does not serve HTTP")
        host, _, port = self.host.decode().partition(":")
        return await Stream.connect(host, int(port), None)
