"""A Firefox over WebDriver BiDi: started, its one session taken, and held.

Firefox listens on a loopback port and gives out one session, once: a client that dies locks it out
until it restarts (design.md §8). So the session is taken the moment the port is open, and this
process, which decides nothing and seldom dies, is the client.
https://w3c.github.io/webdriver-bidi/#transport
"""

from __future__ import annotations

import json
import os
import re
import select
import socket
from pathlib import Path
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from roost.errors import BrowserLost
from roost.keeper.starting import START_SECONDS, last_line, spawn
from roost.link.memory import BidiMemory
from roost.link.relay import Held
from roost.link.wire import CHUNK, HungUp, Unsent
from roost.local.deadline import Deadline
from roost.vocabulary import LINK_FRAME_BYTES, MIB

HOST = "127.0.0.1"
LOOK_AGAIN_SECONDS = 0.02
# Firefox leaves Nagle's algorithm on: of two short messages the second waits until the first is
# acknowledged, which Linux puts off by 40 ms. The option lasts until the next acknowledgement.
_ACK_AT_ONCE: int | None = getattr(socket, "TCP_QUICKACK", None)
_LISTENING = re.compile(rb"WebDriver BiDi listening on ws://[^\s:]+:(\d+)")
_ID = re.compile(rb'"id":(\d+)')


def start(command: list[str], log: Path, session: dict[str, Any]) -> Held:
    """The browser with its session taken. ``session`` is what it is asked to be capable of."""
    # Without this every Firefox brings a process of its own that waits for it to crash.
    pid = spawn(command, log, environ={**os.environ, "MOZ_CRASHREPORTER_DISABLE": "1"})
    deadline = Deadline(START_SECONDS)
    try:
        wire = connect(_port(pid, log, deadline), deadline)
        made = _ask(wire, 1, "session.new", {"capabilities": {"alwaysMatch": session}}, deadline)
        tree = _ask(wire, 2, "browsingContext.getTree", {}, deadline)
    except (OSError, HungUp, WebSocketException) as problem:
        raise BrowserLost(
            f"Firefox cannot be spoken to ({problem}): {last_line(log)}", hint=f"See {log}."
        ) from None
    given = made["capabilities"]
    about = {
        "product": f"Firefox/{given['browserVersion']}",
        "userAgent": given["userAgent"],
        "firstTab": next((tab["context"] for tab in tree["contexts"]), None),
    }
    return Held(pid, wire, BidiMemory(next_id=3), about)


class WebSocketWire:
    """Text frames over one TCP connection; ``protocol`` does the framing and no I/O.

    A message above the limit is passed over, and its call answered with an error: a picture that
    is too large must not end the connection for everybody.
    """

    def __init__(
        self, connection: socket.socket, protocol: ClientProtocol, limit: int = LINK_FRAME_BYTES
    ) -> None:
        self.inlet = self.outlet = connection.fileno()
        self._connection = connection
        self._protocol = protocol
        self._limit = limit
        self._unsent = Unsent()
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
        """The messages that are whole with these bytes."""
        self._protocol.receive_data(data)
        self._take_output()  # pings are answered by the protocol itself
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
            return []  # an event: nobody waits for it
        message = f"larger than {self._limit // MIB} MiB"
        reply = {"type": "error", "id": int(call.group(1)), "error": "too large"}
        return [json.dumps({**reply, "message": message}, separators=(",", ":")).encode()]

    def _take_output(self) -> None:
        for data in self._protocol.data_to_send():
            self._unsent += data


def connect(port: int, deadline: Deadline) -> WebSocketWire:
    """A connection that has shaken hands, not blocking from here on."""
    # No limit in the protocol itself: there it would end the connection.
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
    protocol.events_received()  # the answer to the handshake: of no more use
    connection.setblocking(False)
    return WebSocketWire(connection, protocol)


def _ask(
    wire: WebSocketWire, number: int, method: str, params: dict[str, Any], deadline: Deadline
) -> dict[str, Any]:
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


def _port(pid: int, log: Path, deadline: Deadline) -> int:
    """The port Firefox chose, which it says in its errors and nowhere else before it listens."""
    while not deadline.has_passed():
        found = _LISTENING.search(log.read_bytes())
        if found is not None:
            return int(found.group(1))
        if os.waitpid(pid, os.WNOHANG)[0]:
            raise BrowserLost(f"Firefox ended at once: {last_line(log)}", hint=f"See {log}.")
        select.select([], [], [], LOOK_AGAIN_SECONDS)
    raise BrowserLost("Firefox does not listen.", hint=f"See {log}.")
