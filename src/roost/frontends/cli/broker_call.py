"""Make one call to the broker, for commands that do not use asyncio.

A command says hello as ``ClientKind.CLI``. The broker finds out from the process tree whether an
agent or the person runs the command. No agent ends when the command's connection ends.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from roost import __version__
from roost.api.operations import Answers, Operation, parse
from roost.api.views import View
from roost.client.client import Client
from roost.errors import NotFound, Timeout
from roost.frontends.cli.options import CommonFlags
from roost.local.broker_start import ensure_broker, running_broker
from roost.local.home import Home
from roost.vocabulary import CALL_SECONDS, HELLO_SECONDS, OPERATOR, conversation_in
from roost.wire.hello import ClientKind, Hello

R = TypeVar("R", bound=View)
T = TypeVar("T")

MORE_SECONDS = 5.0
LINGER = ("--linger",)
"""Options of a broker that nobody asked to stay: it ends some time after its last session."""


def ask(
    flags: CommonFlags,
    operation: type[Answers[R]],
    *,
    start: bool = False,
    timeout: float | None = None,
    **arguments: object,
) -> R:
    """Call the operation and return the broker's answer.

    ``start``: start a broker if none runs, to end some time after its last session. Otherwise raise
        ``NotFound`` if none runs.
    """
    order = made(operation, **arguments)

    async def answer() -> R:
        async with caller(flags, start=start) as client:
            return await bounded(client.call(order, timeout=timeout), timeout)

    return asyncio.run(answer())


async def bounded(call: Awaitable[T], timeout: float | None) -> T:
    """Raise ``Timeout`` if the broker hangs. A broker that works answers every call in time."""
    seconds = (timeout or CALL_SECONDS) + MORE_SECONDS
    try:
        async with asyncio.timeout(seconds):
            return await call
    except TimeoutError:
        hint = "See `roost doctor`; `roost stop` may have to be followed by a kill."
        raise Timeout(f"The broker has not answered for {seconds:g} s.", hint=hint) from None


def made(operation: type[Answers[R]], **arguments: object) -> Answers[R]:
    """Return the operation with the typed arguments.

    Raise ``BadRequest`` that names the argument if one is wrong.
    """
    assert issubclass(operation, Operation)
    given = {name: value for name, value in arguments.items() if value is not None}
    return cast(Answers[R], parse(operation.op, given))


@asynccontextmanager
async def caller(
    flags: CommonFlags, *, home: Home | None = None, start: bool = False
) -> AsyncIterator[Client]:
    """Connect to the broker, and say goodbye at the end."""
    home = home or Home.find()
    if start:
        await asyncio.to_thread(ensure_broker, home, options=LINGER)
    elif running_broker(home) is None:
        raise no_broker(home)
    hello = Hello(
        token="",  # the client sets it
        kind=ClientKind.CLI,
        software=__version__,
        session=conversation_in(os.environ),
        resumable=True,
        operator=flags.operator,
    )
    async with Client(home, hello, start=False) as client:
        await bounded(client.reach(), HELLO_SECONDS)
        flags.is_agent = client.agent not in (None, OPERATOR)
        yield client


def no_broker(home: Home) -> NotFound:
    return NotFound(f"No broker runs for {home.path}.", hint="Start it with `roost up`.")
