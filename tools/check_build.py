"""Test what ``make build`` has made: the wheel and the source archive, each in a new environment.

The wheel must hold everything that Roost needs when it runs and nothing that only its developers
need. The wheel that is built from the source archive must be the wheel that is built from the
tree. The environments have neither Node nor make on their PATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "roost/py.typed",
    "roost/page/bundle.js",
    "roost/shim/prepared_answers.json",
    "roost/extension/manifest.chromium.json",
    "roost/extension/manifest.firefox.json",
    "roost/plugin/.claude-plugin/plugin.json",
    "roost/plugin/.claude-plugin/marketplace.json",
    "roost/plugin/.mcp.json",
    "roost/plugin/hooks/hooks.json",
)
UNWANTED = ("tests", "bench", "node_modules", "__pycache__", ".venv", ".ci", ".github")
SECONDS = 600.0


class Wrong(Exception):
    """What was built is not what should be shipped."""


def main() -> int:
    dist = Path(sys.argv[1]).resolve()
    try:
        wheel, archive = _only(dist, "*.whl"), _only(dist, "*.tar.gz")
        _check_contents(wheel, archive)
        with tempfile.TemporaryDirectory(prefix="roost-build-") as folder:
            _check_same(wheel, Path(folder))
            for name, package in (("wheel", wheel), ("archive", archive)):
                _check_runs(package, Path(folder) / name)
                _say(f"{package.name}: installs and runs in a new environment")
    except Wrong as problem:
        _say(f"FAILED: {problem}")
        return 1
    return 0


def _only(dist: Path, pattern: str) -> Path:
    found = list(dist.glob(pattern))
    if len(found) != 1:
        raise Wrong(f"{dist} has {len(found)} files {pattern}, and should have one")
    return found[0]


def _check_contents(wheel: Path, archive: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    with tarfile.open(archive) as opened_archive:
        packed = {name.partition("/")[2] for name in opened_archive.getnames()}
    if missing := [name for name in NEEDED if name not in names]:
        raise Wrong(f"{wheel.name} lacks {', '.join(missing)}")
    if odd := [name for name in names if set(name.split("/")) & set(UNWANTED)]:
        raise Wrong(f"{wheel.name} holds {', '.join(sorted(odd)[:5])}")
    if odd := [name for name in packed if set(name.split("/")) & set(UNWANTED[2:])]:
        raise Wrong(f"{archive.name} holds {', '.join(sorted(odd)[:5])}")
    _say(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB")
    _say(f"{archive.name}: {len(packed)} files, {archive.stat().st_size / 1e6:.1f} MB")


def _check_same(wheel: Path, folder: Path) -> None:
    """Compare the wheel with one that is built from the tree. ``wheel`` is from the archive."""
    line = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    _run(line, dict(os.environ))
    direct = _only(folder, "*.whl")
    if _files(direct) != _files(wheel):
        raise Wrong("the wheel from the source archive differs from the wheel from the tree")
    _say("the wheel from the source archive equals the wheel from the tree")


def _files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _check_runs(package: Path, folder: Path) -> None:
    """Install the package into a new environment and run it as a newcomer would."""
    _run([sys.executable, "-m", "venv", str(folder / "venv")], dict(os.environ))
    python = folder / "venv/bin/python"
    pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    _run([*pip, str(package)], dict(os.environ))
    home = folder / "home"
    (home / ".claude").mkdir(parents=True)
    # pip keeps its configuration above; from here on there is only Python and this Roost.
    environ = {"PATH": str(folder / "venv/bin"), "HOME": str(home), "ROOST_HOME": str(home / "r")}
    for line in (
        ["roost", "--version"],
        ["roost"],
        ["roost", "install", "--yes"],
        ["roost", "install", "claude", "--plugin"],
        ["roost", "install", "extension", "--browser", "firefox"],
        ["roost", "demo", "--browser", "fake"],
        ["roost", "install", "--yes", "--remove"],
    ):
        _run([str(folder / "venv/bin" / line[0]), *line[1:]], environ)


def _run(line: list[str], environ: dict[str, str]) -> None:
    done = subprocess.run(
        line, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False, cwd="/"
    )
    if done.returncode:
        raise Wrong(f"`{' '.join(line)}` answered {done.returncode}:\n{done.stdout}{done.stderr}")


def _say(what: str) -> None:
    print(what)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
