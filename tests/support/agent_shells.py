"""Shells inside process trees of our choice: as agents, people, editors and services run commands.

A tree is a list of programs, outermost first, for example ``["sshd", "bash", "claude"]``. Each is a
real process of that name (``/bin/sh`` under another name). The innermost one runs a shell that
takes commands from the test. The tree does not hang below the test: it is an orphan, so that
whoever runs the tests does not decide their outcome.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from roost.local.home import Home
from roost.local.processes import identify, wait_until_gone

SECONDS = 30.0
ROOST = f"{sys.executable} -P -m roost"
_LAUNCH = """
import fcntl, os, pty, sys, termios
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os.wait()
    os._exit(0)
if sys.argv[1] == "terminal":
    os.setsid()
    controller, tty = pty.openpty()
    fcntl.ioctl(tty, termios.TIOCSCTTY, 0)
    os.set_inheritable(controller, True)  # the terminal hangs up when its controller closes
os.execv(sys.argv[2], sys.argv[2:])
"""


class AgentShell:
    """A shell inside a tree."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def run(self, command: str) -> tuple[int, str]:
        """Run a command line; ``roost`` is on its PATH. Return exit code and output."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f'{{ {command}\n}} </dev/null 2>&1\necho "<<$?>>"\n')
        self._process.stdin.flush()
        lines: list[str] = []
        while line := self._process.stdout.readline():
            if line.startswith("<<"):
                return int(line.strip("<>\n")), "".join(lines)
            before, found, code = line.rstrip("\n").partition("<<")
            if found and code.endswith(">>"):
                return int(code.strip("<>")), "".join(lines) + before
            lines.append(line)
        raise AssertionError(f"the shell ended: {''.join(lines)}")

    def says(self, command: str) -> str:
        """Return what a command prints when all goes well."""
        code, output = self.run(command)
        assert code == 0, output
        return output.strip()

    def session(self, flags: str = "") -> str:
        """Return the session that a page verb uses here."""
        return self.says(f"roost {flags} session id --raw").splitlines()[-1]

    def kill(self, program: str) -> None:
        """Kill a program of the tree with kill -9, and wait until it is gone."""
        found = identify(int((self._folder / f"pid.{program}").read_text()))
        assert found is not None
        os.kill(found.pid, signal.SIGKILL)
        assert wait_until_gone(found, SECONDS)


@contextmanager
def agent_shell(
    programs: Sequence[str],
    folder: Path,
    home: Home,
    *,
    terminal: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Iterator[AgentShell]:
    """Start a shell below these programs.

    folder: an empty folder for the tree's files. The programs run in it.
    terminal: a terminal controls the tree, and the outermost program is the first of its session.
    environ: further variables that all programs are started with.
    """
    folder.mkdir(parents=True)
    tools = folder / "bin"
    tools.mkdir()
    (tools / "roost").write_text(f'#!/bin/sh\nexec {ROOST} "$@"\n')
    (tools / "roost").chmod(0o755)
    inner = "sh -s"
    for number, program in reversed(list(enumerate(programs))):
        script, link = folder / f"level{number}.sh", folder / "programs" / str(number) / program
        link.parent.mkdir(parents=True)
        link.symlink_to("/bin/sh")
        script.write_text(f"echo $$ > {folder}/pid.{program}\n{inner}\ntrue\n")
        inner = f"{link} {script}"
    path = f"{tools}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, "terminal" if terminal else "none", *inner.split()],
        env={"PATH": path, "ROOST_HOME": str(home.path), **(environ or {})},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield AgentShell(process, folder)
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()  # type: ignore[union-attr]
        assert process.stdout is not None
        process.stdout.read()  # until the last process of the tree has ended
        process.stdout.close()
        process.wait(SECONDS)
