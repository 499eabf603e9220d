"""The processes of one ROOST_HOME, by their part in Roost.

Other Roosts and other browsers run on the same machine, and a person may look at the home with
other programs. A process counts as ours only if it has a part and names our ROOST_HOME, if such a
process left it behind, or if it descends from one. Signals go to a pid whose start time was
checked.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from roost.keeper.watchdog import NAME
from roost.local.home import Home
from roost.local.processes import Process, identify, is_alive

INIT = 1
"""The parent of every process whose own parent has ended."""


class Part(StrEnum):
    """The part of a process in Roost."""

    SHIM = "shim"
    BROKER = "broker"
    KEEPER = "keeper"
    WATCHDOG = "watchdog"
    BROWSER = "browser"
    RENDERER = "renderer"
    STORAGE = "storage service"
    NETWORK = "network service"
    GPU = "gpu"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Found:
    """One living process of the home."""

    process: Process
    part: Part
    command: tuple[str, ...]


def processes_of(home: Home) -> list[Found]:
    """Return every living process of that home except this one."""
    commands, parents = _table()
    ours = {pid for pid, command in commands.items() if _is_ours(home, pid, command, parents[pid])}
    while below := {pid for pid in commands if parents[pid] in ours} - ours:
        ours |= below
    found = []
    for pid in sorted(ours):
        process = identify(pid)
        if process is not None:
            part = Part.WATCHDOG if _name(pid) == NAME else _part(commands[pid])
            found.append(Found(process, part, commands[pid]))
    return found


def send(process: Process, number: signal.Signals) -> bool:
    """Send the signal if exactly that process still lives. Return whether it was sent."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if not is_alive(process):
            return False
        signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(pidfd)
    return True


def _table() -> tuple[dict[int, tuple[str, ...]], dict[int, int]]:
    """Return the command line and the parent of every process."""
    commands, parents = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                line = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
                status = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                commands[int(folder.name)] = tuple(line.strip("\0").split("\0"))
                parents[int(folder.name)] = int(status[1])
    return commands, parents


def _is_ours(home: Home, pid: int, command: tuple[str, ...], parent: int) -> bool:
    path = os.fspath(home.path)
    if _part(command) is Part.BROWSER:
        return any(f"{path}/" in word for word in command)
    if _part(command) is Part.OTHER and parent != INIT:
        return False
    with suppress(OSError):
        environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return f"ROOST_HOME={path}".encode() in environ
    return False


def _name(pid: int) -> str:
    """Return the kernel's name of the process, which alone distinguishes a keeper's watchdog from
    the keeper."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _part(command: tuple[str, ...]) -> Part:
    # Chromium writes the arguments of its children into one word.
    line = " ".join(command)
    if "-m roost mcp" in line:
        return Part.SHIM
    if "-m roost.daemon" in line:
        return Part.BROKER
    if "-m roost.keeper" in line:
        return Part.KEEPER
    if "--type=renderer" in line or ("-contentproc" in line and "-isForBrowser" in line):
        return Part.RENDERER
    if "storage.mojom.StorageService" in line:
        return Part.STORAGE
    if "network.mojom.NetworkService" in line:
        return Part.NETWORK
    if "--type=gpu-process" in line:
        return Part.GPU
    is_browser = "--user-data-dir=" in line or "--profile " in line
    if is_browser and "--type=" not in line and "crashpad" not in line:
        return Part.BROWSER
    return Part.OTHER
