"""Where the remote agent of a running Firefox listens, if it was started with one.

https://firefox-source-docs.mozilla.org/remote/ — ``--remote-debugging-port`` on its command line,
and ``WebDriverBiDiServer.json`` in its profile, say which port. Both may be wrong by now, and
another user's process may have taken that port: so a port counts only if the kernel says that this
very process listens there, on loopback. Where the kernel does not say (macOS), none is found.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from roost.local.tcp_peers import listening

_OPTION: Final = "remote-debugging-port"
_PROFILE: Final = "profile"
_USUAL: Final = 9222
_SAID: Final = "WebDriverBiDiServer.json"


def has_remote(pid: int) -> bool:
    return _option(_command(pid), _OPTION) is not None


def remote_port(pid: int) -> int | None:
    command = _command(pid)
    asked = _option(command, _OPTION)
    if asked is None:
        return None
    port = int(asked) if asked.isdecimal() else _USUAL
    return _port(port, _option(command, _PROFILE), listening(pid))


def _port(asked: int, profile: str | None, there: frozenset[int]) -> int | None:
    """With 0, Firefox takes any that is free, and writes which into its profile."""
    if asked == 0 and profile is not None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            asked = int(json.loads((Path(profile) / _SAID).read_bytes())["ws_port"])
    if asked == 0 and len(there) == 1:
        (asked,) = there
    return asked if asked in there else None


def _option(command: list[str], name: str) -> str | None:
    """An option's value; empty where it has none. Firefox takes one dash or two."""
    for index, word in enumerate(command[1:], 1):
        given, _, value = word.lstrip("-").partition("=")
        if word.startswith("-") and given == name:
            following = command[index + 1] if index + 1 < len(command) else ""
            return value or ("" if following.startswith("-") else following)
    return None


def _command(pid: int) -> list[str]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return [word.decode(errors="replace") for word in words[:-1]]
