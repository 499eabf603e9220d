"""What is written: how a client starts ``roost mcp``, with nothing left to its environment."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roost.local.home import Home


def command(*arguments: str) -> list[str]:
    """Roost by this very interpreter. ``-P``: the client starts it in the folder the agent works
    in, and no file there may take the place of a module."""
    return [sys.executable, "-P", "-m", "roost", *arguments]


def environment(home: Home, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What must be said: clients pass on almost nothing of their own environment."""
    written = {"ROOST_HOME": str(home.path)}
    source = str(Path(__file__).resolve().parents[4])
    if source in [os.path.abspath(part) for part in environ.get("PYTHONPATH", "").split(":")]:
        written["PYTHONPATH"] = source  # run from a source tree, without being installed
    return written


def server(home: Home, flags: Sequence[str]) -> dict[str, Any]:
    """The server as all clients spell it."""
    first, *rest = command("mcp", *flags)
    return {"command": first, "args": rest, "env": environment(home)}


def merged(old: Any, new: Mapping[str, Any]) -> dict[str, Any]:
    """Ours, with what the person has added to it (a time limit, variables) kept."""
    if not isinstance(old, dict):
        return dict(new)
    env = old.get("env")
    kept = env if isinstance(env, dict) else {}
    return {**old, **new, "env": {**kept, **new["env"]}}


def hook_line(home: Home) -> str:
    """The Stop hook as a line for ``sh``."""
    said = [f"{name}={shlex.quote(value)}" for name, value in environment(home).items()]
    return " ".join([*said, shlex.join(command("hook", "stop"))])
