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

import click
import pytest
import yaml

from roost.errors import Unsupported
from roost.frontends.cli.install import claude_plugin
from roost.frontends.cli.install.clients import CLIENTS, McpClient
from roost.frontends.cli.install.config_text import JSON, TOML, YAML
from roost.frontends.cli.install.entry import interpreter
from roost.frontends.cli.main import run
from roost.local.home import Home

KNOWN = [client for client in CLIENTS if client.file is not None]


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a home folder of the test, so that no real configuration is changed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROOST_HOME", str(tmp_path / "roost"))
    for name in (
        "CLAUDE_CONFIG_DIR", "CLINE_MCP_SETTINGS_PATH", "CODEX_HOME", "COPILOT_HOME",
        "GEMINI_CLI_HOME", "XDG_CONFIG_HOME",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))  # no client is found there
    return tmp_path


def where(client: McpClient) -> Path:
    assert client.file is not None
    return client.file()


def is_toml(client: McpClient) -> bool:
    return client.format is TOML


def parsed(client: McpClient, text: str) -> dict[str, Any]:
    """Read the text with a library of its own format, not with what wrote it."""
    if client.format is TOML:
        return tomllib.loads(text)
    read: dict[str, Any] = yaml.safe_load(text) if client.format is YAML else json.loads(text)
    return read


def loaded(client: McpClient) -> dict[str, Any]:
    return parsed(client, where(client).read_text(encoding="utf-8"))


