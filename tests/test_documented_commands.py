"""Every command of the README and the tutorial runs in a test, in a script or in a workflow."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.local.processes import end_tree
from tests.test_docs import ROOT, roost_on_path

PAGES = ("README.md", "docs/tutorial.md")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
PROGRAM = re.compile(r"(?:roost|make|uv|uvx|pipx?|python3?|git|cd|npx?|docker|curl|sudo|\.) \S")
RUN_AS_THEY_STAND = {
    ("README.md", "sh"): "tests/test_docs.py:test_the_commands_of_the_readme_work_as_they_stand",
    ("README.md", "python"): "tests/test_docs.py:test_the_example_in_the_readme_runs_as_it_stands",
    ("docs/tutorial.md", "sh"): "tests/test_docs.py:test_the_tutorial_works_as_it_stands",
    ("docs/tutorial.md", "python"): "tests/test_docs.py:test_the_tutorial_works_as_it_stands",
}
"""Which test runs all blocks of a page in a language."""
NO_COMMANDS = {("README.md", ""), ("docs/tutorial.md", "text")}
"""A drawing, and what the tutorial's commands answer."""
RUN_ELSEWHERE = {
    "pipx install .": "tests/test_docs.py:test_the_ways_to_install_put_roost_onto_the_path",
    "pip install .": "tests/test_docs.py:test_pip_installs_roost_into_an_environment",
    "make demo": "tools/fresh_debian.py:follow",
    "make test": ".github/workflows/checks.yml:make test",
    "make bench": ".github/workflows/nightly.yml:make bench",
    "python -m bench peers": ".github/workflows/nightly.yml:make bench",
    ". .venv/bin/activate": "tools/fresh_debian.py:follow",
}
"""Commands that install, test or measure for minutes: which file runs them, and where in it."""


def written_in_blocks(page: str, language: str) -> list[str]:
    """Return the commands of the page's blocks, each line without its comment."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [block for kind, block in FENCED.findall(text) if kind == language]
    lines = "".join(found).splitlines()
    return [command for line in lines if (command := re.sub(r"\s+#.*", "", line).strip())]


def written_in_text(page: str) -> list[str]:
    """Return the commands that stand within the sentences of the page."""
    text = FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in INLINE.findall(text) if PROGRAM.match(code)]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_run_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    kinds = {kind for kind, _ in FENCED.findall(text)}
    by_line = {kind for kind in kinds if (page, kind) not in {*RUN_AS_THEY_STAND, *NO_COMMANDS}}
    assert by_line <= {"shell"}, "a block in a language that no test runs"
    commands = [line for kind in by_line for line in written_in_blocks(page, kind)]
    commands += [words for words in written_in_text(page) if not words.startswith("roost ")]
    assert set(commands) - set(written_in_blocks(page, "sh")) <= set(RUN_ELSEWHERE)
    for kind in kinds & {kind for of, kind in NO_COMMANDS if of == page}:
        assert [line for line in written_in_blocks(page, kind) if line.startswith("$")] == []


def test_every_place_that_is_said_to_run_a_command_runs_it() -> None:
    for place in {*RUN_AS_THEY_STAND.values(), *RUN_ELSEWHERE.values()}:
        name, _, where = place.partition(":")
        source = (ROOT / name).read_text(encoding="utf-8")
        wanted = rf"^(async )?def {where}\(" if name.endswith(".py") else rf"run: {where}$"
        assert re.search(wanted, source, re.MULTILINE), place
    written = {words for page in PAGES for words in written_in_text(page)}
    assert set(RUN_ELSEWHERE) <= written | set(written_in_blocks("README.md", "shell"))


def test_the_commands_within_the_sentences_work_as_they_stand(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    home.config.write_text('browser = "fake"\n', encoding="utf-8")
    environ = {
        "PATH": roost_on_path(tmp_path, home), "HOME": str(tmp_path), "ROOST_HOME": str(home.path),
        "ROOST_SESSION": "reader",  # without a terminal, a verb has no session of its own
    }  # fmt: skip
    commands = [words for page in PAGES for words in written_in_text(page)]
    in_blocks = {words for page in PAGES for words in written_in_blocks(page, "sh")}
    commands = [words for words in commands if words.startswith("roost ")]
    assert len(commands) >= 5
    try:
        for command in dict.fromkeys(commands):
            if command in in_blocks:
                continue  # `roost demo` takes long, and the README's own block runs it
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=tmp_path, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert done.returncode == 0, (command, done.stdout)
    finally:
        if (endpoint := read_endpoint(home)) is not None:
            end_tree(endpoint.process, 5)
