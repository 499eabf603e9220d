"""Follow the README from top to bottom on a new Debian, as a newcomer would.

    sudo python tools/fresh_debian.py [--suite trixie] [--share FOLDER …] [--tests]

debootstrap makes the system in a temporary folder: Debian's base, Python, make and nothing else.
The commands are those of the README's and the tutorial's blocks, as they stand there. The files
that tell this machine's pip and apt where their registries are, are copied in while the program
runs, and nothing of them is kept. Needs root and debootstrap.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ca-certificates", "make", "python3", "python3-venv")
REGISTRY_FILES = (
    "etc/apt/apt.conf.d", "etc/ca-certificates.conf", "etc/pip.conf", "etc/resolv.conf",
    "etc/ssl/certs", "root/.config/pip/pip.conf", "root/.pip/pip.conf", "root/.config/uv/uv.toml",
    "usr/local/share/ca-certificates",
)  # fmt: skip
VARIABLES = re.compile(r"(PIP_|UV_|SSL_|REQUESTS_CA|CURL_CA|NODE_EXTRA_CA|.*_proxy$|.*_PROXY$)")
UV = "python3 -m venv /root/uv && /root/uv/bin/pip install -qq uv"
PATH = "/root/.local/bin:/root/uv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MOUNTS = {"proc": "proc", "sysfs": "sys", "tmpfs": "dev/shm"}
SECONDS = 1800.0


class Failed(Exception):
    """A command of the README did not work on the new system."""


class Debian:
    """A new system in a folder. Commands run in it as root, in ``/root/roost``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, suite: str, mirror: str, shared: list[str]) -> None:
        _say(f"debootstrap: {suite}")
        line = ["debootstrap", "--variant=minbase", suite, str(self.folder), mirror]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)
        for name in REGISTRY_FILES:
            self._copy(Path("/") / name)
        for name in shared:
            self._copy(Path(name))
        for kind, name in MOUNTS.items():
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "-t", kind, kind, str(self.folder / name)], check=True)
        files = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True
        )
        for name in files.stdout.decode().split("\0")[:-1]:
            target = self.folder / "root/roost" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        self.run("apt-get update -qq")
        self.run(f"apt-get install -y -qq --no-install-recommends {' '.join(PACKAGES)}")

    def remove(self) -> None:
        """End the system's processes, and delete it. A folder that stays mounted is not deleted."""
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.readlink(process / "root").startswith(str(self.folder)):
                    os.kill(int(process.name), signal.SIGKILL)
        mounts = [self.folder / name for name in MOUNTS.values()]
        for place in mounts:
            subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
        if any(os.path.ismount(place) for place in mounts):
            _say(f"{self.folder} is still mounted: delete it by hand")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, command: str, *, shown: bool = False) -> str:
        """Run a command of the shell and return what it says. Raise ``Failed`` if it fails."""
        environ = {name: value for name, value in os.environ.items() if VARIABLES.match(name)}
        environ |= {"PATH": PATH, "HOME": "/root", "TERM": "dumb", "LANG": "C.UTF-8"}
        environ["DEBIAN_FRONTEND"] = "noninteractive"
        begun = time.perf_counter()
        done = subprocess.run(
            ["chroot", str(self.folder), "/bin/bash", "-ec", f"cd /root/roost\n{command}"],
            env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        took = time.perf_counter() - begun
        if shown:
            _say(f"$ {command.strip()}  [{took:.0f} s]")
            _say("".join(f"  {line}\n" for line in done.stdout.splitlines()[-6:]).rstrip())
        if done.returncode:
            raise Failed(f"`{command}` answered {done.returncode}:\n{done.stdout[-4000:]}")
        return done.stdout

    def _copy(self, path: Path) -> None:
        target = self.folder / path.relative_to("/")
        if path.is_dir():
            shutil.copytree(path, target, dirs_exist_ok=True)
        elif path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=True)


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def follow(debian: Debian, *, tests: bool) -> None:
    """Run the README's commands in their order, then the tutorial's."""
    debian.run(UV)  # the README's first command needs uv, which Debian does not have
    for block in blocks("README.md", "sh"):
        for line in block.splitlines():
            if line.strip():
                debian.run(_without_terminal(line), shown=True)
    (made,) = blocks("README.md", "shell")
    for line in made.splitlines():
        # All tests take an hour and many packages more; `--tests` runs them.
        command = line if tests else line.replace("make test ", "make test-fast ")
        debian.run(command, shown=True)
    (agent,) = blocks("docs/tutorial.md", "python")
    (debian.folder / "root/roost/agent.py").write_text(agent, encoding="utf-8")
    tutorial = "\n".join(blocks("docs/tutorial.md", "sh"))
    # The tutorial's web site runs until its shell ends.
    entered = "trap 'kill $(jobs -p)' EXIT\n. .venv/bin/activate\n"
    entered += 'roost() { command roost --operator "$@"; }\n'
    said = debian.run(f"{entered}{tutorial}")
    for promised in "\n".join(blocks("docs/tutorial.md", "text")).splitlines():
        if promised not in said:
            raise Failed(f"The tutorial did not say “{promised}”:\n{said[-4000:]}")
    _say("the tutorial says what it promises")


def _without_terminal(line: str) -> str:
    """Return the command for a shell without a terminal, in which nobody is the operator."""
    needs_operator = re.match(r"roost (session|log)\b", line)
    return line.replace("roost ", "roost --operator ", 1) if needs_operator else line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--suite", default="trixie", help="Debian's release (default: trixie)")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="FOLDER",
        help="copy this folder of the machine, too (a local package registry)",
    )
    parser.add_argument("--tests", action="store_true", help="also run `make test`")  # fmt: skip
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="roost-debian-"))
    debian = Debian(folder)
    try:
        debian.make(options.suite, options.mirror, options.share)
        follow(debian, tests=options.tests)
    except Failed as problem:
        _say(f"FAILED: {problem}")
        return 1
    finally:
        debian.remove()
    _say("The README holds on a new Debian.")
    return 0


def _say(what: str) -> None:
    print(what, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