def entry(client: McpClient) -> dict[str, Any]:
    """Return the entry as most clients spell it."""
    found: dict[str, Any] = loaded(client)[client.key]["roost"]
    if client.word == "opencode":
        command, *args = found["command"]
        found = {**found, "command": command, "args": args, "env": found["environment"]}
    if client.word == "goose":
        found = {**found, "command": found["cmd"], "env": found["envs"]}
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
def test_installing_twice_changes_nothing_and_removing_keeps_other_entries(
    client: McpClient, capsys: pytest.CaptureFixture[str]
) -> None:
    path = where(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = {
        TOML: '[mcp_servers.x]\ncommand = "y" # z\n',
        YAML: "other: [1, 2]\n",
    }.get(client.format, '{\n\t"other": [1, 2], // why\n}\n')
    path.write_text(before, encoding="utf-8")
    assert run(["install", client.word]) == 0
    once = path.read_bytes()
    assert run(["install", client.word]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert path.read_bytes() == once
    assert path.with_name(f"{path.name}.roost-backup").read_text() == before
    assert run(["install", client.word, "--remove"]) == 0
    assert is_toml(client) or path.read_text(encoding="utf-8").startswith(before[:-3])
    left = client.format.read(path.read_text(encoding="utf-8"))
    assert left.pop(client.key) == ({"x": {"command": "y"}} if is_toml(client) else {})
    assert left == ({} if is_toml(client) else {"other": [1, 2]})
    assert run(["install", client.word, "--remove"]) == 0
    assert "nothing was changed" in capsys.readouterr().out


@pytest.mark.parametrize("client", KNOWN, ids=lambda client: client.word)
def test_what_the_person_added_to_the_entry_is_kept(client: McpClient) -> None:
    path = where(client)
    run(["install", client.word, "--name", "old"])
    text = path.read_text(encoding="utf-8")
    if is_toml(client):
        added = "[mcp_servers.roost]\nstartup_timeout_sec = 30 # slow here"
        text = text.replace("[mcp_servers.roost]", added)
        text += 'MINE = "1"\n'
    else:
        text = text.replace('"roost": {', '"roost": {"timeout": 30,')
        text = text.replace('"env": {', '"env": {"MINE": "1",')
        text = text.replace('"environment": {', '"environment": {"MINE": "1",')
        text = text.replace("    envs:\n", '    timeout: 30\n    envs:\n      MINE: "1"\n')
    path.write_text(text, encoding="utf-8")
    assert run(["install", client.word]) == 0
    written = entry(client)
    assert 30 in (written.get("startup_timeout_sec"), written.get("timeout"))
    assert written["env"]["MINE"] == "1"
    assert "--name" not in written["args"]
    assert not is_toml(client) or "# slow here" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.word)
def test_print_shows_a_whole_file_and_writes_nothing(
    client: McpClient, person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install", client.word, "--print"]) == 0
    out = capsys.readouterr().out
    assert sys.executable in str(parsed(client, out)[client.key]["roost"])
    assert list(person.iterdir()) == []


@pytest.mark.parametrize(
    ("word", "text", "line"),
    [
        ("claude", '{\n"mcpServers": {\n', 3),
        ("cursor", '{"mcpServers": []}', 1),
        ("zed", '// settings\n{\n  "context_servers": {,}\n}', 3),
        ("goose", "extensions:\n  a: [\n", 3),
        ("goose", "a: 1\nextensions: {x: {}}\n", 2),
        ("vscode", "{\n// fine\n]", 3),
        ("codex", "[a]\nb = \n", 2),
        ("codex", "mcp_servers = 7\n", 1),
        ("opencode", '{"mcp": {"roost": 1}', 1),
        ("gemini", '{"a": 1 // open\n', 2),
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


@pytest.mark.parametrize("word", ["vscode", "opencode", "gemini", "zed", "cline"])
def test_comments_of_a_file_stay(word: str) -> None:
    client = row(word)
    path = where(client)
    path.parent.mkdir(parents=True)
    before = f'// mine\n{{\n  "{client.key}": {{}}, // none yet\n  "x": 1 // last\n}}\n'
    path.write_text(before, encoding="utf-8")
    assert run(["install", word]) == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith("// mine\n")
    assert text.endswith(', // none yet\n  "x": 1 // last\n}\n')
    assert client.entry_in(text)
    assert run(["install", word, "--remove"]) == 0
    assert client.entry_in(path.read_text(encoding="utf-8")) == {}
    assert path.read_text(encoding="utf-8").count("//") == 3


def test_inline_tables_and_texts_that_look_like_tables_are_understood() -> None:
    path = where(row("codex"))
    path.parent.mkdir()
    for text in (
        'mcp_servers = { roost = { command = "x" } } # mine\n',
        'a = """\n[mcp_servers.roost]\n"""\n',
        'mcp_servers.roost.command = "x"\n[z] # mine\n',
    ):
        path.write_text(text, encoding="utf-8")
        assert run(["install", "codex"]) == 0
        assert entry(row("codex"))["command"] == sys.executable
        assert ("# mine" in path.read_text()) == ("# mine" in text)


def test_a_plain_file_keeps_its_indentation_line_ends_and_odd_characters() -> None:
    path = where(row("cursor"))
    path.parent.mkdir()
    before = '\ufeff{\r\n\t"é": "\\ud83d",\r\n\t"n": 12345678901234567890\r\n}'
    path.write_bytes(before.encode())
    assert run(["install", "cursor"]) == 0
    text = path.read_bytes().decode()
    assert text.startswith('\ufeff{\r\n\t"')
    assert "\n" not in text.replace("\r\n", "")
    assert json.loads(text[1:])["n"] == 12345678901234567890
    assert json.loads(text[1:])["é"] == "\ud83d"


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_codex_is_given_an_approval_mode_only_when_asked_for(
    is_asked_for: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--approve"] if is_asked_for else []
    assert run(["install", "codex", *flags]) == 0
    written = entry(row("codex")).get("default_tools_approval_mode")
    assert written == ("approve" if is_asked_for else None)
    assert ("`codex exec`" in capsys.readouterr().out) != is_asked_for
    assert run(["install", "codex"]) == 0
    assert entry(row("codex")).get("default_tools_approval_mode") == written, "the answer stands"
    assert ("--approve" in capsys.readouterr().out) != is_asked_for


@pytest.mark.parametrize(("answer", "mode"), [("y", "approve"), ("", None)])
def test_a_person_at_a_terminal_is_asked_for_codexs_approval_mode(
    answer: str, mode: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(click.termui, "visible_prompt_func", lambda _: answer)
    assert run(["install", "codex"]) == 0
    assert entry(row("codex")).get("default_tools_approval_mode") == mode


CLAUDE_ON = '{"sandbox": {"enabled": true, "excludedCommands": ["docker *"]}} // mine\n'


def test_roost_is_exempt_from_a_clients_sandbox_until_it_is_removed(person: Path) -> None:
    settings, rules = person / ".claude/settings.json", person / ".codex/rules/roost.rules"
    settings.parent.mkdir()
    settings.write_text(CLAUDE_ON)
    for client in ("claude", "codex"):
        assert run(["install", client, "--sandbox"]) == 0
        assert run(["install", client, "--sandbox"]) == 0
    assert JSON.read(settings.read_text())["sandbox"] == {
        "enabled": True,
        "excludedCommands": ["docker *", "roost *"],
    }
    assert 'prefix_rule(pattern = ["roost"], decision = "allow")' in rules.read_text()
    for client in ("claude", "codex"):
        assert run(["install", client, "--remove"]) == 0
    assert JSON.read(settings.read_text()) == JSON.read(CLAUDE_ON)
    assert not rules.exists()


def test_a_rules_file_that_the_person_changed_stays(person: Path) -> None:
    rules = person / ".codex/rules/roost.rules"
    assert run(["install", "codex", "--sandbox"]) == 0
    rules.write_text(rules.read_text() + "# mine\n")
    assert run(["install", "codex", "--remove"]) == 0
    assert rules.read_text().endswith("# mine\n")


@pytest.mark.parametrize("answer", ["y", ""])
def test_a_person_is_asked_about_the_sandbox_only_where_it_is_on(
    answer: str, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def says(question: str) -> str:
        asked.append(question)
        return answer

    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(click.termui, "visible_prompt_func", says)
    assert run(["install", "claude"]) == 0
    assert asked == [], "its sandbox is off"
    (person / ".claude").mkdir(exist_ok=True)
    (person / ".claude/settings.json").write_text(CLAUDE_ON)
    assert run(["install", "claude"]) == 0
    assert len(asked) == 1
    excluded = JSON.read((person / ".claude/settings.json").read_text())["sandbox"]
    assert ("roost *" in excluded["excludedCommands"]) == (answer == "y")
    assert run(["install", "codex", "--approve"]) == 0
    assert len(asked) == 2
    assert (person / ".codex/rules/roost.rules").exists() == (answer == "y")


def test_a_broken_setting_of_the_sandbox_is_named_and_stays(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = person / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"sandbox": {"enabled": true, "excludedCommands": "docker"}}')
    assert run(["install", "claude", "--sandbox"]) == 1
    assert f"{settings}, line 1: sandbox.excludedCommands is not a list" in capsys.readouterr().err
    assert "docker" in settings.read_text()


def test_from_uvs_cache_the_command_goes_through_uvx(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = str(person / ".cache/uv/archive-v0/abc")
    with pytest.raises(Unsupported) as refusal:
        interpreter(prefix, {})
    assert "uv tool install" in refusal.value.hint
    (person / "uvx").touch()
    uvx, flag, requirement, python = interpreter(prefix, {"UV": str(person / "uv")})
    assert (uvx, flag, python) == (str(person / "uvx"), "--from", "python")
    assert requirement.startswith(("roost==", "file://"))


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
    ends = hooks["hooks"]["SubagentStop"][0]["hooks"][0]["command"]
    assert shlex.split(ends)[1:] == [sys.executable, "-P", "-m", "roost", "hook", "report"]

    found = Home(person / "roost")
    assert not claude_plugin.is_stale(found)
    (plugin / "hooks/hooks.json").write_text("{}", encoding="utf-8")
    assert claude_plugin.is_stale(found), "it is of an earlier release"
    assert run(["install", "claude", "--plugin"]) == 0
    assert not claude_plugin.is_stale(found)
    assert run(["install", "claude", "--remove"]) == 0
    assert not plugin.exists()
    assert not claude_plugin.is_stale(found), "nothing is installed"
    assert json.loads(settings.read_text()) == {
        "model": "opus",
        "extraKnownMarketplaces": {},
        "enabledPlugins": {},
    }


def test_a_different_home_variable_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["install", "cursor", "--print"])
    assert capsys.readouterr().err == ""
    monkeypatch.delenv("ROOST_HOME")
    assert run(["install", "cursor", "--print"]) == 0
    assert "Set ROOST_HOME to choose" in capsys.readouterr().err


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


def test_a_folder_option_is_made_absolute(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
