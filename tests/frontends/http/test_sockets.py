"""A WebSocket that its application reads directly (roost.frontends.http.sockets): order, turns,
back-pressure and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import websockets
from starlette.types import Receive, Scope, Send

from roost.api.sockets import DIRECT
from roost.frontends.http.sockets import TURN, Socket
from roost.testing.waits import until
from tests.frontends.http.served_app import served_app

SMALL = b"\x81\x81\0\0\0\0x"
"""A message as it is on the wire: a text of one letter, masked with zeros."""


class Listener:
    """Echoes, unless ``hears`` says otherwise."""

    def __init__(self, socket: Socket, hears: Callable[[Listener, str | bytes], None]) -> None:
        self.socket = socket
        self.heard: list[str | bytes] = []
        self.has_left = asyncio.Event()
        self.rooms = 0
        self._hears = hears
        socket.listen(self)

    def said(self, message: str | bytes) -> None:
        self.heard.append(message)
        self._hears(self, message)

    def has_room(self) -> None:
        self.rooms += 1

    def left(self) -> None:
        self.has_left.set()


def echo(listener: Listener, message: str | bytes) -> None:
    listener.socket.write(message.encode() if isinstance(message, str) else message)


def nothing(listener: Listener, message: str | bytes) -> None:
    pass


@asynccontextmanager
async def served(
    hears: Callable[[Listener, str | bytes], None] = echo,
) -> AsyncIterator[tuple[str, list[Listener]]]:
    listeners: list[Listener] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        listener = Listener(scope["extensions"][DIRECT], hears)
        listeners.append(listener)
        await listener.has_left.wait()

    async with served_app(app, ws_per_message_deflate=False) as address:
        yield f"ws://{address}", listeners


async def test_messages_are_heard_as_they_were_said_and_answered() -> None:
    async with served() as (url, listeners), websockets.connect(url) as peer:
        await peer.send("text")
        await peer.send(b"bytes")
        await peer.send(["in ", "parts"])
        assert [await peer.recv() for _ in range(3)] == ["text", "bytes", "in parts"]
        assert listeners[0].heard == ["text", b"bytes", "in parts"]


async def test_a_peer_with_many_messages_leaves_others_their_turn() -> None:
    seen: list[int] = []

    def counted(listener: Listener, message: str | bytes) -> None:
        if len(listener.heard) == 1:
            listener.socket.loop.call_soon(lambda: seen.append(len(listener.heard)))

    async with served(counted) as (url, listeners), websockets.connect(url) as peer:
        many = 3 * TURN
        peer.transport.write(SMALL * many)
        await until(lambda: bool(listeners) and len(listeners[0].heard) == many)
        assert seen == [TURN]


async def test_a_held_peer_is_read_again_after_go_on() -> None:
    def hold_at_two(listener: Listener, message: str | bytes) -> None:
        if message == "2":
            listener.socket.hold()

    async with served(hold_at_two) as (url, listeners), websockets.connect(url) as peer:
        for number in range(1, 6):
            await peer.send(str(number))
        await until(lambda: bool(listeners) and len(listeners[0].heard) == 2)
        listeners[0].socket.go_on()
        await until(lambda: listeners[0].heard == ["1", "2", "3", "4", "5"])


async def test_a_flood_at_a_held_peer_stops_at_its_sender() -> None:
    """The rest of the flood must stay in the sender's memory."""

    def hold(listener: Listener, message: str | bytes) -> None:
        listener.socket.hold()

    async with served(hold) as (url, listeners), websockets.connect(url) as peer:
        peer.transport.write(SMALL * 5_000_000)
        await until(lambda: bool(listeners) and not listeners[0].socket.transport.is_reading())
        assert len(listeners[0].heard) == 1
        assert peer.transport.get_write_buffer_size() > 0
        peer.transport.abort()
        listeners[0].left()


async def test_a_peer_that_does_not_read_makes_the_socket_full_until_it_reads() -> None:
    async with served(nothing) as (url, listeners):
        async with websockets.connect(url, max_queue=1, max_size=None) as peer:
            await peer.send("hello")
            await until(lambda: bool(listeners) and bool(listeners[0].heard))
            socket, sent = listeners[0].socket, 0
            while not socket.is_full and sent < 100:
                socket.write(b"x" * 1_000_000)
                sent += 1
            assert sent < 100
            for _ in range(sent):
                await peer.recv()
            await until(lambda: not socket.is_full)
            assert listeners[0].rooms >= 1


@pytest.mark.parametrize("politely", [True, False])
@pytest.mark.parametrize("held", [True, False])
async def test_the_listener_hears_the_end_of_the_connection(politely: bool, held: bool) -> None:
    async with served(nothing) as (url, listeners):
        async with websockets.connect(url) as peer:
            await peer.send("hello")
            await until(lambda: bool(listeners) and bool(listeners[0].heard))
            listener = listeners[0]
            if held:
                listener.socket.hold()
            if politely and not held:
                await peer.close()
            else:
                peer.transport.abort()
            async with asyncio.timeout(10):
                await listener.has_left.wait()
            listener.socket.write(b"in vain")
