"""Install what the tests need beside Roost and its Python tools. ``make test`` runs it.

The tests need browsers, a virtual screen and real pages. All come from the system's package
manager, PyPI or npm. For what cannot be installed, the program prints the command to type.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BROWSERS = ("chromium", "firefox")
PROGRAMS = {
    "Xvfb": "xvfb",
    "bwrap": "bubblewrap",
    "fish": "fish",
    "socat": "socat",
    "tmux": "tmux",
    "zsh": "zsh",
}
"""Programs that tests run, each with Debian's package. bwrap and socat: Claude Code's sandbox."""
PAGES = {"/usr/share/doc/python3-doc/html/library/functions.html": "python3-doc"}
# Only its task pages are used. Its dependencies would bring a browser driver of their own.
TASK_PAGES = "miniwob>=1,<2"
UV = "uv>=0.9,<1"
"""A launcher that agents use; a test runs commands below it."""
FLEET = "ray>=2.55,<3"
"""The extra ``fleet``, without which the tests of a fleet on Ray are skipped."""
# Third-party clients, a Node that is new enough for all of them, and a linter for extensions.
NODE_CLIENTS = (
    "@modelcontextprotocol/sdk@^1",
    "@modelcontextprotocol/client@^2",
    "@modelcontextprotocol/inspector@^2",
    "@modelcontextprotocol/conformance@^0.1",
    "node@^24",
    "puppeteer-core@^24",
    "@playwright/mcp@^0.0.83",
    "chrome-devtools-mcp@^1",
    "web-ext@^8",
    "axe-core@^4",
)
NODE_FOLDER = Path(sys.prefix) / "node-clients"
# Coding agents, as tests/e2e/clients runs them. Their releases are pinned in that file only.
AGENT_VERSIONS = Path(__file__).resolve().parents[1] / "tests/e2e/clients/versions.json"
AGENT_FOLDER = Path(sys.prefix) / "agent-clients"


def main() -> int:
    python = [sys.executable, "-m"]
    for browser in BROWSERS:
        subprocess.run([*python, "roost", "browser", "install", browser], check=True)
    pip = [*python, "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, TASK_PAGES, UV], check=True)
    subprocess.run([*pip[:-1], FLEET], check=False)
    missing = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    missing += [package for path, package in PAGES.items() if not Path(path).exists()]
    missing += ["nodejs", "npm"] if shutil.which("npm") is None else []
    code = _install(missing) if missing else 0
    if code == 0:
        _fetch(NODE_FOLDER, NODE_CLIENTS)
        pinned = json.loads(AGENT_VERSIONS.read_text(encoding="utf-8"))
        _fetch(AGENT_FOLDER, [f"{name}@{version}" for name, version in pinned.items()])
    return code


def _fetch(folder: Path, packages: Sequence[str]) -> None:
    """Install packages of Node. Where npm cannot fetch them, their tests are skipped."""
    if all(_is_installed(folder, package) for package in packages):
        return
    folder.mkdir(exist_ok=True)
    options = ["--silent", "--no-audit", "--no-fund", "--no-package-lock", "--no-save"]
    command = ["npm", "install", "--prefix", str(folder), *options, *packages]
    print(f"$ {' '.join(command)}", file=sys.stderr)  # noqa: T201
    if subprocess.run(command, check=False).returncode:
        print("npm cannot fetch them: the tests with clients in Node are skipped.", file=sys.stderr)  # noqa: T201


def _is_installed(folder: Path, package: str) -> bool:
    """Return whether npm has installed the package, in the release that is pinned, if one is."""
    name, _, release = package.rpartition("@")
    about = folder / "node_modules" / name / "package.json"
    if not about.exists():
        return False
    is_pinned = release[0].isdigit()
    return not is_pinned or json.loads(about.read_text(encoding="utf-8"))["version"] == release


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
