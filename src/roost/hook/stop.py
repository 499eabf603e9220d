"""``roost hook stop``: Claude Code asks whether the agent may stop.

Claude Code writes JSON to stdin and reads the decision from stdout. While a focus loop is active in
the agent's session, the hook tells the agent to continue with the loop's prompt. In every other
case, including failures, the hook writes nothing and the agent stops. The hook takes at most a
second.

``stop_hook_active`` in the input says that a Stop hook has already made the agent continue. In a
focus loop that is normal, so the hook ignores it. The broker's limits on iterations and on time end
a loop.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from typing import Any, Final

from roost.errors import RoostError
from roost.hook.transcript import last_message
from roost.local.broker_start import connect
from roost.local.deadline import Deadline
from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.vocabulary import AGENT_FRAME_BYTES, LINK_FRAME_BYTES, SessionId, is_session_id
from roost.wire.framing import JsonLines, encode_line
from roost.wire.hello import ClientKind, Hello

SECONDS: Final = 1.0
"""Time for the whole hook. The client waits for it, often with a person watching."""
SAID_CHARS: Final = 1_000_000
_READ_BYTES: Final = 256 * 1024
_CALL: Final = 1


def run() -> int:
    """Run the hook. Return 0 also on failure, so that a failure neither holds the agent nor shows
    an error."""
    deadline = Deadline(SECONDS)
    try:
        given = _input(sys.stdin.fileno(), deadline)
        loop = None if given is None else _turn(Home.find(), given, deadline)
        if loop is not None and loop.get("active"):
            sys.stdout.write(json.dumps(_go_on(loop)) + "\n")
            sys.stdout.flush()
    except (OSError, ValueError, RecursionError, RoostError):
        pass
    return 0


def _input(stdin: int, deadline: Deadline) -> dict[str, Any] | None:
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


def _turn(home: Home, given: dict[str, Any], deadline: Deadline) -> dict[str, Any] | None:
    """Tell the broker that the agent wants to stop. Return the broker's answer about the loop."""
    if read_endpoint(home) is None:
        return None  # no broker, so no loop: do not spend a second on connecting
    hello = Hello(
        token=home.operator_token(),
        kind=ClientKind.HOOK,
        session=_session(given.get("session_id")),
    )
    turn = {"id": _CALL, "op": "loop_turn", "args": {"said": _said(given)[-SAID_CHARS:]}}
    with connect(home, timeout_seconds=deadline.remaining()) as sock:
        sock.settimeout(deadline.remaining())
        sock.sendall(encode_line({"hello": hello.to_wire()}) + encode_line(turn))
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
                case {"id": 1, "ok": dict(loop)}:
                    return loop
                case {"error": _}:
                    return None
    return None


def _session(given: object) -> SessionId | None:
    return SessionId(given) if isinstance(given, str) and is_session_id(given) else None


def _said(given: dict[str, Any]) -> str:
    """Return the agent's last message from the transcript and from the hook's input.

    The client writes the transcript with a delay. Some clients also put the message into the input.
    """
    path, last = given.get("transcript_path"), given.get("last_assistant_message")
    said = last_message(path) if isinstance(path, str) else ""
    return f"{said}\n{last}" if isinstance(last, str) else said


def _go_on(loop: dict[str, Any]) -> dict[str, str]:
    most = loop.get("maxIterations")
    count = f"{loop['iteration']}/{most}" if most else f"{loop['iteration']} (no limit)"
    return {
        "decision": "block",
        "reason": loop["prompt"],
        "systemMessage": f"Roost focus loop: iteration {count}",
    }
