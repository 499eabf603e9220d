"""Call the broker from a command, without asyncio and without the models of ``roost.api``.

A command says hello as ``ClientKind.CLI``. The broker finds out from the process tree whether an
agent or the person runs the command. No agent ends when the command's connection ends.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import click

from roost import __version__
from roost.errors import Interrupted, NotFound, RoostError, Timeout
from roost.frontends.cli.options import CommonFlags
from roost.frontends.cli.orders import Answer, Order
from roost.local.broker_start import RETRY_SECONDS, connect, ensure_broker, running_broker
from roost.local.deadline import Deadline
from roost.local.greeting import READ_BYTES, greet
from roost.local.home import Home
from roost.vocabulary import CALL_SECONDS, LINK_FRAME_BYTES, OPERATOR, conversation_in
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import ClientKind, Hello, Welcome

R = TypeVar("R")

MORE_SECONDS = 5.0
LINGER = ("--linger",)
"""Options of a broker that nobody asked to stay: it ends some time after its last session."""


def ask(
    flags: CommonFlags,
    order: Order[R],
    *,
    start: bool = False,
    timeout: float | None = None,
    **arguments: object,
) -> R:
    """Make one call and return the broker's answer.

    start: start a broker if none runs, to end some time after its last session. Otherwise raise
        ``NotFound`` if none runs.
    """
    with caller(flags, start=start) as broker:
        return broker.call(order, timeout=timeout, **arguments)


class Broker:
    """A connection on which the broker has accepted the hello. Makes one call at a time."""

    def __init__(self, sock: socket.socket, welcome: Welcome) -> None:
        self._sock = sock
        self._frames = JsonLines(LINK_FRAME_BYTES)
        self._heard: list[Any] = []
        self._calls = 0
        self._is_watching = False
        self.agent = welcome.agent

    @property
    def is_agents(self) -> bool:
        """The broker takes this command for an agent's."""
        return self.agent != OPERATOR

    def call(self, order: Order[R], *, timeout: float | None = None, **arguments: object) -> R:
        """Call the operation and return the view that it answers.

        timeout: seconds that the broker gives the call (None: the operation's default).
        arguments: those that are None are left out.

        Raises the ``RoostError`` that the broker answers. A wrong argument names the command's
        help. Raises ``Timeout`` if the broker hangs, ``Interrupted`` if it goes away.
        """
        self._calls += 1
        given = {name: value for name, value in arguments.items() if value is not None}
        message: dict[str, Any] = {"id": self._calls, "op": order.op, "args": given}
        if timeout is not None:
            message["timeoutMs"] = timeout * 1000
        seconds = (timeout or CALL_SECONDS) + MORE_SECONDS
        deadline = Deadline(seconds)
        try:
            self._sock.sendall(encode_line(message))
            while True:
                for answer in self._received(deadline):
                    match answer:
                        case {"id": self._calls, "ok": dict(reply)}:
                            return cast(R, Answer(reply))
                        case {"error": dict(error)}:
                            raise _with_help(order.op, RoostError.from_wire(error))
                        case {"event": dict()} if self._is_watching:
                            self._heard.append(answer)
        except TimeoutError:
            hint = "See `roost doctor`; `roost stop` may have to be followed by a kill."
            text = f"The broker has not answered for {seconds:g} s."
            raise Timeout(text, hint=hint) from None
        except ConnectionError:
            raise Interrupted(
                f"The broker went away during {order.op}; nobody knows whether it was done."
            ) from None

    def watch(self, session: str) -> None:
        """Ask for what happens in the session from now on."""
        self._is_watching = True
        self._sock.sendall(encode_line({"watch": session}))

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what happens in the watched session, until the broker goes away."""
        self._sock.settimeout(None)
        with suppress(ConnectionError):
            while True:
                for message in self._heard or self._received(None):
                    match message:
                        case {"event": dict(event)}:
                            yield event
                        case {"error": dict(error)}:
                            raise RoostError.from_wire(error)
                self._heard = []

    def _received(self, deadline: Deadline | None) -> list[Any]:
        """Wait for messages and return them, at least one read's worth."""
        if deadline is not None:
            if deadline.has_passed():
                raise TimeoutError
            self._sock.settimeout(max(deadline.remaining(), 0.001))
        data = self._sock.recv(READ_BYTES)
        if not data:
            raise ConnectionResetError
        return list(self._frames.feed(data))


@contextmanager
def caller(flags: CommonFlags, *, start: bool = False) -> Iterator[Broker]:
    """Connect to the broker as this command."""
    home = Home.find()
    if start:
        ensure_broker(home, options=LINGER)
    elif running_broker(home) is None:
        raise no_broker(home)
    hello = Hello(
        token=home.operator_token(),
        kind=ClientKind.CLI,
        software=__version__,
        session=conversation_in(os.environ),
        resumable=True,
        operator=flags.operator,
    )
    sock, welcome = _admitted(home, hello)
    with sock:
        broker = Broker(sock, welcome)
        flags.is_agent = broker.is_agents
        yield broker


def _admitted(home: Home, hello: Hello) -> tuple[socket.socket, Welcome]:
    """Say hello, three times if a broker is just being killed or stopped: no call was sent yet."""
    for pause in (*RETRY_SECONDS, None):
        sock = connect(home)
        try:
            return sock, greet(sock, hello)
        except TimeoutError:
            sock.close()
            raise Timeout(
                "The broker took the connection and says nothing.",
                hint="It hangs or is stopped; see `roost doctor`.",
            ) from None
        except ConnectionError:
            sock.close()
            if pause is not None:
                select.select([], [], [], pause)
        except BaseException:
            sock.close()
            raise
    raise Interrupted("The broker closes the connection during the hello.")


def _with_help(op: str, error: RoostError) -> RoostError:
    """Name the command's help where the hint would list the operation's arguments."""
    context = click.get_current_context(silent=True)
    if context is None or f"{op} takes: " not in error.hint:
        return error
    return error.retold(hint=f"See `{context.command_path} --help`.")


def no_broker(home: Home) -> NotFound:
    return NotFound(f"No broker runs for {home.path}.", hint="Start it with `roost up`.")
