"""Copy Roost's ``SKILL.md`` to where agents look for skills, and notice copies that are stale."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from roost.frontends.cli.install.claude_plugin import plugin_source
from roost.frontends.cli.install.clients import claude_folder

PLACE: Final = Path("skills/roost/SKILL.md")


def text() -> str:
    """Return the skill of this Roost. The Claude Code plugin contains the same file."""
    return (plugin_source() / PLACE).read_text(encoding="utf-8")


def places() -> Mapping[str, tuple[Path, ...]]:
    """Return the files of each choice: one agent's for all projects, or this project's."""
    home = Path(os.path.expanduser("~"))
    codex = os.environ.get("CODEX_HOME")
    return {
        "claude": ((claude_folder() or home / ".claude") / PLACE,),
        "codex": ((Path(codex) if codex else home / ".codex") / PLACE,),
        "agents": (home / ".agents" / PLACE,),
        "project": (Path.cwd() / ".agents" / PLACE, Path.cwd() / ".claude" / PLACE),
    }


def install(choice: str) -> list[Path]:
    """Write the skill there and return the files."""
    for file in places()[choice]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text(), encoding="utf-8")
    return list(places()[choice])


def remove(choice: str) -> list[Path]:
    """Remove the skill there. Return the files that were there."""
    gone = [file for file in places()[choice] if file.is_file()]
    for file in gone:
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()
    return gone


def stale() -> Iterator[tuple[str, Path]]:
    """Yield each copy that differs from the skill of this Roost, with the choice that renews it."""
    current = text()
    seen: set[Path] = set()  # a project may be the home folder
    for choice, copies in places().items():
        for file in copies:
            if file in seen:
                continue
            seen.add(file)
            if file.is_file() and file.read_text(encoding="utf-8", errors="replace") != current:
                yield choice, file
