"""A relay between a client and Roost that keeps every byte the client received."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class Recording:
    """Everything that one client received: frames without masks and compression."""

    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self._path = self._server.path
        self.received = bytearray()
        self.address = ""

    async def relay(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        assert self._server.hostname is not None
        server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        head = await client.readuntil(b"\r\n\r\n")
        own = self.address.split("/")[2].encode()
        to_server.write(head.replace(own, self._server.netloc.encode()))

        async def down() -> None:
            while data := await server.read(65536):
                self.received += data
                to_client.write(data)
                await to_client.drain()

        async def up() -> None:
            while data := await client.read(65536):
                to_server.write(data)
                await to_server.drain()

        try:
            async with asyncio.TaskGroup() as group:
                ways = [group.create_task(down()), group.create_task(up())]
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                for way in ways:
                    way.cancel()
        except* (ConnectionError, OSError):
            pass
        finally:
            for writer in (to_server, to_client):
                writer.close()


@asynccontextmanager
async def recorded(url: str) -> AsyncIterator[Recording]:
    """Start a relay to that endpoint. Its ``address`` is for one client."""
    recording = Recording(url)
    server = await asyncio.start_server(recording.relay, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    path = urlsplit(url).path
    recording.address = f"ws://127.0.0.1:{port}{path}/devtools/browser/session"
    try:
        yield recording
    finally:
        server.close()
