"""The skill goes where agents look for skills, and stale copies are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from roost.frontends.cli.install import skill
from roost.frontends.cli.install.skill_command import install_skill


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of a person who works in ``project`` below it."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


PLACES = {
    "--claude": [".claude/skills/roost/SKILL.md"],
    "--codex": [".codex/skills/roost/SKILL.md"],
    "--agents": [".agents/skills/roost/SKILL.md"],
    "--project": [
        "project/.agents/skills/roost/SKILL.md", "project/.claude/skills/roost/SKILL.md",
    ],
}  # fmt: skip


@pytest.mark.parametrize("flag", PLACES)
def test_a_skill_is_written_and_removed_again(person: Path, flag: str) -> None:
    assert CliRunner().invoke(install_skill, [flag]).exit_code == 0
    found = sorted(str(file.relative_to(person)) for file in person.rglob("SKILL.md"))
    assert found == PLACES[flag]
    assert (person / found[0]).read_text(encoding="utf-8") == skill.text()
    beside = person / Path(found[0]).parents[1] / "other"
    beside.mkdir()
    assert CliRunner().invoke(install_skill, [flag, "--remove"]).exit_code == 0
    assert list(person.rglob("SKILL.md")) == []
    assert beside.exists()
    assert CliRunner().invoke(install_skill, [flag, "--remove"]).exit_code == 0


def test_several_places_are_written_at_once_and_none_is_refused(person: Path) -> None:
    CliRunner().invoke(install_skill, ["--claude", "--agents"])
    assert len(list(person.rglob("SKILL.md"))) == 2
    refused = CliRunner().invoke(install_skill, [])
    assert refused.exit_code == 2
    assert "--project" in refused.output


def test_printing_writes_nothing(person: Path) -> None:
    assert CliRunner().invoke(install_skill, ["--claude", "--print"]).output == skill.text()
    assert list(person.rglob("SKILL.md")) == []


def test_a_copy_that_is_not_of_this_roost_is_stale(person: Path) -> None:
    assert list(skill.stale()) == []
    CliRunner().invoke(install_skill, ["--claude", "--project"])
    assert list(skill.stale()) == []
    old = person / ".claude/skills/roost/SKILL.md"
    old.write_text("an older one")
    assert list(skill.stale()) == [("claude", old)]
    CliRunner().invoke(install_skill, ["--claude"])
    assert list(skill.stale()) == []


def test_the_folders_that_clients_are_told_to_use_are_used(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(person / "c"))
    monkeypatch.setenv("CODEX_HOME", str(person / "x"))
    CliRunner().invoke(install_skill, ["--claude", "--codex"])
    assert (person / "c/skills/roost/SKILL.md").is_file()
    assert (person / "x/skills/roost/SKILL.md").is_file()
