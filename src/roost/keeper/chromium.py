"""Starts a Chromium with its debugging pipe and asks it for its version."""

from __future__ import annotations

import fcntl
import json
import os
import select
from pathlib import Path
from typing import Any

from roost.errors import BrowserLost
from roost.keeper.browser_process import START_SECONDS, Spawned, last_line, spawn, unwatched
from roost.keeper.wires import PipeWire
from roost.link.cdp_memory import CdpMemory
from roost.link.relay import HeldBrowser
from roost.local.deadline import Deadline
from roost.local.singleton import socket_folder

_PROFILE = "--user-data-dir="


def start(command: list[str], log: Path, spawned: Spawned = unwatched) -> HeldBrowser:
    """Start the browser with its debugging pipe on descriptors 3 and 4.

    Raises ``BrowserLost`` if the browser cannot run or does not answer.
    """
    commands, pipe_in = os.pipe()
    pipe_out, replies = os.pipe()
    # Move our ends above 3 and 4, or one dup2 would overwrite a descriptor the other still needs.
    commands, replies = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (commands, replies))
    try:
        pid = spawn(command, log, {3: commands, 4: replies})
    finally:
        os.close(commands)
        os.close(replies)
    spawned(pid)
    about = _version(pipe_in, pipe_out, log)
    return HeldBrowser(pid, PipeWire(pipe_in, pipe_out), CdpMemory(next_id=2), about)


def socket_folder_of(command: list[str]) -> Path | None:
    """Return the folder for its socket that the running browser made outside its profile, if any.

    Call it while the browser runs: Chromium removes the link to the folder when it ends in order,
    but leaves the folder.
    """
    profiles = [one.removeprefix(_PROFILE) for one in command if one.startswith(_PROFILE)]
    return socket_folder(Path(profiles[-1])) if profiles else None


def _version(pipe_in: int, pipe_out: int, log: Path) -> dict[str, Any]:
    """Ask the browser for its version, which proves that it runs."""
    os.write(pipe_in, b'{"id":1,"method":"Browser.getVersion"}\0')
    deadline, answer = Deadline(START_SECONDS), b""
    poll = select.poll()
    poll.register(pipe_out, select.POLLIN)
    while not answer.endswith(b"\0"):
        if not poll.poll(deadline.remaining() * 1000):
            raise BrowserLost("The browser does not answer.", hint=f"See {log}.")
        data = os.read(pipe_out, 64 * 1024)
        if not data:
            raise BrowserLost(f"The browser ended at once: {last_line(log)}", hint=f"See {log}.")
        answer += data
    version = json.loads(answer.rstrip(b"\0"))["result"]
    return {"product": version["product"], "userAgent": version["userAgent"]}
