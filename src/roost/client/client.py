"""``Client``: the broker as one agent, from any process, over any number of connections.

It comes back by itself: when the connection is lost it reconnects (starting the broker if need be)
and resumes, so identity, session and tabs stay. A call that was in flight is repeated if it only
reads; any other is answered ``INTERRUPTED``, because nobody knows whether it was done.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from dataclasses import replace
from types import TracebackType
from typing import TypeVar, cast

from roost import __version__
from roost.api.broker import Notice, Notices
from roost.api.operations import Answers, Operation
from roost.api.views import SessionView, View
from roost.client.connection import BrokerConnection, ConnectionLost
from roost.errors import Internal, Interrupted, RoostError, Timeout, Unauthorized
from roost.local.broker_start import RETRY_SECONDS, ensure_broker
from roost.local.broker_start import connect as dial
from roost.local.home import Home
from roost.vocabulary import CALL_SECONDS, AgentId, JarPolicy, SessionId
from roost.wire.hello import ClientKind, Hello

R = TypeVar("R", bound=View)
TRIES = 3
SLACK_SECONDS = 10.0
"""How much later than its deadline an answer may come, from a broker that is only busy."""


async def connect(
    *,
    session: str | None = None,
    name: str | None = None,
    browser: str | None = None,
    jar: JarPolicy | str | None = None,
    profile: str | None = None,
    allow: tuple[str, ...] = (),
    deny: tuple[str, ...] = (),
    home: Home | None = None,
    start: bool = True,
) -> Client:
    """Connect as a new agent.

    Without ``session`` the agent gets one of its own, which ends with it; with one it joins or
    makes the named session, which stays. ``start=False`` never starts a broker.
    """
    home = home or Home.find()
    client = Client(
        home,
        Hello(
            token="",
            kind=ClientKind.PYTHON,
            software=__version__,
            name=name,
            cwd=os.getcwd(),
            session=None if session is None else SessionId(session),
            browser=browser,
            jar=None if jar is None else JarPolicy(jar),
            profile=profile,
            allow=allow,
            deny=deny,
        ),
        start=start,
    )
    await client.reach()
    return client


class Client:
    """A ``BrokerApi``. Use it as ``async with await roost.connect() as client``."""

    def __init__(self, home: Home, hello: Hello, *, start: bool) -> None:
        self._home = home
        self._hello = hello
        self._start = start
        self._connection: BrokerConnection | None = None
        self._reaching = asyncio.Lock()
        self._listening: dict[Notices, str | None] = {}
        self._aliases: dict[str, str] = {}
        """Our own names of sessions we opened; the broker's notices carry their ids."""
        self._coming_back: asyncio.Task[None] | None = None
        self._closed = False
        self.agent: AgentId | None = None
        self.session: SessionId | None = None

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        assert isinstance(operation, Operation)
        timeout_ms = None if timeout is None else timeout * 1000
        for _ in range(TRIES):
            connection = await self.reach()
            try:
                # The broker keeps the deadline; this is for one that can no longer keep anything.
                async with asyncio.timeout(_limit(operation, timeout)):
                    reply = await connection.call(operation.op, operation.to_wire(), timeout_ms)
            except TimeoutError:
                raise Timeout(
                    f"The broker did not answer {operation.op}.",
                    hint="It hangs or is stopped; see `roost doctor`.",
                ) from None
            except ConnectionLost:
                if operation.only_reads():
                    continue
                raise Interrupted(
                    f"The broker went away during {operation.op}; nobody knows whether it was done."
                ) from None
            answer = cast(R, operation.reply.model_validate(reply))
            if isinstance(answer, SessionView) and answer.alias is not None:
                self._aliases[answer.alias] = answer.id
            return answer
        raise Interrupted(f"The broker went away {TRIES} times during {operation.op}.")

    def watch(self, session: str | None = None) -> Notices:
        notices = Notices(on_close=lambda closed: self._listening.pop(closed, None))
        self._listening[notices] = session
        if self._connection is not None:
            self._ask_for_notices(self._connection)
        return notices

    async def reach(self) -> BrokerConnection:
        """The connection, made or made again. Raises when no broker can be reached or started."""
        async with self._reaching:
            if self._closed:
                raise _closed()
            if self._connection is None or self._connection.ended.done():
                connection = await self._connected()
                if self._closed:  # meanwhile: nobody would close this one
                    await connection.aclose()
                    raise _closed()
                self._connection = connection
            return self._connection

    async def aclose(self) -> None:
        """Say goodbye: an anonymous session ends here."""
        self._closed = True
        for notices in list(self._listening):
            notices.close()
        if self._coming_back is not None:
            self._coming_back.cancel()
        if self._connection is not None:
            self._connection.send({"goodbye": True})
            # The broker closes its end once it has taken the goodbye.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await asyncio.wait({self._connection.ended})
            await self._connection.aclose()

    def _lost(self, connection: BrokerConnection) -> None:
        """Reconnect now rather than at the next call: the grace to resume is running. Unless the
        person stopped the broker: then only a call brings it back."""
        if not self._closed and not connection.was_stopped:
            self._coming_back = asyncio.get_running_loop().create_task(
                self._come_back(), name="come back"
            )

    async def _come_back(self) -> None:
        with contextlib.suppress(RoostError):
            await self.reach()

    async def _connected(self) -> BrokerConnection:
        for pause in RETRY_SECONDS:
            # Found, and then gone before it had let us in: it is just being killed or stopped.
            # Internal: it was killed while it started. Nothing was sent yet, so try again.
            with contextlib.suppress(ConnectionLost, Timeout, Internal):
                return await self._admitted()
            await asyncio.to_thread(select.select, [], [], [], pause)
        try:
            return await self._admitted()
        except ConnectionLost:
            raise Interrupted("The broker closes the connection during the hello.") from None

    async def _admitted(self) -> BrokerConnection:
        try:
            return await self._greet(self._hello)
        except Unauthorized:
            if self._hello.resume is None:
                raise
            # We were away too long; our agent has ended. Begin anew.
            self._hello = replace(self._hello, resume=None)
            return await self._greet(self._hello)

    async def _greet(self, hello: Hello) -> BrokerConnection:
        if self._start:
            # One that an agent needed ends some time after the last; `roost up` starts one to stay.
            await asyncio.to_thread(ensure_broker, self._home, options=("--linger",))
        sock = await asyncio.to_thread(dial, self._home)
        # Read anew each time: the token changes when somebody removes the file.
        hello = replace(hello, token=self._home.operator_token())
        connection, welcome = await BrokerConnection.open(sock, hello, self._noticed)
        connection.ended.add_done_callback(lambda _: self._lost(connection))
        self.agent, self.session = welcome.agent, welcome.session
        if welcome.secret is not None:
            self._hello = replace(self._hello, resume=welcome.secret)
        if self._listening:
            self._ask_for_notices(connection)
        return connection

    def _ask_for_notices(self, connection: BrokerConnection) -> None:
        """An agent is told of its sessions unasked; a command, which owns none, is not."""
        if self._hello.resume is None:
            connection.send({"watch": None})

    def _noticed(self, notice: Notice) -> None:
        for notices, session in self._listening.items():
            if session is None or self._aliases.get(session, session) == notice.session:
                notices.put(notice)


def _closed() -> Interrupted:
    return Interrupted("This client is closed.", hint="Connect again.")


def _limit(operation: Operation, timeout: float | None) -> float:
    return SLACK_SECONDS + (CALL_SECONDS + operation.waits() if timeout is None else timeout)
