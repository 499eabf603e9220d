"""A process's ancestors, under every name they are known by.

The kernel's own name of a process is not enough. An agent's client may be ``node`` with a script,
npx calls itself ``npm exec …``, an editor's server runs from a folder that names it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from roost.local.processes import (
    DEPTH_MAX,
    Process,
    ancestors,
    command_lines,
    has_terminal,
    identify,
)
from roost.vocabulary import CLIENT_VARIABLES

_INTERPRETER: Final = re.compile(r"(python|pypy|node|bun|deno|ruby|perl)[\d.]*")

_VERSION: Final = re.compile(r"v?\d+(\.\d+)+[\w.+-]*")


@dataclass(frozen=True, slots=True)
class Relative:
    """One ancestor of a process."""

    process: Process
    names: frozenset[str]
    """All names of the process: from the kernel, its program file, its first argument, and the
    script that an interpreter runs."""
    folders: frozenset[str] = frozenset()
    """All folders above its program file."""
    control_group: str = ""
    """The process's control group (Linux)."""
    variables: frozenset[str] = frozenset()
    """The names of the ``CLIENT_VARIABLES`` that the process was started with (Linux)."""

    @property
    def program(self) -> str:
        return self.process.program


@dataclass(frozen=True, slots=True)
class Lineage:
    """A process and its ancestors as they were at one moment."""

    above: tuple[Relative, ...] = ()
    """The parent, its parent, and so on."""
    program: str = ""
    has_terminal: bool = False
    control_group: str = ""
    """The process's control group (Linux). A process stays in it even after its parent has
    ended."""
    variables: frozenset[str] = frozenset()
    """The names of the ``CLIENT_VARIABLES`` that the process was started with (Linux)."""

    @property
    def is_whole(self) -> bool:
        """True if ``above`` reaches the top of the process tree."""
        return len(self.above) < DEPTH_MAX

    def __str__(self) -> str:
        """Return program names only, because arguments may hold secrets."""
        return " < ".join([self.program or "?", *(one.program for one in self.above)])


def lineage(pid: int) -> Lineage:
    """Return the lineage of the process with that pid, empty if the process cannot be seen."""
    process = identify(pid)
    if process is None:
        return Lineage()
    above = ancestors(pid)
    lines = command_lines([one.pid for one in above])
    return Lineage(
        above=tuple(_relative(one, lines.get(one.pid, [])) for one in above),
        program=process.program,
        has_terminal=has_terminal(pid),
        control_group=_control_group(pid),
        variables=_client_variables(pid),
    )


def description(pid: int) -> str:
    """Describe the process's program and folder for a person, as the kernel reports them.

    Leaves out version numbers, so that an updated program stays the same one. Empty if the process
    cannot be inspected.
    """
    process, file, folder = identify(pid), _program_file(pid), working_directory(pid)
    if process is None:
        return ""
    arguments = command_lines([pid]).get(pid, [])
    words = [file or process.program]
    if _INTERPRETER.fullmatch(os.path.basename(file) or process.program):
        script = _script(arguments[1:])
        if script:
            is_file = folder and ("/" in script or os.path.exists(os.path.join(folder, script)))
            words.append(os.path.normpath(os.path.join(folder, script)) if is_file else script)
    return f"{' '.join(map(_without_versions, words))}{f' in {folder}' if folder else ''}"


def _without_versions(path: str) -> str:
    return "/".join(part for part in path.split("/") if not _VERSION.fullmatch(part))


def _relative(process: Process, arguments: Sequence[str]) -> Relative:
    file = _program_file(process.pid)
    names = frozenset(_names(process.program, os.path.basename(file), arguments))
    folders = frozenset(file.split("/")[:-1]) - {""}
    group, variables = _control_group(process.pid), _client_variables(process.pid)
    return Relative(process, names, folders, group, variables)


def _names(program: str, file: str, arguments: Sequence[str]) -> Iterator[str]:
    first = os.path.basename(arguments[0]).lstrip("-") if arguments else ""
    for name in (program, file, first):
        if name:
            yield from (name, name.removesuffix(".exe"))  # npm's Claude Code is claude.exe
            # Processes that write their own title: "npm exec roost", "sshd: me@pts/0".
            yield name.split()[0].rstrip(":") if name.split() else name
    if any(_INTERPRETER.fullmatch(name) for name in (program, file, first)):
        script = _script(arguments[1:])
        if script:
            name = os.path.basename(script)
            yield from (name, name.removesuffix(".js"))


def _script(arguments: Sequence[str]) -> str | None:
    """Return what an interpreter runs: the module after ``-m``, else the first non-option word."""
    for number, word in enumerate(arguments):
        if word in ("-c", "-e"):  # code, not a file
            return None
        if word == "-m":
            return next(iter(arguments[number + 1 :]), None)
        if not word.startswith("-"):
            return word
    return None


def _program_file(pid: int) -> str:
    if sys.platform == "linux":
        with suppress(OSError):  # another user's process
            return os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
    return ""


def working_directory(pid: int) -> str:
    """Return the working directory of the process, or "" if it cannot be seen."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.readlink(f"/proc/{pid}/cwd").removesuffix(" (deleted)")
    return ""


def _client_variables(pid: int) -> frozenset[str]:
    if sys.platform == "linux":
        with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            names = {os.fsdecode(entry.partition(b"=")[0]) for entry in file.read().split(b"\0")}
            return CLIENT_VARIABLES & names
    return frozenset()


def _control_group(pid: int) -> str:
    if sys.platform == "linux":
        with suppress(OSError), open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
            return file.read()
    return ""
