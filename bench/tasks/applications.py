"""Real applications for the tasks: install them from package registries, start them on loopback.

Each application has a folder of its own below ``.venv/applications``. Nothing is installed into the
system: packages of Python go into a virtual environment, those of Node below a prefix, and those of
Debian are unpacked into a folder.
"""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roost.local.deadline import Deadline
from roost.local.processes import end_tree, identify

CACHE = Path(sys.prefix) / "applications"
NODE = Path(sys.prefix) / "node-clients/node_modules/.bin"
"""The folder of a Node that is new enough for every application, if ``make test`` fetched one."""
INSTALL_SECONDS = 900.0
START_SECONDS = 120.0


class NotInstalled(Exception):
    """An application cannot be installed, so that its task cannot run."""


@dataclass(frozen=True, slots=True)
class Application:
    """A running application. ``folder`` holds its data, and the files that an agent uploads."""

    address: str
    folder: Path


# --- installing ---------------------------------------------------------------------------------


def from_pypi(name: str, *packages: str) -> Path:
    """Return the folder with the programs of a virtual environment that has these packages."""
    folder = CACHE / name
    python = folder / "bin/python"
    if not _is_ready(folder, packages):
        _run(name, [sys.executable, "-m", "venv", "--clear", str(folder)])
        _run(name, [str(python), "-m", "pip", "install", "-qq", *packages])
        _remember(folder, packages)
    return python.parent


def from_npm(name: str, *packages: str) -> Path:
    """Return the ``node_modules`` that has these packages."""
    folder = CACHE / name
    if not _is_ready(folder, packages):
        folder.mkdir(parents=True, exist_ok=True)
        options = ["--silent", "--no-audit", "--no-fund", "--no-package-lock", "--no-save"]
        _run(name, ["npm", "install", "--prefix", str(folder), *options, *packages])
        _remember(folder, packages)
    return folder / "node_modules"


def from_debian(name: str, *packages: str) -> Path:
    """Return a folder into which these packages are unpacked as if it were ``/``."""
    folder = CACHE / name
    if not _is_ready(folder, packages):
        shutil.rmtree(folder, ignore_errors=True)
        archives = folder / "archives"
        archives.mkdir(parents=True)
        _run(name, ["apt-get", "download", "-qq", *packages], cwd=archives)
        for archive in archives.iterdir():
            _run(name, ["dpkg-deb", "-x", str(archive), str(folder)])
        _lead_inside(folder)
        _remember(folder, packages)
    return folder


def node_environment() -> dict[str, str]:
    """Return the environment for programs of Node."""
    return {**os.environ, "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}


def _is_ready(folder: Path, packages: Sequence[str]) -> bool:
    ready = folder / "ready"
    return ready.exists() and ready.read_text(encoding="utf-8").split() == list(packages)


def _remember(folder: Path, packages: Sequence[str]) -> None:
    (folder / "ready").write_text("\n".join(packages), encoding="utf-8")


def _run(name: str, command: Sequence[str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=node_environment(),
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{name} cannot be installed: {error}") from error
    if done.returncode:
        told = (done.stderr or done.stdout).strip()[-2000:]
        raise NotInstalled(f"{name} cannot be installed: `{' '.join(command)}` says: {told}")


def _lead_inside(folder: Path) -> None:
    """Let the absolute symbolic links of unpacked packages lead into the folder."""
    for link in folder.rglob("*"):
        if link.is_symlink() and (leads_to := os.readlink(link)).startswith("/"):
            link.unlink()
            link.symlink_to(f"{folder}{leads_to}")


# --- running ------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[object],
    folder: Path,
    *,
    answers: str | None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Run the server until the block ends. Begin when the address ``answers`` is served."""
    log = folder / f"{Path(str(command[0])).name}.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=environment or node_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        known = identify(process.pid)
        try:
            if answers is not None:
                _wait_until_served(answers, process, log)
            yield
        finally:
            if known is not None:
                end_tree(known, grace_seconds=10)
            process.wait(timeout=10)


def _wait_until_served(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = Deadline(START_SECONDS)
    while not _is_served(address):
        if process.poll() is not None or deadline.has_passed():
            told = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise AssertionError(f"Nothing is served at {address}. The server wrote: {told}")
        deadline.pause()


def _is_served(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=10):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, http.client.HTTPException):
        return False
