"""The committed bundle is what its sources build, readable, and free of this machine's traces."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from roost.page.bundle import bundle
from tests.page.page_world import BUNDLE, SOURCE


def test_rebuilding_gives_the_committed_bundle(sources: Path, tmp_path: Path) -> None:
    built = tmp_path / "bundle.js"
    subprocess.run(["node", "build.mjs", str(built)], cwd=sources, check=True, timeout=50)
    assert built.read_text(encoding="utf-8") == BUNDLE.read_text(encoding="utf-8")


def test_the_types_hold(sources: Path) -> None:
    checked = subprocess.run(
        ["npx", "--no-install", "tsc", "--noEmit"],
        cwd=sources,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert checked.returncode == 0, checked.stdout


def test_what_drivers_put_into_pages_is_that_bundle() -> None:
    assert bundle() == BUNDLE.read_text(encoding="utf-8")


def test_the_bundle_is_readable_and_says_how_it_is_made() -> None:
    lines = BUNDLE.read_text(encoding="utf-8").splitlines()
    assert "npm run build" in lines[0]
    assert len(lines) > 2000


def test_versions_are_pinned_and_no_lock_or_registry_is_written_down() -> None:
    package = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    assert all(version[0].isdigit() for version in package["devDependencies"].values())
    assert not (SOURCE / "package-lock.json").exists()
    assert "registry" not in (SOURCE / "package.json").read_text(encoding="utf-8")
