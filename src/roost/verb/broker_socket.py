"""The connection to a running broker: find its socket, say hello and the call, read the answer.

This file handles only a broker that runs. It raises ``NoBrokerError`` if no broker answers or
something about the files of ROOST_HOME is not as it should be; ``start.py`` then finds out what.
"""

import os
from _socket import AF_UNIX, SOCK_STREAM, socket

from roost.verb.plain_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ANSWER_SECONDS = 330.0
"""No call lasts longer: the broker's own limit is 300 s."""
_FILE_BYTES = 65536
_READ_BYTES = 262144


class NoBrokerError(Exception):
    """No broker answers at the socket, or the files that name it cannot be trusted."""


class LostError(Exception):
    """The broker went away before it answered."""


def home() -> str:
    """Return ROOST_HOME, as ``roost.local.home`` finds it."""
    given = os.environ.get("ROOST_HOME")
    if given:
        return os.path.abspath(given)
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir + "/.local/state/roost"


def connect(folder: str) -> "tuple[socket, str]":
    """Return a connected socket and the operator's token.

    Raises ``PermissionError`` if the system forbids the connection, as a sandbox does.
    """
    try:
        path = loads(_secret(folder + "/endpoint.json"))["socket"]
        token = _secret(folder + "/token").strip()
    except (OSError, ValueError, LookupError, TypeError):
        path = token = ""
    # Connect even if no broker runs: in a sandbox, starting one would not help.
    sock = socket(AF_UNIX, SOCK_STREAM)
    sock.settimeout(ANSWER_SECONDS)
    try:
        sock.connect(path or folder + "/no-broker")
    except PermissionError:
        sock.close()
        raise
    except OSError:
        sock.close()
        raise NoBrokerError from None
    return sock, token


def ask(
    sock: "socket",
    hello: "dict[str, Any]",
    call: "dict[str, Any]",
    progress: "Callable[[str], None]",
) -> "tuple[dict[str, Any], dict[str, Any]]":
    """Say hello and the call. Return the broker's welcome and its answer.

    progress: called with what the broker says while it works.
    """
    welcome: dict[str, Any] = {}
    try:
        sock.sendall((dumps({"hello": hello}) + "\n" + dumps(call) + "\n").encode())
        pieces: list[bytes] = []
        while data := sock.recv(_READ_BYTES):
            pieces.append(data)
            if b"\n" not in data:
                continue
            *lines, rest = b"".join(pieces).split(b"\n")
            pieces = [rest]
            for line in lines:
                message = loads(line.decode())
                if "text" in message or "error" in message:
                    return welcome, message
                welcome = message.get("welcome", welcome)
                if "progress" in message:
                    progress(message["progress"])
    except (OSError, ValueError):
        raise LostError from None
    raise LostError


def _secret(path: str) -> str:
    """Return the text of a file that only this user can read."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise ValueError(path)
        return os.read(fd, _FILE_BYTES).decode()
    finally:
        os.close(fd)
