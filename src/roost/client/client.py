"""``Client`` calls the broker as one agent, from any process, over any number of connections.

When the connection is lost, the client reconnects (starting the broker if necessary) and resumes,
so identity, session and tabs stay. The client repeats a call that was in flight if it only reads.
Any other call raises ``Interrupted``, because nobody knows whether it was done.
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
from roost.api.interrupted_batch import interrupted_batch
from roost.api.operations import Answers, Batch, Operation
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
"""Number of times that a call that only reads is sent before it raises ``Interrupted``."""
SLACK_SECONDS = 10.0
"""Extra seconds to wait after a call's deadline for the answer of a busy broker."""


async def connect(
    *,
    session: str | None = None,
    name: str | None = None,
    browser: str | None = None,
    jar: JarPolicy | str | None = None,
    profile: str | None = None,
    allow: tuple[str, ...] = (),
    deny: tuple[str, ...] = (),
    policy: str | None = None,
    home: Home | None = None,
    start: bool = True,
) -> Client:
    """Connect to the broker as a new agent.

    session: named session to join or make; it outlives this agent. None: a new session that ends
        with this agent.
    name: name of the agent, and of a session made for it, as people see it.
    browser: browser of the session; None: the broker's default.
    jar: where the session's cookies come from: fresh, clone or shared.
    profile: profile to clone the jar from.
    allow, deny: domain lists for every session of this agent.
    policy: preset (``careful``, ``lockdown``), or text of a policy file, that narrows what this
        agent may do.
    home: which Roost to use; None: the one that ``ROOST_HOME`` names.
    start: start a broker if none runs.

    Raises a ``RoostError`` if the broker refuses, or cannot be reached or started.
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
            policy=policy,
        ),
        start=start,
    )
    await client.reach()
    return client


class Client:
    """A ``BrokerApi`` over the socket. Use ``async with await roost.connect() as client``.

    agent: this agent's id.
    session: id of this agent's home session.
    """

    def __init__(self, home: Home, hello: Hello, *, start: bool) -> None:
        self._home = home
        self._hello = hello
        self._start = start
        self._connection: BrokerConnection | None = None
        self._reaching = asyncio.Lock()
        self._listening: dict[Notices, str | None] = {}
        """Open ``Notices`` and the session that each is for (None: all)."""
        self._aliases: dict[str, str] = {}
        """Maps our aliases of sessions to their ids, which the broker's notices carry."""
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
        """Ask the broker for an operation and return its view.

        timeout: seconds until the broker gives up (None: the operation's default).

        Raises the ``RoostError`` that the broker answers, ``Timeout`` if the broker does not answer
        at all, ``Interrupted`` if the connection was lost during a call that does more than read.
        """
        assert isinstance(operation, Operation)
        timeout_ms = None if timeout is None else timeout * 1000
        for _ in range(TRIES):
            connection = await self.reach()
            try:
                # The broker enforces the deadline. This timeout is for a broker that hangs.
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
                if isinstance(operation, Batch):
                    raise await interrupted_batch(self, operation) from None
                raise Interrupted(
                    f"The broker went away during {operation.op}; nobody knows whether it was done."
                ) from None
            answer = cast(R, operation.reply.model_validate(reply))
            if isinstance(answer, SessionView) and answer.alias is not None:
                self._aliases[answer.alias] = answer.id
            return answer
        raise Interrupted(f"The broker went away {TRIES} times during {operation.op}.")

    def watch(self, session: str | None = None) -> Notices:
        """Return the notices of ``session`` (id or alias), or of all sessions, from now on."""
        notices = Notices(on_close=lambda closed: self._listening.pop(closed, None))
        self._listening[notices] = session
        if self._connection is not None:
            self._ask_for_notices(self._connection)
        return notices

    async def reach(self) -> BrokerConnection:
        """Return the connection, and connect or reconnect first if necessary.

        Raises a ``RoostError`` if no broker can be reached or started.
        """
        async with self._reaching:
            if self._closed:
                raise _closed()
            if self._connection is None or self._connection.ended.done():
                connection = await self._connected()
                if self._closed:  # ``aclose`` ran meanwhile and does not know this connection
                    await connection.aclose()
                    raise _closed()
                self._connection = connection
            return self._connection

    async def aclose(self) -> None:
        """Say goodbye and close the connection. An anonymous session ends with that."""
        self._closed = True
        for notices in list(self._listening):
            notices.close()
        if self._coming_back is not None:
            self._coming_back.cancel()
        if self._connection is not None:
            self._connection.send({"goodbye": True})
            # The broker closes the connection when it has read the goodbye.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await asyncio.wait({self._connection.ended})
            await self._connection.aclose()

    def _lost(self, connection: BrokerConnection) -> None:
        """Reconnect at once, not at the next call, because the grace to resume is running.

        If the person stopped the broker, wait for the next call instead.
        """
        if not self._closed and not connection.was_stopped:
            self._coming_back = asyncio.get_running_loop().create_task(
                self._come_back(), name="come back"
            )

    async def _come_back(self) -> None:
        with contextlib.suppress(RoostError):
            await self.reach()

    async def _connected(self) -> BrokerConnection:
        for pause in RETRY_SECONDS:
            # ConnectionLost, Timeout: the broker is just being killed or stopped. Internal: it was
            # killed while it started. No call was sent yet, so try again.
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
            # The grace has passed and our agent has ended. Connect as a new agent.
            self._hello = replace(self._hello, resume=None)
            return await self._greet(self._hello)

    async def _greet(self, hello: Hello) -> BrokerConnection:
        if self._start:
            # A broker started with --linger ends some time after the last session. `roost up`
            # starts one that stays.
            await asyncio.to_thread(ensure_broker, self._home, options=("--linger",))
        sock = await asyncio.to_thread(dial, self._home)
        # Read the token each time: it changes when somebody removes the file.
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
        """Ask for notices where the broker does not send them unasked.

        The broker sends an agent the notices of its sessions. A command owns no sessions, so it has
        to ask.
        """
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
