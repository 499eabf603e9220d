"""The committed page is what its sources build."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import roost.frontends.dashboard as room
from tests.support.node_tools import with_node_tools

FOLDER = Path(room.__file__).parent


@pytest.fixture(scope="module")
def built_from() -> Path:
    return with_node_tools(FOLDER / "source")


def test_rebuilding_gives_the_committed_page(built_from: Path, tmp_path: Path) -> None:
    made = tmp_path / "app.js"
    subprocess.run(["node", "build.mjs", str(made)], cwd=built_from, check=True, timeout=50)
    committed = FOLDER / "page" / "app.js"
    assert made.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_bundles_sources_pass_the_type_checker(built_from: Path) -> None:
    command = ["npx", "--no-install", "tsc", "--noEmit"]
    checked = subprocess.run(command, cwd=built_from, capture_output=True, text=True, timeout=50)
    assert checked.returncode == 0, checked.stdout


def test_no_source_reads_text_as_markup() -> None:
    for source in (FOLDER / "source").glob("*.ts"):
        text = source.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, (source.name, way)
