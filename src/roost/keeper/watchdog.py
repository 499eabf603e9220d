"""The watchdog: a process that ends the browser once its keeper is gone, however the keeper ended.

Chromium ends by itself when its debugging pipe closes. Firefox does not: without a watchdog, a
Firefox whose keeper was killed runs on with the agents' pages. The kernel closes the keeper's end
of a pipe whatever kills the keeper, so the watchdog waits for that, on Linux and macOS alike.
"""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

from roost.local.processes import Process, end_tree, identify
from roost.local.singleton import remove_socket_folder

GRACE_SECONDS: Final = 2.0
_CHUNK: Final = 4096
NAME: Final = "roost-watchdog"
"""The watchdog's process name. Its command line is the keeper's, because it is a fork."""


class Watchdog:
    """The keeper's end of the pipe to the watchdog. The browser does not inherit the pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def watch(self, pid: int, folder: Path | None = None) -> None:
        """Tell the watchdog which browser to end and which folder to remove after the keeper's end.

        The keeper calls this as soon as the browser is spawned, and again once it knows the folder.
        """
        browser = identify(pid)
        if browser is None:
            return
        said = {"pid": browser.pid, "started": browser.started, "folder": str(folder or "")}
        with suppress(BrokenPipeError):  # the watchdog was killed; the keeper works without it
            os.write(self._pipe, json.dumps(said).encode() + b"\n")


def start_watchdog(*, closing: int) -> Watchdog:
    """Fork the watchdog.

    Call this before the browser starts, so that the watchdog inherits none of the browser's
    descriptors, and before any thread runs.

    closing: a further descriptor that the watchdog must close.
    """
    told, telling = os.pipe()
    if os.fork():
        os.close(told)
        return Watchdog(telling)
    try:
        os.close(telling)
        os.close(closing)
        _wait_and_end(told)
    finally:
        os._exit(0)


def _wait_and_end(told: int) -> None:
    with suppress(OSError):  # Linux: lets a process list tell the watchdog from its keeper
        Path("/proc/self/comm").write_text(NAME, encoding="ascii")
    # Its own session, because a signal to the keeper's process group must not end the watchdog.
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    said = b""
    while data := os.read(told, _CHUNK):
        said += data
    if not said:
        return  # the keeper ended before it had a browser
    about = json.loads(said.splitlines()[-1])
    end_tree(Process(about["pid"], about["started"]), GRACE_SECONDS)
    if about["folder"]:
        remove_socket_folder(Path(about["folder"]))
