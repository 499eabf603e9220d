"""Which client keeps its MCP servers where, and how it spells them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from roost.frontends.cli.install import jsonc, toml_tables
from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.entry import merged

NAME: Final = "roost"
"""Our entry among a client's servers."""


@dataclass(frozen=True, slots=True)
class McpClient:
    """One row of the table."""

    word: str
    """What stands behind ``roost install``."""
    title: str
    key: str
    """What the servers stand under."""
    file: Callable[[], Path] | None = None
    """Its file for all projects; none for clients that are not known here."""
    is_toml: bool = False
    also: Mapping[str, Any] = field(default_factory=dict)
    """What this client wants to read besides."""
    after: str = "Restart it to load the server."

    def shown(self, server: Mapping[str, Any]) -> str:
        """The server as it would stand in an empty file."""
        return self.put("", server)

    def put(self, text: str, server: Mapping[str, Any]) -> str:
        """The file's text with our server in it."""
        path = (self.key, NAME)
        before = self._read(text)
        entry = merged(self._servers(before).get(NAME), {**self.also, **server})
        change = toml_tables.with_table if self.is_toml else jsonc.with_member
        return self._checked(before, change(text, path, entry), entry)

    def remove(self, text: str) -> str:
        """The file's text without our server."""
        path = (self.key, NAME)
        before = self._read(text)
        change = toml_tables.without_table if self.is_toml else jsonc.without_member
        return self._checked(before, change(text, path), None)

    def _checked(self, before: dict[str, Any], after: str, entry: dict[str, Any] | None) -> str:
        """A text that does not say what it should is never written: there are more ways to spell a
        table than are changed here."""
        with contextlib.suppress(Malformed):
            found = self._read(after)
            is_there = self._servers(found).get(NAME) == entry
            if is_there and jsonc.same_but(before, found, (self.key, NAME)):
                return after
        raise Malformed(f"{self.key}.{NAME} is written in a way that is not changed here", 1)

    def _read(self, text: str) -> dict[str, Any]:
        return toml_tables.read(text) if self.is_toml else jsonc.read(text)

    def _servers(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        servers = config.get(self.key, {})
        if not isinstance(servers, dict):
            raise Malformed(f"{self.key} holds no servers", 1)
        return servers


def _home() -> Path:
    # HOME and not the password database: that is where the clients look.
    return Path(os.path.expanduser("~"))


def claude_folder() -> Path | None:
    """Where Claude Code was told to keep its files, if it was."""
    given = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else None


def _claude() -> Path:
    return (claude_folder() or _home()) / ".claude.json"


def _codex() -> Path:
    given = os.environ.get("CODEX_HOME")
    return (Path(given) if given else _home() / ".codex") / "config.toml"


def _vscode() -> Path:
    if sys.platform == "darwin":
        return _home() / "Library/Application Support/Code/User/mcp.json"
    given = os.environ.get("XDG_CONFIG_HOME")
    return (Path(given) if given else _home() / ".config") / "Code/User/mcp.json"


CLIENTS: Final = (
    McpClient(
        "claude", "Claude Code", "mcpServers", _claude, also={"type": "stdio"},
        after="Start it anew; `/mcp` shows the server.",
    ),
    McpClient("codex", "Codex", "mcp_servers", _codex, is_toml=True),
    McpClient(
        "cursor", "Cursor", "mcpServers", lambda: _home() / ".cursor/mcp.json",
        after="Switch the server on under Settings, MCP.",
    ),
    McpClient(
        "vscode", "VS Code", "servers", _vscode, also={"type": "stdio"},
        after="Start it with the command `MCP: List Servers`.",
    ),
    McpClient("json", "Any client", "mcpServers"),
)  # fmt: skip
