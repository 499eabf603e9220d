"""Say hello to the broker on a connected socket, for processes that do not use asyncio."""

from __future__ import annotations

import socket
from typing import Any

from roost.errors import RoostError
from roost.local.deadline import Deadline
from roost.vocabulary import HELLO_SECONDS, KIB, LINK_FRAME_BYTES
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import Hello, Welcome, parse_welcome

READ_BYTES = 64 * KIB


def greet(sock: socket.socket, hello: Hello) -> Welcome:
    """Return the broker's welcome, after which the broker waits for a request.

    Raises the ``RoostError`` that the broker answers, ``ConnectionResetError`` if the broker closes
    the connection, ``TimeoutError`` if it says nothing.
    """
    deadline = Deadline(HELLO_SECONDS)
    sock.settimeout(HELLO_SECONDS)
    sock.sendall(encode_line({"hello": hello.to_wire()}))
    frames = JsonLines(LINK_FRAME_BYTES)
    while data := sock.recv(READ_BYTES):
        for message in frames.feed(data):
            return _welcomed(message)
        if deadline.has_passed():
            raise TimeoutError
    raise ConnectionResetError


def _welcomed(message: Any) -> Welcome:
    if isinstance(message, dict) and isinstance(message.get("error"), dict):
        raise RoostError.from_wire(message["error"])
    return parse_welcome(message.get("welcome") if isinstance(message, dict) else None)
