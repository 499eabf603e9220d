"""Inject faults: a peer that sends anything, and a proxy that breaks what it carries.

``Peer`` speaks the socket's protocol by hand, correctly or not. ``FaultyLink`` sits between a
client and a broker and forwards all bytes until it is told to misbehave.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from roost.local.endpoint import read_endpoint, write_endpoint
from roost.local.home import Home
from roost.testing.house import FakeHouse
from roost.testing.waits import SECONDS
from roost.vocabulary import LINK_FRAME_BYTES


class Peer:
    """A connection to the broker's socket on which the test writes every message by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def dial(cls, home: Home) -> Peer:
        """Connect to the broker of that home, and say nothing yet."""
        endpoint = read_endpoint(home)
        assert endpoint is not None
        path = os.fspath(endpoint.socket)
        return cls(*await asyncio.open_unix_connection(path, limit=LINK_FRAME_BYTES))

    @classmethod
    async def admitted(cls, house: FakeHouse, **hello: Any) -> Peer:
        """Connect, say a valid hello, and check that the broker welcomes it."""
        peer = await cls.dial(house.home)
        peer.say(hello={**house.hello().to_wire(), **hello})
        assert "welcome" in await peer.hear()
        return peer

    def say(self, **message: Any) -> None:
        """Send a message as one line of JSON."""
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Send these bytes as they are."""
        self.writer.write(data)

    async def hear(self) -> dict[str, Any]:
        """Return the next message that is not an event."""
        async with asyncio.timeout(SECONDS):
            while True:
                line = await self.reader.readline()
                assert line, "the broker closed the connection"
                message: dict[str, Any] = json.loads(line)
                if "event" not in message:
                    return message

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation and return the broker's next message."""
        self.say(id=op, op=op, args=arguments)
        return await self.hear()

    async def hear_the_end(self) -> list[dict[str, Any]]:
        """Return all messages until the broker closes the connection."""
        async with asyncio.timeout(SECONDS):
            try:
                data = await self.reader.read()
            except ConnectionError:  # the broker closed without reading what we sent
                data = b""
        return [json.loads(line) for line in data.splitlines()]

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


class FaultyLink:
    """A proxy that carries bytes between clients and a broker until told otherwise."""

    def __init__(self, path: Path, broker: Path) -> None:
        self.path = path
        self._broker = broker
        self._server: asyncio.Server | None = None
        self._pairs: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._replacement: bytes | None = None
        self.refuses = False
        """Close new connections at once."""
        self.connections = 0

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(self._accepted, os.fspath(self.path))

    def cut(self) -> None:
        """Break every connection now."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def stall(self) -> None:
        """Hold all bytes back from now on. Nothing is lost."""
        self._flowing.clear()

    def flow(self) -> None:
        """End a stall."""
        self._flowing.set()

    def garble(self, data: bytes) -> None:
        """Replace the broker's next bytes by these."""
        self._replacement = data

    async def aclose(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._pairs:
            task.cancel()
        await asyncio.gather(*self._pairs, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.refuses:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._pairs.add(task)
        to_broker, from_broker = None, writer
        try:
            broker, to_broker = await asyncio.open_unix_connection(os.fspath(self._broker))
            self._writers += [from_broker, to_broker]
            async with asyncio.TaskGroup() as both:
                both.create_task(self._carry(reader, to_broker, to_client=False))
                both.create_task(self._carry(broker, from_broker, to_client=True))
        except* (OSError, _EndOfStream):
            pass
        finally:
            for end in (from_broker, to_broker):
                if end is not None:
                    end.transport.abort()
            self._pairs.discard(task)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_client: bool
    ) -> None:
        while data := await reader.read(65536):
            await self._flowing.wait()
            if to_client and self._replacement is not None:
                data, self._replacement = self._replacement, None
            writer.write(data)
            await writer.drain()
        raise _EndOfStream


class _EndOfStream(Exception):
    """One side has closed, so close the other."""


@asynccontextmanager
async def faulty_link(house: FakeHouse) -> AsyncIterator[FaultyLink]:
    """Put a ``FaultyLink`` between the house and all clients that connect from now on."""
    endpoint = read_endpoint(house.home)
    assert endpoint is not None
    link = FaultyLink(endpoint.socket.with_suffix(".faulty"), endpoint.socket)
    await link.start()
    write_endpoint(house.home, replace(endpoint, socket=link.path))
    try:
        yield link
    finally:
        await link.aclose()
        link.path.unlink(missing_ok=True)
