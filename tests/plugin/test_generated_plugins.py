"""The plugins for other clients are written from Claude Code's, and the clients accept them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import roost
from tests.e2e.clients.real_clients import CLAUDE, CODEX, GEMINI, RealClient

ROOT = Path(__file__).parents[2]
SERVER = {"command": "roost", "args": ["mcp"]}


def read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return loaded


def test_the_files_are_what_the_tool_writes() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "tools/gen_plugins.py", "--check"],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize(
    "name",
    [
        "plugins/codex/.codex-plugin/plugin.json",
        "plugins/cursor/.cursor-plugin/plugin.json",
        "gemini-extension.json",
        "server.json",
    ],
)
def test_every_plugin_is_of_this_release(name: str) -> None:
    assert read(name)["version"] == roost.__version__


def test_every_plugin_starts_the_same_server() -> None:
    for name in ("plugins/codex/.mcp.json", "plugins/cursor/mcp.json", "gemini-extension.json"):
        assert read(name)["mcpServers"] == {"roost": SERVER}


def test_every_marketplace_names_a_folder_with_a_plugin() -> None:
    for marketplace, manifest in (
        (".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"),
        (".agents/plugins/marketplace.json", ".codex-plugin/plugin.json"),
        (".cursor-plugin/marketplace.json", ".cursor-plugin/plugin.json"),
    ):
        (entry,) = read(marketplace)["plugins"]
        source = entry["source"]
        folder = source["path"] if isinstance(source, dict) else source
        assert read(f"{folder}/{manifest}")["name"] == entry["name"] == "roost"


def test_the_registrys_file_keeps_to_the_limits_of_its_schema() -> None:
    """The limits are those of the schema that the file names, of 2025-12-11."""
    server = read("server.json")
    assert "2025-12-11" in server["$schema"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["description"]) <= 100
    (package,) = server["packages"]
    assert {"registryType", "identifier", "transport"} <= set(package)
    assert (package["version"], package["transport"]) == (roost.__version__, {"type": "stdio"})
    (argument,) = package["packageArguments"]
    assert argument == {"type": "positional", "value": "mcp"}
    mark = f"<!-- mcp-name: {server['name']} -->"
    assert mark in (ROOT / "README.md").read_text(encoding="utf-8"), "PyPI's page must have it"


def says(client: RealClient, home: Path, *arguments: str) -> str:
    if client.path is None:
        pytest.skip(f"{client.package} is not installed")
    line = [*client.command()[: -len(client.arguments) - 1], *arguments]
    done = subprocess.run(
        line, cwd=home, env=client.environment(home, home / "roost", "http://127.0.0.1:9"),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("folder", [".", "plugin"])
def test_claude_code_validates_the_plugin(folder: str, tmp_path: Path) -> None:
    assert "Validation passed" in says(CLAUDE, tmp_path, "plugin", "validate", str(ROOT / folder))


@pytest.mark.slow
def test_codex_installs_the_plugin_and_has_the_server(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    says(CODEX, tmp_path, "plugin", "marketplace", "add", str(ROOT))
    says(CODEX, tmp_path, "plugin", "add", "roost@roost")
    told = says(CODEX, tmp_path, "mcp", "get", "roost", "--json")
    found = json.loads(told[told.index("{") :])
    transport = found["transport"]
    assert (transport["command"], transport["args"]) == ("roost", ["mcp"])


@pytest.mark.slow
def test_gemini_cli_accepts_the_extension(tmp_path: Path) -> None:
    folder = tmp_path / "extension"
    folder.mkdir()
    os.symlink(ROOT / "gemini-extension.json", folder / "gemini-extension.json")
    told = says(GEMINI, tmp_path, "extensions", "validate", str(folder))
    assert "successfully validated" in told
