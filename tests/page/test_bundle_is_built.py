"""The committed bundle is what its sources build, readable, and without paths of a machine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from roost.page.bundle import VERSION_MARK, bundle, versioned
from tests.page.page_world import BUNDLE, SOURCE


def test_rebuilding_gives_the_committed_bundle(sources: Path, tmp_path: Path) -> None:
    built = tmp_path / "bundle.js"
    subprocess.run(["node", "build.mjs", str(built)], cwd=sources, check=True, timeout=50)
    assert built.read_text(encoding="utf-8") == BUNDLE.read_text(encoding="utf-8")


def test_the_bundles_sources_pass_the_type_checker(sources: Path) -> None:
    checked = subprocess.run(
        ["npx", "--no-install", "tsc", "--noEmit"],
        cwd=sources,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert checked.returncode == 0, checked.stdout


def test_drivers_inject_the_committed_bundle_with_its_version() -> None:
    built = BUNDLE.read_text(encoding="utf-8")
    assert built.count(VERSION_MARK) == 1
    assert bundle().text == built.replace(VERSION_MARK, bundle().version)


def test_bundles_with_different_code_have_different_versions() -> None:
    built = BUNDLE.read_text(encoding="utf-8")
    assert versioned(built).version == bundle().version
    assert versioned(f"{built} ").version != bundle().version


def test_the_bundle_is_readable_and_says_how_it_is_made() -> None:
    lines = BUNDLE.read_text(encoding="utf-8").splitlines()
    assert "npm run build" in lines[0]
    assert len(lines) > 2000


def test_versions_are_pinned_and_no_lock_or_registry_is_written_down() -> None:
    package = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    assert all(version[0].isdigit() for version in package["devDependencies"].values())
    assert not (SOURCE / "package-lock.json").exists()
    assert "registry" not in (SOURCE / "package.json").read_text(encoding="utf-8")
