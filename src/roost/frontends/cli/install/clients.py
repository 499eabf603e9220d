"""Table of the clients: where each keeps its MCP servers, and how it spells them."""

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
"""Name of our entry among a client's servers."""


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
    is_toml: bool = False
    also: Mapping[str, Any] = field(default_factory=dict)
    """Further fields that this client needs in the entry."""
    after: str = "Restart it to load the server."

    def shown(self, server: Mapping[str, Any]) -> str:
        """Return the text of an empty file with our server added."""
        return self.put("", server)

    def put(self, text: str, server: Mapping[str, Any]) -> str:
        """Return the file's text with our server. Raise ``Malformed`` if that is impossible."""
        path = (self.key, NAME)
        before = self._read(text)
        entry = merged(self._servers(before).get(NAME), {**self.also, **server})
        change = toml_tables.with_table if self.is_toml else jsonc.with_member
        return self._checked(before, change(text, path, entry), entry)

    def remove(self, text: str) -> str:
        """Return the file's text without our server. Raise ``Malformed`` if that is impossible."""
        path = (self.key, NAME)
        before = self._read(text)
        change = toml_tables.without_table if self.is_toml else jsonc.without_member
        return self._checked(before, change(text, path), None)

    def _checked(self, before: dict[str, Any], after: str, entry: dict[str, Any] | None) -> str:
        """Return ``after`` only if it parses, has the right entry, and changes nothing else.

        The check is needed because there are more ways to spell a table than this code can change.
        """
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
    # Use HOME and not the password database, because the clients use HOME.
    return Path(os.path.expanduser("~"))


def claude_folder() -> Path | None:
    """Return the folder from CLAUDE_CONFIG_DIR, or None if the variable is not set."""
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
