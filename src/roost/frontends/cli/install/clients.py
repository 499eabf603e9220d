"""Table of the clients: where each keeps its MCP servers, and how it spells them."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.config_text import JSON, TOML, YAML, Format
from roost.frontends.cli.install.entry import merged

NAME: Final = "roost"
"""Name of our entry among a client's servers."""
Server = Mapping[str, Any]
"""The server's entry as most clients spell it: ``command``, ``args``, ``env``."""


@dataclass(frozen=True, slots=True)
class McpClient:
    """One row of the table."""

    word: str
    """The client's name after ``roost install``."""
    title: str
    key: str
    """The key that holds the servers."""
    file: Callable[[], Path] | None = None
    """Returns the client's configuration file for all projects. None: the person must name it."""
    programs: Sequence[str] = ()
    """Names under which the client's program can be on PATH."""
    folder: Callable[[], Path] | None = None
    """Returns a folder that only a machine with this client has. None: the folder of the file."""
    format: Format = JSON
    spelled: Callable[[Server], dict[str, Any]] = dict
    """Returns the entry as this client spells it."""
    after: str = "Restart it to load the server."

    def is_here(self) -> bool:
        """Return whether this client is on this machine: it has left a folder, or is on PATH."""
        if self.file is None:
            return False
        folder = self.folder() if self.folder else self.file().parent
        return folder.is_dir() or any(shutil.which(name) for name in self.programs)

    def shown(self, server: Server) -> str:
        """Return the text of an empty file with our server added."""
        return self.put("", server)

    def put(self, text: str, server: Server) -> str:
        """Return the file's text with our server. Raise ``Malformed`` if that is impossible."""
        before = self.format.read(text)
        entry = merged(self._servers(before).get(NAME), self.spelled(server))
        return self._changed(text, before, entry)

    def remove(self, text: str) -> str:
        """Return the file's text without our server. Raise ``Malformed`` if that is impossible."""
        return self._changed(text, self.format.read(text), None)

    def entry_in(self, text: str) -> Mapping[str, Any]:
        """Return our entry as it stands in the file's text; empty if there is none."""
        entry = self._servers(self.format.read(text)).get(NAME)
        return entry if isinstance(entry, dict) else {}

    def _changed(self, text: str, before: dict[str, Any], entry: dict[str, Any] | None) -> str:
        """Return the changed text only if it parses, has the entry, and nothing else changed."""
        after = self.format.change(text, (self.key, NAME), entry)
        with contextlib.suppress(Malformed):
            found = self.format.read(after)
            others = [_without(config, self.key, NAME) for config in (before, found)]
            if self._servers(found).get(NAME) == entry and others[0] == others[1]:
                return after
        raise Malformed(f"{self.key}.{NAME} is written in a way that is not changed here", 1)

    def _servers(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        servers = config.get(self.key, {})
        if not isinstance(servers, dict):
            raise Malformed(f"{self.key} holds no servers", 1)
        return servers


def _without(config: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
    """Return the configuration without our entry, to compare the rest."""
    servers = {word: one for word, one in config.get(key, {}).items() if word != name}
    return {**config, key: servers}


def _home() -> Path:
    # Use HOME and not the password database, because the clients use HOME.
    return Path(os.path.expanduser("~"))


def _config_home() -> Path:
    given = os.environ.get("XDG_CONFIG_HOME")
    return Path(given) if given else _home() / ".config"


def claude_folder() -> Path | None:
    """Return the folder from CLAUDE_CONFIG_DIR, or None if the variable is not set."""
    given = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else None


def _claude() -> Path:
    return (claude_folder() or _home()) / ".claude.json"


def _codex() -> Path:
    given = os.environ.get("CODEX_HOME")
    return (Path(given) if given else _home() / ".codex") / "config.toml"


def _gemini() -> Path:
    given = os.environ.get("GEMINI_CLI_HOME")
    return (Path(given) if given else _home()) / ".gemini/settings.json"


def _opencode() -> Path:
    """Return the file that opencode already has, or the one its documentation names first."""
    folder = _config_home() / "opencode"
    names = ("opencode.json", "opencode.jsonc", "config.json")
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def _copilot_folder() -> Path:
    given = os.environ.get("COPILOT_HOME")
    return Path(given) if given else _home() / ".copilot"


def _application(name: str) -> Path:
    """Return the folder in which a desktop application keeps its configuration."""
    if sys.platform == "darwin":
        return _home() / "Library/Application Support" / name
    return _config_home() / name


def _windsurf() -> Path:
    """Return Windsurf's file. Since June 2026 it is called Devin Desktop, with a new folder."""
    devin, windsurf = _home() / ".config/devin", _home() / ".codeium/windsurf"
    is_old = windsurf.is_dir() and not devin.is_dir()
    return (windsurf if is_old else devin) / "mcp_config.json"


def _zed() -> Path:
    """Return Zed's settings. On macOS, Zed does not look at XDG_CONFIG_HOME."""
    folder = _home() / ".config" if sys.platform == "darwin" else _config_home()
    return folder / "zed/settings.json"


def _cline() -> Path:
    """Return the file of the Cline that is here: the command line's, or that of VS Code."""
    given = os.environ.get("CLINE_MCP_SETTINGS_PATH")
    if given:
        return Path(given)
    name = "settings/cline_mcp_settings.json"
    in_vscode = _application("Code") / "User/globalStorage/saoudrizwan.claude-dev"
    is_in_vscode = in_vscode.is_dir() and not (_home() / ".cline").is_dir()
    return in_vscode / name if is_in_vscode else _home() / ".cline/data" / name


def _cline_folder() -> Path:
    file, own = _cline(), _home() / ".cline"
    return own if file.is_relative_to(own) else file.parents[1]


def _stdio(server: Server) -> dict[str, Any]:
    return {"type": "stdio", **server}


def _local(server: Server) -> dict[str, Any]:
    return {
        "type": "local",
        "command": [server["command"], *server["args"]],
        "environment": server["env"],
        "enabled": True,
    }


def _goose_extension(server: Server) -> dict[str, Any]:
    return {
        "enabled": True,
        "type": "stdio",
        "name": NAME,
        "description": "A browser session of its own for every agent",
        "cmd": server["command"],
        "args": server["args"],
        "envs": server["env"],
    }


def _copilot_server(server: Server) -> dict[str, Any]:
    return {"type": "local", **server, "tools": ["*"]}


CLIENTS: Final = (
    McpClient(
        "claude", "Claude Code", "mcpServers", _claude, ("claude",),
        folder=lambda: claude_folder() or _home() / ".claude", spelled=_stdio,
        after="Start it anew; `/mcp` shows the server.",
    ),
    McpClient(
        "claude-desktop", "Claude Desktop", "mcpServers",
        lambda: _application("Claude") / "claude_desktop_config.json", ("claude-desktop",),
        after="Quit it and start it again.",
    ),
    McpClient("codex", "Codex", "mcp_servers", _codex, ("codex",), format=TOML),
    McpClient(
        "cursor", "Cursor", "mcpServers", lambda: _home() / ".cursor/mcp.json",
        ("cursor", "cursor-agent"), after="Switch the server on under Customize, MCPs.",
    ),
    McpClient(
        "vscode", "VS Code", "servers", lambda: _application("Code") / "User/mcp.json", ("code",),
        spelled=_stdio, after="Start it with the command `MCP: List Servers`.",
    ),
    McpClient("gemini", "Gemini CLI", "mcpServers", _gemini, ("gemini",)),
    McpClient("opencode", "opencode", "mcp", _opencode, ("opencode",), spelled=_local),
    McpClient(
        "copilot", "GitHub Copilot CLI", "mcpServers",
        lambda: _copilot_folder() / "mcp-config.json", ("copilot",), spelled=_copilot_server,
    ),
    McpClient(
        "windsurf", "Windsurf (Devin Desktop)", "mcpServers", _windsurf, ("windsurf",),
        after="Press Refresh in its MCP panel.",
    ),
    McpClient(
        "zed", "Zed", "context_servers", _zed, ("zed", "zeditor"),
        after="The Agent Panel's settings show the server.",
    ),
    McpClient(
        "goose", "goose", "extensions", lambda: _config_home() / "goose/config.yaml", ("goose",),
        format=YAML, spelled=_goose_extension,
    ),
    McpClient(
        "cline", "Cline", "mcpServers", _cline, ("cline",), folder=_cline_folder,
        after="Its MCP Servers page shows the server.",
    ),
    McpClient("json", "Any client", "mcpServers"),
)  # fmt: skip
