"""``HttpServer`` listens from the start, so that its address is known at once.

The code that answers costs half a second and 15 MiB to load, so the first connection loads it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from roost.api.door import TokenDoor
from roost.frontends.http.listener import HOST, bound
from roost.local.home import Home

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from roost.frontends.http.uvicorn_server import UvicornServer

logger = logging.getLogger(__name__)


class HttpServer:
    """Serves HTTP until it is closed.

    ``mounts``: further applications behind the same gate, by path; each is made at its first
        request.
    """

    def __init__(
        self,
        door: TokenDoor,
        home: Home,
        port: int | None = None,
        mounts: Mapping[str, Callable[[], ASGIApp]] | None = None,
    ) -> None:
        self._door = door
        self._home = home
        self._port = port
        self._mounts = mounts or {}
        self._listening: socket.socket | None = None
        self._loading: asyncio.Task[None] | None = None
        self._uvicorn: UvicornServer | None = None

    def start(self) -> str:
        """Listen, and return the address."""
        self._listening = bound(self._home, self._port)
        asyncio.get_running_loop().add_reader(self._listening, self._first_connection)
        return f"http://{HOST}:{self._listening.getsockname()[1]}"

    async def aclose(self) -> None:
        """Stop listening, end the requests under way, and close every connection."""
        if self._listening is None:
            return
        if self._loading is not None:
            self._loading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loading
        else:
            asyncio.get_running_loop().remove_reader(self._listening)
        if self._uvicorn is not None:
            await self._uvicorn.aclose()
        self._listening.close()

    def _first_connection(self) -> None:
        """Load the code that answers. Connections wait in the kernel meanwhile."""
        assert self._listening is not None
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listening)
        self._loading = loop.create_task(self._load(self._listening), name="load http")

    async def _load(self, listening: socket.socket) -> None:
        try:
            module = await asyncio.to_thread(_import_uvicorn_server)
            serving = module(self._door, listening, self._mounts)
            await serving.start()
            self._uvicorn = serving
        except Exception:
            logger.exception("HTTP cannot be served")
            listening.close()


def _import_uvicorn_server() -> type[UvicornServer]:
    from roost.frontends.http.uvicorn_server import UvicornServer

    return UvicornServer
