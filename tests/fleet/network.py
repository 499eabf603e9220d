"""Network namespaces as machines: a bridge, and a pair of virtual links for each machine.

The test's own process is on the bridge, so it reaches all machines. The machines share files and
processes with the test, and have addresses of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from roost.fleet.ray_runtime import remove_scratch
from roost.local.home import Home
from roost.local.processes import Process, identify

ROOST = [sys.executable, "-m", "roost"]
COMMAND_SECONDS = 150.0


@dataclass(frozen=True)
class Host:
    """One machine: its namespace, its address and its ROOST_HOME."""

    namespace: str
    address: str
    home: Path

    def roost(self, *arguments: str) -> str:
        """Run a command of Roost on this machine, and return what it prints."""
        done = self.start(*arguments)
        try:
            said, problem = done.communicate(timeout=COMMAND_SECONDS)
        finally:
            done.kill()
        assert done.returncode == 0, f"roost {' '.join(arguments)}: {said}{problem}"
        return said

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["ip", "netns", "exec", self.namespace, *ROOST, *arguments],
            env=os.environ | {"ROOST_HOME": str(self.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def set_link(self, *, is_up: bool) -> None:
        """Plug the machine's cable in or out."""
        _ip("-n", self.namespace, "link", "set", "eth0", "up" if is_up else "down")

    def processes(self, *words: str) -> list[Process]:
        """Return the processes of this machine whose command line contains all those words."""
        return [
            process
            for process, line in _processes_of(self.home)
            if all(word in line for word in words)
        ]


def reason_not_to() -> str | None:
    """Return why namespaces cannot be made here, or None if they can."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "network namespaces need root and iproute2"
    name = f"roost{os.getpid()}t"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode:
        return "network namespaces cannot be made here"
    _ip("netns", "del", name)
    return None


@contextmanager
def hosts(folder: Path, count: int) -> Iterator[list[Host]]:
    """Make machines, and remove them with all their processes afterwards."""
    tag = f"rt{os.getpid() % 100_000}"
    net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
    with ExitStack() as stack:
        _ip("link", "add", tag, "type", "bridge")
        stack.callback(_ip, "link", "del", tag)
        _ip("addr", "add", f"{net}.254/24", "dev", tag)
        _ip("link", "set", tag, "up")
        made = []
        for number in range(1, count + 1):
            home = folder / f"m{number}"
            home.mkdir(mode=0o700)
            host = Host(f"{tag}n{number}", f"{net}.{number}", home)
            _ip("netns", "add", host.namespace)
            stack.callback(_ip, "netns", "del", host.namespace)
            link = f"{tag}v{number}"
            _ip(
                "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", host.namespace
            )
            _ip("link", "set", link, "master", tag, "up")
            _ip("-n", host.namespace, "addr", "add", f"{host.address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", host.namespace, "link", "set", device, "up")
            stack.callback(_end_all, home)
            made.append(host)
        yield made


def _end_all(home: Path) -> None:
    """Kill what is left of a machine."""
    while found := [process for process, _ in _processes_of(home)]:
        for process in found:
            with suppress(OSError):
                os.kill(process.pid, 9)
    remove_scratch(Home(home))


def _processes_of(home: Path) -> Iterator[tuple[Process, str]]:
    mark = f"ROOST_HOME={home}".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with suppress(OSError):
            if mark not in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                continue
            line = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            if (process := identify(int(entry))) is not None:
                yield process, line


def _ip(*arguments: str) -> None:
    command: Sequence[str] = ("ip", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
