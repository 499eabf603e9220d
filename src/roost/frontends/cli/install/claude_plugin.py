"""Install the Claude Code plugin: a copy in ROOST_HOME, and two entries in Claude Code's settings.

The copy's hook runs this Roost. One entry makes the plugin known, the other enables it.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from roost.errors import Internal
from roost.frontends.cli.install.clients import claude_folder
from roost.frontends.cli.install.config_file import Written, rewrite
from roost.frontends.cli.install.config_text import JSON
from roost.frontends.cli.install.entry import hook_line
from roost.local.home import Home

MARKETPLACE: Final = ("extraKnownMarketplaces", "roost")
ENABLED: Final = ("enabledPlugins", "roost@roost")


def folder(home: Home) -> Path:
    """Return the folder of the copy."""
    return home.path / "claude-plugin"


def settings_file() -> Path:
    return (claude_folder() or Path(os.path.expanduser("~/.claude"))) / "settings.json"


def settings(home: Home) -> dict[str, Any]:
    """Return the two entries that Claude Code's settings need."""
    source = {"source": {"source": "directory", "path": str(folder(home))}}
    return {MARKETPLACE[0]: {MARKETPLACE[1]: source}, ENABLED[0]: {ENABLED[1]: True}}


def install(home: Home) -> Written | None:
    """Copy the plugin, then add it to the settings.

    The copy has no ``.mcp.json``, because the MCP server is configured separately.
    """
    home.create()
    copy = folder(home)
    fresh = copy.with_name(f".claude-plugin.{os.urandom(8).hex()}")
    shutil.copytree(_source(), fresh, ignore=shutil.ignore_patterns(".mcp.json"))
    hooks = fresh / "hooks/hooks.json"
    loaded = json.loads(hooks.read_text(encoding="utf-8"))
    loaded["hooks"]["Stop"][0]["hooks"][0]["command"] = hook_line(home)
    hooks.write_text(json.dumps(loaded, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(copy, ignore_errors=True)
    fresh.rename(copy)
    return rewrite(settings_file(), lambda text: _put(text, home))


def remove(home: Home) -> Written | None:
    """Remove the copy and the entries. Settings without our entries stay as they are."""
    shutil.rmtree(folder(home), ignore_errors=True)
    return rewrite(
        settings_file(),
        lambda text: JSON.change(JSON.change(text, ENABLED, None), MARKETPLACE, None),
    )


def _put(text: str, home: Home) -> str:
    wanted = settings(home)
    for outer, inner in (MARKETPLACE, ENABLED):
        text = JSON.change(text, (outer, inner), wanted[outer][inner])
    return text


def _source() -> Path:
    """Return the shipped plugin's folder: in the package, or beside the source tree."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[3] / "plugin", here.parents[5] / "plugin"):
        if (candidate / ".claude-plugin/plugin.json").is_file():
            return candidate
    raise Internal("The plugin's files are not there.", hint="Install Roost anew.")
