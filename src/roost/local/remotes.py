"""Find the port of a running Firefox's remote agent, if Firefox was started with one.

``--remote-debugging-port`` on Firefox's command line and ``WebDriverBiDiServer.json`` in its
profile name the port (https://firefox-source-docs.mozilla.org/remote/). Both may be outdated, and
another user's process may have taken the port. So a port counts only if the kernel says that this
process listens there, on loopback. Where the kernel does not tell (macOS), no port is found.
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
    """Return whether Firefox was started with its remote agent."""
    return _option(_command(pid), _OPTION) is not None


def remote_port(pid: int) -> int | None:
    """Return the port that Firefox's remote agent listens on, or None."""
    command = _command(pid)
    asked = _option(command, _OPTION)
    if asked is None:
        return None
    port = int(asked) if asked.isdecimal() else _USUAL
    return _port(port, _option(command, _PROFILE), listening(pid))


def _port(asked: int, profile: str | None, there: frozenset[int]) -> int | None:
    """Return the port if Firefox listens on it.

    For port 0, Firefox takes any free port and writes it into its profile.
    """
    if asked == 0 and profile is not None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            asked = int(json.loads((Path(profile) / _SAID).read_bytes())["ws_port"])
    if asked == 0 and len(there) == 1:
        (asked,) = there
    return asked if asked in there else None


def _option(command: list[str], name: str) -> str | None:
    """Return an option's value, empty if it has none. Firefox accepts one dash or two."""
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
