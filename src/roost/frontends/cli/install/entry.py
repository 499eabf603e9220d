"""The entry with which a client starts ``roost mcp``, without relying on the environment."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from roost.errors import Unsupported
from roost.local.home import Home

_CACHED: Final = re.compile(r"(archive|environments|builds)-v\d+")
"""Folders of uv's cache in which ``uvx`` and ``uv run --with`` make their environments."""


def interpreter(prefix: str = sys.prefix, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command that starts a Python with this Roost, today and in a year.

    ``uvx`` runs Roost in an environment inside its cache, which ``uv cache prune`` deletes. The
    command then goes through ``uvx``, which makes that environment again. Raises ``Unsupported`` if
    there is no ``uvx`` to be found.
    """
    if not any(_CACHED.fullmatch(part) for part in Path(prefix).parts):
        return [sys.executable]
    given = environ.get("UV")
    beside = Path(given).with_name("uvx") if given else None
    uvx = str(beside) if beside and beside.exists() else shutil.which("uvx")
    if uvx is None:
        raise Unsupported(
            f"Roost runs from uv's cache ({prefix}), which uv may delete.",
            hint="Install it first: `uv tool install roost`, then `roost install` again.",
        )
    return [uvx, "--from", _requirement(), "python"]


def _requirement() -> str:
    """Return what to give to ``uvx --from``: this release, or the address it was installed from."""
    from importlib.metadata import distribution  # loads the e-mail package

    here = distribution("roost")
    origin = json.loads(here.read_text("direct_url.json") or "{}")
    if "url" not in origin:
        return f"roost=={here.version}"
    version = origin.get("vcs_info")
    return f"{version['vcs']}+{origin['url']}@{version['commit_id']}" if version else origin["url"]


def command(*arguments: str) -> list[str]:
    """Return a command that runs Roost as this process runs it.

    ``-P``: the client starts it in the folder the agent works in, where a file must not take the
    place of a module.
    """
    return [*interpreter(), "-P", "-m", "roost", *arguments]


def environment(home: Home, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables to set, because clients pass on almost nothing of their environment."""
    written = {"ROOST_HOME": str(home.path)}
    source = str(Path(__file__).resolve().parents[4])
    if source in [os.path.abspath(part) for part in environ.get("PYTHONPATH", "").split(":")]:
        written["PYTHONPATH"] = source  # Roost runs from a source tree and is not installed
    return written


def server(home: Home, flags: Sequence[str]) -> dict[str, Any]:
    """Return the server's entry in the spelling that all clients share."""
    first, *rest = command("mcp", *flags)
    return {"command": first, "args": rest, "env": environment(home)}


def merged(old: Any, new: Mapping[str, Any]) -> dict[str, Any]:
    """Return our entry, with the person's additions to the old one (a timeout, variables)."""
    if not isinstance(old, dict):
        return dict(new)
    variables = next(name for name in ("environment", "envs", "env") if name in new)
    kept = old.get(variables)
    both = {**(kept if isinstance(kept, dict) else {}), **new[variables]}
    return {**old, **new, variables: both}


def hook_line(home: Home, *arguments: str) -> str:
    """Return a hook's command, such as ``hook stop``, as a command line for ``sh``."""
    said = [f"{name}={shlex.quote(value)}" for name, value in environment(home).items()]
    return " ".join([*said, shlex.join(command(*arguments))])
