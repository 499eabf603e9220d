"""Connects the shim to the broker: starts a broker if needed, says hello, resumes the agent."""

from __future__ import annotations

import os
import select
import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from roost.errors import Internal, Interrupted, RoostError, Timeout, Unauthorized
from roost.local.broker_start import RETRY_SECONDS, connect, ensure_broker
from roost.local.greeting import greet
from roost.local.home import Home
from roost.wire.hello import Hello

NAME_CHARS: Final = 80
_LINGER: Final = ("--linger",)
"""A broker that an agent starts ends some time after the last session; `roost up`'s stays."""


@dataclass(frozen=True, slots=True)
class ShimConnection:
    """A connection on which the broker has accepted the hello."""

    sock: socket.socket
    software: str | None
    """The broker's release."""
    answers_pings: bool = False
    """The broker answers ``{"ping": true}``."""


class Connector:
    """Connects this agent to the broker, and reconnects it as the same agent."""

    def __init__(self, home: Home, hello: Hello) -> None:
        self._home = home
        self._hello = hello

    def start(self) -> None:
        """Start a broker ahead of the first request. ``reach`` reports why that failed."""
        with suppress(RoostError):
            ensure_broker(self._home, options=_LINGER)

    def reach(self, client_name: str | None = None) -> ShimConnection:
        """Connect and say hello, as the same agent as before if that agent still exists.

        client_name: what the client calls itself.
        Raises the ``RoostError`` that says why there is no connection after three tries.
        """
        if self._hello.name is None:
            self._hello = replace(self._hello, name=agent_name(client_name, self._hello.cwd))
        for pause in RETRY_SECONDS:
            # OSError, Timeout: a broker was there and is just being killed or stopped. Internal: a
            # broker was killed while it started. No request was sent yet, so it is safe to retry.
            with suppress(OSError, Timeout, Internal):
                return self._admitted()
            select.select([], [], [], pause)
        try:
            return self._admitted()
        except OSError:
            raise Interrupted("The broker closes the connection during the hello.") from None

    def _admitted(self) -> ShimConnection:
        try:
            return self._greet()
        except Unauthorized:
            if self._hello.resume is None:
                raise
            # The connection was lost for too long and the agent has ended. Start as a new agent.
            self._hello = replace(self._hello, resume=None)
            return self._greet()

    def _greet(self) -> ShimConnection:
        ensure_broker(self._home, options=_LINGER)
        sock = connect(self._home)
        try:
            # Read the token each time: it changes when somebody removes the file.
            hello = replace(self._hello, token=self._home.operator_token())
            welcome = greet(sock, hello)
        except BaseException:
            sock.close()
            raise
        if welcome.secret is not None:
            self._hello = replace(self._hello, resume=welcome.secret)
        return ShimConnection(sock, welcome.software, welcome.pings)


def agent_name(client: str | None, folder: str | None) -> str:
    """Return the name that people see for this agent: its client and its working folder."""
    parts = [part for part in (client, os.path.basename(folder or "")) if part]
    shown = "".join(c if c.isprintable() else " " for c in " · ".join(parts))
    return shown.strip()[:NAME_CHARS] or "mcp"
