"""What the hooks have in common: they read the client's JSON and ask the broker one thing."""

from __future__ import annotations

import json
import os
import select
import socket
from typing import Any, Final

from roost.local.broker_start import connect
from roost.local.deadline import Deadline
from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.vocabulary import AGENT_FRAME_BYTES, LINK_FRAME_BYTES, SessionId, is_session_id
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import ClientKind, Hello

_READ_BYTES: Final = 256 * 1024
_CALL: Final = 1


def input_of(stdin: int, deadline: Deadline) -> dict[str, Any] | None:
    """Read the client's JSON object until the client closes the pipe.

    Returns None if the input is not an object, too long, or not complete in time.
    """
    read = bytearray()
    poll = select.poll()
    poll.register(stdin, select.POLLIN)
    while len(read) <= AGENT_FRAME_BYTES and poll.poll(deadline.remaining() * 1000):
        chunk = os.read(stdin, _READ_BYTES)
        if not chunk:
            given = json.loads(read)
            return given if isinstance(given, dict) else None
        read += chunk
    return None


def asked(
    home: Home, given: dict[str, Any], op: str, args: dict[str, Any], deadline: Deadline
) -> dict[str, Any] | None:
    """Call the operation as the hook of the client that ``given`` is from. Return the answer, or
    None if there is none."""
    if read_endpoint(home) is None:
        return None  # no broker runs: do not spend a second on connecting
    hello = Hello(
        token=home.operator_token(),
        kind=ClientKind.HOOK,
        session=_session(given.get("session_id")),
    )
    with connect(home, timeout_seconds=deadline.remaining()) as sock:
        sock.settimeout(deadline.remaining())
        call = {"id": _CALL, "op": op, "args": args}
        sock.sendall(encode_line({"hello": hello.to_wire()}) + encode_line(call))
        return _answer(sock, deadline)


def _answer(sock: socket.socket, deadline: Deadline) -> dict[str, Any] | None:
    frames = JsonLines(LINK_FRAME_BYTES)
    while not deadline.has_passed():
        sock.settimeout(deadline.remaining())
        data = sock.recv(_READ_BYTES)
        if not data:
            break
        for message in frames.feed(data):
            match message:
                case {"id": 1, "ok": dict(answer)}:
                    return answer
                case {"error": _}:
                    return None
    return None


def _session(given: object) -> SessionId | None:
    return SessionId(given) if isinstance(given, str) and is_session_id(given) else None
