"""Find ``.roost.toml``. A module of its own, because every shim looks and few find one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

NAME: Final = ".roost.toml"


def find_project(folder: str | None, user: int | None = None) -> Path | None:
    """Return the nearest ``.roost.toml``, from that folder up to the top of its repository.

    The top is the folder with ``.git``. Outside of a repository the search ends at the root. A file
    of another user counts for nobody: anybody may write into ``/tmp``.
    """
    if folder is None:
        return None
    owners = (os.getuid() if user is None else user, 0)
    start = Path(folder)
    for one in (start, *start.parents):
        path = one / NAME
        try:
            if path.is_file() and path.stat().st_uid in owners:
                return path
            if (one / ".git").exists():
                return None
        except OSError:
            continue  # a folder that this user may not look into
    return None
