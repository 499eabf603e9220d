"""``roost install`` as a person runs it, in a HOME of the test's own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from roost.frontends.cli.install.clients import CLIENTS, McpClient
from roost.frontends.cli.main import run

KNOWN = [client for client in CLIENTS if client.file is not None]


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody's real configuration is touched."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROOST_HOME", str(tmp_path / "roost"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def where(client: McpClient) -> Path:
    assert client.file is not None
    return client.file()


def loaded(client: McpClient) -> dict[str, Any]:
    text = where(client).read_text(encoding="utf-8")
    return tomllib.loads(text) if client.is_toml else json.loads(text)


def entry(client: McpClient) -> dict[str, Any]:
    found: dict[str, Any] = loaded(client)[client.key]["roost"]
    return found


def row(word: str) -> McpClient:
    return next(client for client in CLIENTS if client.word == word)


@pytest.mark.parametrize("client", KNOWN, ids=lambda client: client.word)
def test_the_entry_leaves_nothing_to_the_clients_environment(
    client: McpClient, person: Path
) -> None:
    assert run(["install", client.word, "--tools", "all", "--session", "s 1"]) == 0
    written = entry(client)
    assert written["command"] == sys.executable
    assert written["args"] == ["-P", "-m", "roost", "mcp", "--session", "s 1", "--tools", "all"]
    assert written["env"] == {"ROOST_HOME": str(person / "roost")}
    done = subprocess.run(
        [written["command"], *written["args"][:3], "--version"],
        env=written["env"], cwd=person, capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert done.stdout.startswith("roost "), done.stderr


@pytest.mark.parametrize("client", KNOWN, ids=lambda client: client.word)
def test_twice_is_once_and_removing_leaves_what_was_there(
    client: McpClient, capsys: pytest.CaptureFixture[str]
) -> None:
    path = where(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = (
        '[mcp_servers.x]\ncommand = "y" # z\n' if client.is_toml else '{\n\t"other": [1, 2]\n}\n'
    )
    path.write_text(before, encoding="utf-8")
    assert run(["install", client.word]) == 0
    once = path.read_bytes()
    assert run(["install", client.word]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert path.read_bytes() == once
    assert path.with_name(f"{path.name}.roost-backup").read_text() == before
    assert run(["install", client.word, "--remove"]) == 0
    left = loaded(client)
    assert left.pop(client.key) == ({"x": {"command": "y"}} if client.is_toml else {})
    assert left == ({} if client.is_toml else {"other": [1, 2]})
    assert run(["install", client.word, "--remove"]) == 0
    assert "nothing was changed" in capsys.readouterr().out


@pytest.mark.parametrize("client", KNOWN, ids=lambda client: client.word)
def test_what_the_person_added_to_the_entry_is_kept(client: McpClient) -> None:
    path = where(client)
    run(["install", client.word, "--name", "old"])
    text = path.read_text(encoding="utf-8")
    if client.is_toml:
        text = text.replace("[mcp_servers.roost]", "[mcp_servers.roost]\nstartup_timeout_sec = 30")
        text += 'MINE = "1"\n'
    else:
        text = text.replace('"roost": {', '"roost": {"timeout": 30,')
        text = text.replace('"env": {', '"env": {"MINE": "1",')
    path.write_text(text, encoding="utf-8")
    assert run(["install", client.word]) == 0
    written = entry(client)
    assert 30 in (written.get("startup_timeout_sec"), written.get("timeout"))
    assert written["env"]["MINE"] == "1"
    assert "--name" not in written["args"]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.word)
def test_print_shows_a_whole_file_and_writes_nothing(
    client: McpClient, person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install", client.word, "--print"]) == 0
    out = capsys.readouterr().out
    shown = tomllib.loads(out) if client.is_toml else json.loads(out)
    assert shown[client.key]["roost"]["command"] == sys.executable
    assert list(person.iterdir()) == []


@pytest.mark.parametrize(
    ("word", "text", "line"),
    [
        ("claude", '{\n"mcpServers": {\n', 3),
        ("cursor", '{"mcpServers": []}', 1),
        ("vscode", "{\n// fine\n]", 3),
        ("codex", "[a]\nb = \n", 2),
        ("codex", 'mcp_servers = { roost = { command = "x" } }\n', 1),
        ("codex", "mcp_servers = 7\n", 1),
        ("codex", 'a = """\n[mcp_servers.roost]\n"""\n', 1),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_named_and_stays(
    word: str, text: str, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = where(row(word))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert run(["install", word]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"BAD_REQUEST: {path}, line {line}: ")
    assert "--print" in said
    assert path.read_text(encoding="utf-8") == text
    assert [file.name for file in path.parent.iterdir() if file.is_file()] == [path.name]


def test_comments_in_vs_codes_file_survive() -> None:
    path = where(row("vscode"))
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "servers": {}, // none yet\n}\n', encoding="utf-8")
    assert run(["install", "vscode"]) == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith('{\n  // mine\n  "servers": {\n    "roost": {\n      "type": "stdio",')
    assert text.endswith("  }, // none yet\n}\n")


def test_a_file_can_be_named_for_any_client(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install", "json", "--file", str(person / "mcp.json")]) == 0
    assert "roost" in json.loads((person / "mcp.json").read_text())["mcpServers"]
    assert run(["install", "claude", "--file", str(person / ".mcp.json")]) == 0
    assert json.loads((person / ".mcp.json").read_text())["mcpServers"]["roost"]["type"] == "stdio"
    assert not (person / ".claude.json").exists()


def test_clients_are_found_where_they_were_told_to_live(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(person / "cc"))
    monkeypatch.setenv("CODEX_HOME", str(person / "cx"))
    assert run(["install", "claude", "--plugin"]) == 0
    assert run(["install", "codex"]) == 0
    assert {path.name for path in (person / "cc").iterdir()} == {".claude.json", "settings.json"}
    assert (person / "cx/config.toml").is_file()


def test_the_plugin_is_copied_with_a_hook_that_runs_this_roost(person: Path) -> None:
    settings = person / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}', encoding="utf-8")
    assert run(["install", "claude", "--plugin"]) == 0
    plugin = person / "roost/claude-plugin"
    assert json.loads(settings.read_text()) == {
        "model": "opus",
        "extraKnownMarketplaces": {
            "roost": {"source": {"source": "directory", "path": str(plugin)}}
        },
        "enabledPlugins": {"roost@roost": True},
    }
    assert not (plugin / ".mcp.json").exists(), "the server is in .claude.json already"
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())
    line = hooks["hooks"]["Stop"][0]["hooks"][0]["command"]
    home, *command = shlex.split(line)
    assert home == f"ROOST_HOME={person / 'roost'}"
    assert command == [sys.executable, "-P", "-m", "roost", "hook", "stop"]
    done = subprocess.run(
        ["sh", "-c", line], input=b"{}", env={}, capture_output=True, cwd=person, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    assert run(["install", "claude", "--plugin"]) == 0
    assert run(["install", "claude", "--remove"]) == 0
    assert not plugin.exists()
    assert json.loads(settings.read_text()) == {
        "model": "opus",
        "extraKnownMarketplaces": {},
        "enabledPlugins": {},
    }


def test_a_module_in_the_agents_folder_does_not_replace_ours(person: Path) -> None:
    run(["install", "claude"])
    written = entry(row("claude"))
    (person / "roost.py").write_text("print('taken over')")
    (person / "json.py").write_text("print('taken over')")
    done = subprocess.run(
        [written["command"], *written["args"][:3], "--version"],
        env=written["env"], cwd=person, capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert done.stdout.startswith("roost ")


def test_a_folder_is_written_whole(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(person)
    run(["install", "cursor", "--files", "uploads"])
    assert entry(row("cursor"))["args"][-2:] == ["--files", str(person / "uploads")]


def test_a_source_tree_that_is_not_installed_is_found_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Path(__file__).parents[4] / "src"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["/elsewhere", str(source)]))
    run(["install", "cursor"])
    assert entry(row("cursor"))["env"]["PYTHONPATH"] == str(source)
