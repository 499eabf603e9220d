"""Serve the listening socket with uvicorn's protocol, but without uvicorn's server.

The broker has its own signals, loop and shutdown order, so it uses the protocol only.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import Any

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from roost.api.door import TokenDoor
from roost.frontends.http.app import application
from roost.frontends.http.connection import Connection
from roost.frontends.http.events import Streams
from roost.frontends.http.reception import Reception
from roost.frontends.http.sockets import Socket
from roost.vocabulary import LINK_FRAME_BYTES

KEEP_ALIVE_SECONDS = 30
GOODBYE_SECONDS = 2.0
"""Time for responses under way when the broker stops."""


class UvicornServer:
    """One running server."""

    def __init__(
        self,
        door: TokenDoor,
        listening: socket.socket,
        mounts: Mapping[str, Callable[[], ASGIApp]],
    ) -> None:
        self._listening = listening
        self._streams = Streams(door)
        self._state = _State()
        host, port = listening.getsockname()
        self._config = Config(
            application(door, host, port, self._streams, mounts),
            http=Connection,
            ws=Socket,
            # Playwright uploads a file of up to 50 MB in one command. Each command of 60 MB takes
            # the event loop 0.3 s, but a lower limit would end the connections of such clients.
            ws_max_size=LINK_FRAME_BYTES,
            ws_per_message_deflate=False,
            ws_ping_timeout=None,  # a client that stopped at a breakpoint is not gone
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )

    async def start(self) -> None:
        self._config.load()
        self._reception = Reception(self._listening, self._connected)
        self._reception.open()

    async def aclose(self) -> None:
        await self._reception.aclose()
        self._streams.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        await self._finished(GOODBYE_SECONDS)
        for task in list(self._state.tasks):
            task.cancel()
        await self._finished(GOODBYE_SECONDS)  # cancelled requests still answer INTERRUPTED
        for connection in list(self._state.connections):
            connection.transport.close()

    async def _finished(self, seconds: float) -> None:
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=seconds)

    def _connected(self, reception: Reception, is_put_off: bool) -> asyncio.Protocol:
        return Connection(self._config, self._state, {}, reception=reception, is_put_off=is_put_off)


class _State(ServerState):
    """Provides the Date header, which uvicorn's own server would set once a second."""

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        return [(b"date", formatdate(usegmt=True).encode())]

    @default_headers.setter
    def default_headers(self, value: Any) -> None: ...
