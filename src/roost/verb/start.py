"""The first verb on a quiet machine: start the broker, then connect."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from roost.errors import RoostError
from roost.local.broker_start import ensure_broker
from roost.local.home import Home
from roost.verb.broker_socket import NoBrokerError, connect
from roost.verb.sandbox import is_sandboxed

if TYPE_CHECKING:
    from _socket import socket

LINGER = ("--linger",)
"""The broker ends some time after its last session, as one that an agent's shim starts does."""


def started(progress: Callable[[str], None]) -> tuple[socket, str]:
    """Start a broker if none runs, and return a connection and the operator's token.

    Ends the process with an error if that is not possible.
    """
    try:
        home = Home.find()
        if is_sandboxed():
            raise PermissionError("a broker cannot be started inside of a sandbox")
        progress("Starting Roost …")
        ensure_broker(home, options=LINGER)
        home.operator_token()
        return connect(str(home.path))
    except NoBrokerError:
        _fail("INTERNAL: The broker started, but does not answer.", "See `roost doctor`.")
    except RoostError as error:
        _fail(str(error), error.hint)


def _fail(text: str, hint: str) -> NoReturn:
    os.write(2, f"{text}\nhint: {hint}\n".encode())
    os._exit(1)
