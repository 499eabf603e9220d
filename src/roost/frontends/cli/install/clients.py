"""Table of the clients: where each keeps its MCP servers, and how it spells them."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.config_text import JSON, TOML, Format
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
    format: Format = JSON
    spelled: Callable[[Server], dict[str, Any]] = dict
    """Returns the entry as this client spells it."""
    own_command: Callable[[Server], Sequence[str]] | None = None
    """Returns the client's own command that adds the entry to a file with comments."""
    after: str = "Restart it to load the server."

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


def _vscode() -> Path:
    if sys.platform == "darwin":
        return _home() / "Library/Application Support/Code/User/mcp.json"
    return _config_home() / "Code/User/mcp.json"


def _stdio(server: Server) -> dict[str, Any]:
    return {"type": "stdio", **server}


def _local(server: Server) -> dict[str, Any]:
    return {
        "type": "local",
        "command": [server["command"], *server["args"]],
        "environment": server["env"],
        "enabled": True,
    }


def _code_command(server: Server) -> list[str]:
    return ["code", "--add-mcp", json.dumps({"name": NAME, **_stdio(server)})]


def _gemini_command(server: Server) -> list[str]:
    variables = [part for item in server["env"].items() for part in ("--env", "=".join(item))]
    command = ["gemini", "mcp", "add", "--scope", "user", *variables, NAME]
    return [*command, server["command"], "--", *server["args"]]


CLIENTS: Final = (
    McpClient(
        "claude", "Claude Code", "mcpServers", _claude, spelled=_stdio,
        after="Start it anew; `/mcp` shows the server.",
    ),
    McpClient("codex", "Codex", "mcp_servers", _codex, format=TOML),
    McpClient("gemini", "Gemini CLI", "mcpServers", _gemini, own_command=_gemini_command),
    McpClient("opencode", "opencode", "mcp", _opencode, spelled=_local),
    McpClient(
        "cursor", "Cursor", "mcpServers", lambda: _home() / ".cursor/mcp.json",
        after="Switch the server on under Settings, MCP.",
    ),
    McpClient(
        "vscode", "VS Code", "servers", _vscode, spelled=_stdio, own_command=_code_command,
        after="Start it with the command `MCP: List Servers`.",
    ),
    McpClient("json", "Any client", "mcpServers"),
)  # fmt: skip
