"""What the tests need beside Roost and its Python tools: browsers, a virtual screen, real pages.

Everything comes from the system's package manager or from PyPI; what cannot be installed is named
with the words to type. Run by `make test`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "firefox")
PROGRAMS = {"Xvfb": "xvfb"}
PAGES = {"/usr/share/doc/python3-doc/html/library/functions.html": "python3-doc"}
# Only its task pages are used: what it wants to import would bring a browser driver of its own.
TASK_PAGES = "miniwob>=1,<2"


def main() -> int:
    python = [sys.executable, "-m"]
    for browser in BROWSERS:
        subprocess.run([*python, "roost", "browser", "install", browser], check=True)
    subprocess.run(
        [*python, "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps", TASK_PAGES],
        check=True,
    )
    missing = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    missing += [package for path, package in PAGES.items() if not Path(path).exists()]
    return _install(missing) if missing else 0


def _install(packages: list[str]) -> int:
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    if os.getuid() != 0:
        command.insert(0, "sudo")
    if shutil.which("apt-get") is None:
        print(f"The tests need {', '.join(packages)}: please install them.", file=sys.stderr)  # noqa: T201
        return 1
    print(f"$ {' '.join(command)}", file=sys.stderr)  # noqa: T201
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    update = ["apt-get", "update", "-qq"]
    subprocess.run(update if os.getuid() == 0 else ["sudo", *update], check=True)
    return subprocess.run(command, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
