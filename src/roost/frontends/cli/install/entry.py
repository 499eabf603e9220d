"""The entry with which a client starts ``roost mcp``, without relying on the environment."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roost.local.home import Home


def command(*arguments: str) -> list[str]:
    """Return a command that runs Roost with this interpreter.

    ``-P``: the client starts it in the folder the agent works in, where a file must not take the
    place of a module.
    """
    return [sys.executable, "-P", "-m", "roost", *arguments]


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
    env = old.get("env")
    kept = env if isinstance(env, dict) else {}
    return {**old, **new, "env": {**kept, **new["env"]}}


def hook_line(home: Home) -> str:
    """Return the Stop hook as a command line for ``sh``."""
    said = [f"{name}={shlex.quote(value)}" for name, value in environment(home).items()]
    return " ".join([*said, shlex.join(command("hook", "stop"))])
