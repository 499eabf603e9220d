"""The extension's own tests, in Node, and checks of its files."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from roost import __version__
from roost.frontends.cli.install import extension
from tests.e2e.cdp.node_clients import NODE

ROOT = Path(__file__).parents[2] / "extension"
PACK = ROOT.parent / "tools" / "pack_extension.py"
WEB_EXT = Path(sys.prefix) / "node-clients/node_modules/.bin/web-ext"
# browser_evaluate runs what the agent wrote; there is no other way to do that in a page.
ON_PURPOSE = {("DANGEROUS_EVAL", "firefox/inpage.js")}
NOT_FIREFOX = {"MANIFEST_FIELD_UNSUPPORTED", "EXTENSION_ID_REQUIRED", "MANIFEST_PERMISSIONS"}


def manifest(kind: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / f"manifest.{kind}.json").read_bytes())
    return loaded


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(NODE) is None, reason="Node is not installed")
def test_the_extensions_own_tests_pass() -> None:
    files = sorted(map(str, (ROOT / "tests").glob("*.test.mjs")))
    command = [NODE, "--test", *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)

    assert done.returncode == 0, done.stdout[-5000:]


def test_the_extensions_id_is_derived_from_its_key() -> None:
    digest = hashlib.sha256(base64.b64decode(manifest("chromium")["key"])).hexdigest()[:32]

    assert "".join(chr(ord("a") + int(digit, 16)) for digit in digest) == extension.CHROMIUM_ID
    gecko = manifest("firefox")["browser_specific_settings"]["gecko"]
    assert gecko["id"] == extension.FIREFOX_ID


@pytest.mark.parametrize("kind", extension.KINDS)
def test_the_extension_has_the_version_of_this_release(kind: str) -> None:
    assert manifest(kind)["version"] == __version__


@pytest.mark.parametrize("kind", extension.KINDS)
def test_every_permission_is_explained(kind: str) -> None:
    page = ROOT.parent / "docs/reference/extension-permissions.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    given = manifest(kind)
    wanted = {*given["permissions"], *given.get("host_permissions", [])}
    about = [row for row in rows if row.split("|")[2].strip().lower() in ("both", kind)]
    explained = {name for row in about for name in re.findall("`([^`]+)`", row.split("|")[1])}

    assert wanted == explained


@pytest.mark.parametrize("kind", extension.KINDS)
def test_packing_the_extension_is_reproducible(kind: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        command = [sys.executable, str(PACK), str(folder)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    first, second = (sorted(folder.iterdir()) for folder in folders)

    assert [path.suffix for path in first] == [".zip", ".xpi"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    with zipfile.ZipFile(first[extension.KINDS.index(kind)]) as archive:
        assert json.loads(archive.read("manifest.json")) == manifest(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", extension.KINDS)
def test_web_ext_reports_no_problem(kind: str, tmp_path: Path) -> None:
    if not WEB_EXT.exists():
        pytest.skip("npm could not fetch web-ext")
    extension.unpack(kind, tmp_path / kind)
    command = [str(WEB_EXT), "lint", "--output=json", f"--source-dir={tmp_path / kind}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    found = json.loads(done.stdout)

    # It judges by Firefox's rules: what it says of Chromium's own words is no fault of ours.
    ours = [
        f"{one['code']}: {one['message']}"
        for one in found["errors"] + found["warnings"]
        if kind == "firefox" or one["code"] not in NOT_FIREFOX
        if (one["code"], one.get("file")) not in ON_PURPOSE
    ]
    assert ours == []


@pytest.mark.parametrize("kind", extension.KINDS)
def test_the_package_has_the_extensions_files_and_no_tests(kind: str) -> None:
    names = [name for name, _ in extension.files(kind)]

    assert names[0] == "manifest.json"
    assert len(names) == len(set(names))
    assert {"background.js", "link.js", "groups.js"} <= set(names)
    assert not any("test" in name or name == "package.json" for name in names)


def test_the_wheel_carries_the_extension_without_its_tests() -> None:
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert wheel["sources"]["extension"] == "roost/extension"
    assert "/extension/tests" in wheel["exclude"]
