"""A relay's wire to Firefox: WebDriver BiDi over a WebSocket on loopback.

Firefox gives out one session at a time. If a client dies without ending its session, no other
client gets one until Firefox restarts. So only keepers and hosts connect, which seldom die.
https://w3c.github.io/webdriver-bidi/#transport
"""

from __future__ import annotations

import json
import re
import select
import socket
from typing import Any

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from roost.errors import BrowserLost
from roost.link.wire import CHUNK, HungUp, SendBuffer
from roost.local.deadline import Deadline
from roost.vocabulary import LINK_FRAME_BYTES, MIB

HOST = "127.0.0.1"
# Firefox leaves Nagle's algorithm on: it sends a second short message only after we acknowledge the
# first, and Linux delays that by 40 ms. The option lasts until the next acknowledgement.
_ACK_AT_ONCE: int | None = getattr(socket, "TCP_QUICKACK", None)
_ID = re.compile(rb'"id":(\d+)')
WORD_ROOM = 64
"""Bytes that the link needs around a message that it passes on inside a word."""


class WebSocketWire:
    """Text frames over one TCP connection. ``protocol`` does the framing and no I/O.

    A message above the limit is dropped, and the call it answers gets an error. So a picture that
    is too large does not end the connection for all sessions.
    """

    def __init__(
        self, connection: socket.socket, protocol: ClientProtocol, limit: int = LINK_FRAME_BYTES
    ) -> None:
        self.inlet = self.outlet = connection.fileno()
        self._connection = connection
        self._protocol = protocol
        self._limit = limit
        self._unsent = SendBuffer()
        self._parts: list[bytes] = []

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, frame: bytes) -> None:
        self._protocol.send_text(frame)
        self._take_output()

    def flush(self) -> None:
        try:
            self._unsent.sent(self._connection.send(self._unsent.next()))
        except BlockingIOError:
            return
        except OSError:
            raise HungUp from None

    def read(self) -> list[bytes]:
        try:
            data = self._connection.recv(CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            raise HungUp from None
        if not data:
            raise HungUp
        if _ACK_AT_ONCE is not None:
            self._connection.setsockopt(socket.IPPROTO_TCP, _ACK_AT_ONCE, 1)
        return self.feed(data)

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes from the browser and return the messages that they complete."""
        self._protocol.receive_data(data)
        self._take_output()  # the protocol answers pings itself
        messages: list[bytes] = []
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                messages.extend(self._message(event))
        if self._protocol.state is not State.OPEN:
            raise HungUp
        return messages

    def close(self) -> None:
        self._connection.close()

    def _message(self, frame: Frame) -> list[bytes]:
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return []
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return []
        message, self._parts = b"".join(self._parts), []
        return [message] if len(message) <= self._limit else self._refused(message[:64])

    def _refused(self, head: bytes) -> list[bytes]:
        call = _ID.search(head)
        if call is None:
            return []  # an event, so no call waits for it
        message = f"larger than {self._limit // MIB} MiB"
        reply = {"type": "error", "id": int(call.group(1)), "error": "too large"}
        return [json.dumps({**reply, "message": message}, separators=(",", ":")).encode()]

    def _take_output(self) -> None:
        for data in self._protocol.data_to_send():
            self._unsent += data


def connect(port: int, deadline: Deadline) -> WebSocketWire:
    """Connect to Firefox and do the WebSocket handshake. The wire is non-blocking afterwards."""
    # No limit in the protocol itself, which would end the connection at a message above it.
    protocol = ClientProtocol(parse_uri(f"ws://{HOST}:{port}/session"), max_size=None)
    connection = socket.create_connection((HOST, port), deadline.remaining())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    protocol.send_request(protocol.connect())
    connection.sendall(b"".join(protocol.data_to_send()))
    while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
        data = connection.recv(CHUNK)
        if not data:
            raise HungUp
        protocol.receive_data(data)
    if protocol.handshake_exc is not None:
        raise protocol.handshake_exc
    protocol.events_received()  # drop the handshake's response
    connection.setblocking(False)
    return WebSocketWire(connection, protocol, LINK_FRAME_BYTES - WORD_ROOM)


def ask(
    wire: WebSocketWire, number: int, method: str, params: dict[str, Any], deadline: Deadline
) -> dict[str, Any]:
    """Send one command and return its result. Other messages that arrive meanwhile are dropped."""
    wire.send(json.dumps({"id": number, "method": method, "params": params}).encode())
    poll = select.poll()
    poll.register(wire.inlet, select.POLLIN)
    while True:
        while wire.has_unsent:
            wire.flush()
        if not poll.poll(deadline.remaining() * 1000):
            raise BrowserLost("Firefox does not answer.")
        for message in map(json.loads, wire.read()):
            if message.get("id") == number:
                return _result(message)


def _result(message: dict[str, Any]) -> dict[str, Any]:
    if message["type"] != "success":
        raise BrowserLost(f"Firefox gave no session: {message['message']}")
    result: dict[str, Any] = message["result"]
    return result
