"""How the person calls this Roost again, and how to get it onto PATH."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from roost.errors import Unsupported
from roost.frontends.cli.install.entry import interpreter


def own_spelling() -> str:
    """Return what to type for ``roost``: the name if that is this Roost, else a path to it.

    A path below the current folder is given as the person would type it (``.venv/bin/roost``).
    ``uvx`` puts its temporary environment onto PATH only while Roost runs, so its own line is
    given.
    """
    with suppress(Unsupported):
        _, *through_uvx = interpreter()
        if through_uvx:
            return shlex.join(["uvx", *through_uvx[:-1], "roost"])
    program = Path(sys.executable).with_name("roost")
    on_path = shutil.which("roost")
    if on_path is not None and os.path.realpath(on_path) == os.path.realpath(program):
        return "roost"
    if not program.exists():
        return shlex.join([sys.executable, "-m", "roost"])
    return _short(program)


def way_onto_path() -> str | None:
    """Return the command that puts ``roost`` onto PATH, or None if it is there or none is known.

    Known is a source tree, with ``uv`` or ``pipx`` to install it.
    """
    tree = Path(__file__).resolve().parents[5]
    if own_spelling() == "roost" or not (tree / "pyproject.toml").is_file():
        return None
    for program, line in (("uv", "uv tool install"), ("pipx", "pipx install")):
        if shutil.which(program) is not None:
            return f"{line} {_short(tree)}"
    return None


def _short(path: Path) -> str:
    here = Path.cwd()
    is_below = here != Path("/") and path.is_relative_to(here)
    return shlex.quote(str(path.relative_to(here) if is_below else path))
