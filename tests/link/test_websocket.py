"""The wire to a Firefox, against a peer that speaks the same protocol."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

from roost.errors import BrowserLost
from roost.keeper.firefox import first_tab_of, start
from roost.link.websocket import WebSocketWire, connect
from roost.link.wire import HungUp
from roost.local.deadline import Deadline


class Peer:
    """Firefox's end: it has completed the handshake and does what a test says."""

    def __init__(self, listening: socket.socket) -> None:
        self._protocol = ServerProtocol()
        self._listening = listening
        self._connection: socket.socket | None = None

    def shake_hands(self) -> None:
        self._connection, _ = self._listening.accept()
        while not (asked := self._protocol.events_received()):
            self._protocol.receive_data(self._connection.recv(65536))
        self._protocol.send_response(self._protocol.accept(asked[0]))  # type: ignore[arg-type]
        self._flush()

    def says(self, *messages: bytes) -> None:
        for message in messages:
            self._protocol.send_text(message)
        self._flush()

    def says_in_parts(self, *parts: bytes) -> None:
        self._protocol.send_text(parts[0], fin=False)
        for number, part in enumerate(parts[1:], 2):
            self._protocol.send_continuation(part, fin=number == len(parts))
        self._flush()

    def pings(self) -> None:
        self._protocol.send_ping(b"there?")
        self._flush()

    def heard(self) -> Frame:
        assert self._connection is not None
        while True:
            for event in self._protocol.events_received():
                if isinstance(event, Frame):
                    return event
            self._protocol.receive_data(self._connection.recv(65536))

    def leaves(self) -> None:
        assert self._connection is not None
        self._connection.close()

    def _flush(self) -> None:
        assert self._connection is not None
        for data in self._protocol.data_to_send():
            self._connection.sendall(data)


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        yield server


@pytest.fixture
def ends(listening: socket.socket) -> Iterator[tuple[WebSocketWire, Peer]]:
    """Return both ends of one connection. The handshake needs both at once, so one runs in a
    thread."""
    peer = Peer(listening)
    thread = threading.Thread(target=peer.shake_hands)
    thread.start()
    wire = connect(listening.getsockname()[1], Deadline(5))
    thread.join()
    yield wire, peer
    wire.close()
    peer.leaves()


def read(wire: WebSocketWire) -> list[bytes]:
    """Return the frames that have arrived, once there are any."""
    found: list[bytes] = []
    while not found:
        assert select.select([wire.inlet], [], [], 5)[0]
        found = wire.read()
    return found


def test_messages_are_complete_however_they_were_split(ends: tuple[WebSocketWire, Peer]) -> None:
    wire, peer = ends
    peer.says_in_parts(b'{"a":', b"1", b"}")
    assert read(wire) == [b'{"a":1}']
    peer.says(b'"one"', "☃".encode())
    found = read(wire)
    while len(found) < 2:
        found += read(wire)
    assert found == [b'"one"', "☃".encode()]
    assert wire.read() == [], "nothing is there, and nothing waits"


def test_frames_are_sent_as_text_messages(ends: tuple[WebSocketWire, Peer]) -> None:
    wire, peer = ends
    wire.send(b'{"id":1}')
    assert wire.has_unsent
    wire.flush()
    assert not wire.has_unsent
    frame = peer.heard()
    assert (frame.opcode, bytes(frame.data)) == (Opcode.TEXT, b'{"id":1}')


def test_a_ping_is_answered_and_not_delivered(ends: tuple[WebSocketWire, Peer]) -> None:
    wire, peer = ends
    peer.pings()
    peer.says(b"next")
    assert read(wire) == [b"next"]
    wire.flush()
    assert peer.heard().opcode is Opcode.PONG


def test_a_reply_that_is_too_large_becomes_an_error_for_its_caller(
    ends: tuple[WebSocketWire, Peer],
) -> None:
    wire, peer = ends
    small = WebSocketWire(wire._connection, wire._protocol, limit=100)
    event = {"type": "event", "method": "log.entryAdded", "params": "x" * 200}
    reply = {"type": "success", "id": 12, "result": "x" * 200}
    peer.says(json.dumps(event).encode(), json.dumps(reply, separators=(",", ":")).encode())
    peer.says(b"next")
    found = read(small)
    while len(found) < 2:
        found += read(small)
    assert (json.loads(found[0])["id"], json.loads(found[0])["type"]) == (12, "error")
    assert found[1] == b"next", "the connection goes on"


def test_a_browser_that_is_gone_has_hung_up(ends: tuple[WebSocketWire, Peer]) -> None:
    wire, peer = ends
    peer.leaves()
    with pytest.raises(HungUp):
        read(wire)


def test_a_browser_that_ends_at_once_is_lost_with_its_last_output(tmp_path: Path) -> None:
    log = tmp_path / "browser.log"
    with pytest.raises(BrowserLost, match="no display"):
        start(["/bin/sh", "-c", "echo no display >&2"], log, {})


def test_a_firefox_that_has_no_tab_yet_is_asked_again(ends: tuple[WebSocketWire, Peer]) -> None:
    wire, peer = ends

    def answer() -> None:
        for contexts in ([], [], [{"context": "first"}, {"context": "second"}]):
            asked = json.loads(bytes(peer.heard().data))
            assert asked["method"] == "browsingContext.getTree"
            found = {"type": "success", "id": asked["id"], "result": {"contexts": contexts}}
            peer.says(json.dumps(found).encode())

    thread = threading.Thread(target=answer)
    thread.start()
    assert first_tab_of(wire, 2, Deadline(5)) == ("first", 5)
    thread.join()


def test_a_firefox_that_never_has_a_tab_is_lost(ends: tuple[WebSocketWire, Peer]) -> None:
    wire, _ = ends
    with pytest.raises(BrowserLost):
        first_tab_of(wire, 2, Deadline(0.0))
