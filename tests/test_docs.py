"""The documents say what is true: generated pages are current, examples run, commands exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.local.processes import end_tree

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_every_operation_error_setting_and_verb_is_documented() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "tools/gen_docs.py", "--check"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert check.returncode == 0, check.stderr


def test_the_example_in_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    home.config.write_text('browser = "fake"\n', encoding="utf-8")
    (example,) = blocks("python")
    try:
        done = subprocess.run(
            [sys.executable, "-c", example],
            env={"PATH": os.environ["PATH"], "ROOST_HOME": str(home.path)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    finally:
        endpoint = read_endpoint(home)
        if endpoint is not None:
            end_tree(endpoint.process, 5)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "t1 http://example.org/"
    assert second.startswith("TAB_GONE: ")


def test_the_make_commands_of_the_documents_are_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.M)
    }
    assert {"demo", "test"} <= named <= targets


def test_the_roost_commands_of_the_readme_are_verbs() -> None:
    from roost.frontends.cli.main import cli

    named = set(re.findall(r"^roost ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named <= set(cli.commands)


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
