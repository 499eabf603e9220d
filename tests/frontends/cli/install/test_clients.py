"""What each client's file looks like, as the client's own documentation has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roost.frontends.cli.install.clients import CLIENTS, McpClient
from tests.frontends.cli.install.test_install import parsed

SERVER = {"command": "/bin/python", "args": ["-m", "roost", "mcp"], "env": {"ROOST_HOME": "/r"}}
STDIO = {"type": "stdio", **SERVER}
SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": (".claude.json", {"mcpServers": {"roost": STDIO}}),
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json", {"mcpServers": {"roost": SERVER}},
    ),
    "codex": (".codex/config.toml", {"mcp_servers": {"roost": SERVER}}),
    "cursor": (".cursor/mcp.json", {"mcpServers": {"roost": SERVER}}),
    "vscode": (".config/Code/User/mcp.json", {"servers": {"roost": STDIO}}),
    "gemini": (".gemini/settings.json", {"mcpServers": {"roost": SERVER}}),
    "opencode": (
        ".config/opencode/opencode.json",
        {"mcp": {"roost": {
            "type": "local",
            "command": ["/bin/python", "-m", "roost", "mcp"],
            "environment": {"ROOST_HOME": "/r"},
            "enabled": True,
        }}},
    ),
    "copilot": (
        ".copilot/mcp-config.json",
        {"mcpServers": {"roost": {"type": "local", **SERVER, "tools": ["*"]}}},
    ),
    "windsurf": (".config/devin/mcp_config.json", {"mcpServers": {"roost": SERVER}}),
    "zed": (".config/zed/settings.json", {"context_servers": {"roost": SERVER}}),
    "goose": (
        ".config/goose/config.yaml",
        {"extensions": {"roost": {
            "enabled": True,
            "type": "stdio",
            "name": "roost",
            "description": "A browser session of its own for every agent",
            "cmd": "/bin/python",
            "args": ["-m", "roost", "mcp"],
            "envs": {"ROOST_HOME": "/r"},
        }}},
    ),
    "cline": (
        ".cline/data/settings/cline_mcp_settings.json", {"mcpServers": {"roost": SERVER}},
    ),
}  # fmt: skip
"""Each client's file on Linux, and its whole content. docs/how-to/other-clients.md links to the
documentation with which they were compared. Compare again before you change a row."""


def row(word: str) -> McpClient:
    return next(client for client in CLIENTS if client.word == word)


def test_every_client_with_a_file_has_a_shape() -> None:
    assert {client.word for client in CLIENTS if client.file is not None} == set(SHAPES)


@pytest.mark.parametrize("word", SHAPES)
def test_the_file_is_as_the_clients_documentation_has_it(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    client, (path, content) = row(word), SHAPES[word]
    assert client.file is not None
    assert client.file() == tmp_path / path
    assert parsed(client, client.shown(SERVER)) == content


def test_windsurf_keeps_its_file_where_devin_desktop_never_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    client = row("windsurf")
    assert client.file is not None
    (tmp_path / ".codeium/windsurf").mkdir(parents=True)
    assert client.file() == tmp_path / ".codeium/windsurf/mcp_config.json"
    (tmp_path / ".config/devin").mkdir(parents=True)
    assert client.file() == tmp_path / ".config/devin/mcp_config.json"
