"""Install the Claude Code plugin: copy it to ROOST_HOME, and register the copy with Claude Code.

The copy's hooks run this Roost. ``claude plugin`` registers the copy at once. Without that command,
two entries in Claude Code's settings make it known and enable it. Claude Code then registers it
while it starts. In older releases (seen: 2.1.197) that is too late for this start's commands.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roost.errors import Internal
from roost.frontends.cli.install.clients import claude_folder
from roost.frontends.cli.install.config_file import ChangedFile, rewrite
from roost.frontends.cli.install.config_text import JSON
from roost.frontends.cli.install.entry import hook_line
from roost.local.home import Home

MARKETPLACE: Final = ("extraKnownMarketplaces", "roost")
ENABLED: Final = ("enabledPlugins", "roost@roost")
CLAUDE_SECONDS: Final = 60.0
HOOKS: Final = "hooks/hooks.json"


def folder(home: Home) -> Path:
    """Return the folder of the copy."""
    return home.path / "claude-plugin"


def settings_file() -> Path:
    return (claude_folder() or Path(os.path.expanduser("~/.claude"))) / "settings.json"


def settings(home: Home) -> dict[str, Any]:
    """Return the two entries that Claude Code's settings need."""
    source = {"source": {"source": "directory", "path": str(folder(home))}}
    return {MARKETPLACE[0]: {MARKETPLACE[1]: source}, ENABLED[0]: {ENABLED[1]: True}}


@dataclass(frozen=True, slots=True)
class PluginInstallation:
    """How the plugin was made known: by ``claude`` itself, or by an entry in its settings."""

    by_claude: bool
    written: ChangedFile | None = None


def install(home: Home) -> PluginInstallation:
    """Copy the plugin, then make it known to Claude Code.

    The copy has no ``.mcp.json``, because the MCP server is configured separately.
    """
    home.create()
    copy = folder(home)
    fresh = copy.with_name(f".claude-plugin.{os.urandom(8).hex()}")
    shutil.copytree(plugin_source(), fresh, ignore=shutil.ignore_patterns(".mcp.json"))
    (fresh / HOOKS).write_text(_hooks(home), encoding="utf-8")
    shutil.rmtree(copy, ignore_errors=True)
    fresh.rename(copy)
    added = _claude("marketplace", "add", str(copy)) and _claude("install", ENABLED[1])
    if added:
        return PluginInstallation(by_claude=True)
    return PluginInstallation(False, rewrite(settings_file(), lambda text: _put(text, home)))


def is_stale(home: Home) -> bool:
    """Return whether there is a copy whose hooks are not those of this Roost."""
    try:
        return (folder(home) / HOOKS).read_text(encoding="utf-8") != _hooks(home)
    except FileNotFoundError:
        return folder(home).is_dir()
    except (OSError, ValueError):
        return True


def _hooks(home: Home) -> str:
    """Return the hooks of the copy, whose commands run this Roost."""
    loaded = json.loads((plugin_source() / HOOKS).read_text(encoding="utf-8"))
    groups = [group for event in loaded["hooks"].values() for group in event]
    for hook in [hook for group in groups for hook in group["hooks"]]:
        if hook["type"] == "command":
            _, *arguments = shlex.split(hook["command"])
            hook["command"] = hook_line(home, *arguments)
    return json.dumps(loaded, indent=2) + "\n"


def remove(home: Home) -> None:
    """Remove the copy and the entries. Settings without our entries stay as they are."""
    if folder(home).exists():
        _claude("uninstall", ENABLED[1])
        _claude("marketplace", "remove", MARKETPLACE[1])
    shutil.rmtree(folder(home), ignore_errors=True)
    rewrite(
        settings_file(),
        lambda text: JSON.change(JSON.change(text, ENABLED, None), MARKETPLACE, None),
    )


def _put(text: str, home: Home) -> str:
    wanted = settings(home)
    for outer, inner in (MARKETPLACE, ENABLED):
        text = JSON.change(text, (outer, inner), wanted[outer][inner])
    return text


def _claude(*arguments: str) -> bool:
    """Run ``claude plugin …``. Return whether there is such a command and it succeeded."""
    command = shutil.which("claude")
    if command is None:
        return False
    line = [command, "plugin", *arguments]
    try:
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, timeout=CLAUDE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def plugin_source() -> Path:
    """Return the shipped plugin's folder: in the package, or beside the source tree."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[3] / "plugin", here.parents[5] / "plugin"):
        if (candidate / ".claude-plugin/plugin.json").is_file():
            return candidate
    raise Internal("The plugin's files are not there.", hint="Install Roost anew.")
