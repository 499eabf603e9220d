"""``roost install`` without a name: it finds what is here, asks, and goes on after a failure."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from roost.frontends.cli.install import found_clients
from roost.frontends.cli.install.clients import CLIENTS, McpClient
from roost.frontends.cli.main import run

HERE = {
    "claude": ".claude", "claude-desktop": ".config/Claude", "codex": ".codex",
    "cursor": ".cursor", "vscode": ".config/Code/User", "gemini": ".gemini",
    "opencode": ".config/opencode", "copilot": ".copilot", "windsurf": ".codeium/windsurf",
    "zed": ".config/zed", "goose": ".config/goose", "cline": ".cline",
}  # fmt: skip
"""A folder that each client leaves in the home of somebody who has started it once."""


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROOST_HOME", str(tmp_path / "roost"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "platform", "linux")
    for name in (
        "CLAUDE_CONFIG_DIR", "CLINE_MCP_SETTINGS_PATH", "CODEX_HOME", "COPILOT_HOME",
        "GEMINI_CLI_HOME", "PYTHONPATH", "XDG_CONFIG_HOME",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A person at a terminal, whose answers are in the list that the test fills."""
    answers: list[str] = []
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(click.termui, "visible_prompt_func", lambda _: answers.pop(0))
    yield answers
    assert answers == [], "every answer was asked for"


def files(person: Path) -> list[str]:
    return sorted(path.name for path in person.rglob("*") if path.is_file())


def test_twelve_clients_are_known_and_each_has_a_folder_it_is_found_by() -> None:
    assert set(HERE) == {client.word for client in CLIENTS if client.file is not None}
    assert len(HERE) >= 12


@pytest.mark.parametrize("word", HERE)
def test_a_client_is_found_by_its_folder(word: str, person: Path) -> None:
    assert found_clients.found() == []
    (person / HERE[word]).mkdir(parents=True)
    assert [client.word for client in found_clients.found()] == [word]


@pytest.mark.parametrize("client", CLIENTS[:-1], ids=lambda client: client.word)
def test_a_client_is_found_by_its_program(client: McpClient, person: Path) -> None:
    program = person / "bin" / client.programs[0]
    program.parent.mkdir()
    program.touch(mode=0o755)
    assert [one.word for one in found_clients.found()] == [client.word]


def test_the_cline_of_vs_code_is_found_where_no_other_is(person: Path) -> None:
    folder = person / ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
    folder.mkdir(parents=True)
    assert run(["install", "cline"]) == 0
    assert (folder / "settings/cline_mcp_settings.json").is_file()
    assert "cline" in [client.word for client in found_clients.found()]
    (person / ".cline").mkdir()
    assert run(["install", "cline"]) == 0
    assert (person / ".cline/data/settings/cline_mcp_settings.json").is_file()


def test_without_a_terminal_the_clients_are_listed_and_nothing_changes(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (".codex", ".cursor"):
        (person / folder).mkdir()
    assert run(["install"]) == 0
    told = capsys.readouterr().out
    assert "install codex  # Codex, ~/.codex/config.toml" in told
    assert "install cursor  # Cursor, ~/.cursor/mcp.json" in told
    assert "install --yes`" in told
    assert files(person) == []


def test_yes_puts_roost_into_all_and_remove_takes_it_out_of_all(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in HERE.values():
        (person / folder).mkdir(parents=True)
    assert run(["install", "--yes"]) == 0
    assert all(found_clients.has_roost(client) for client in found_clients.found())
    assert len(files(person)) == len(HERE)
    assert run(["install", "--remove"]) == 0
    assert capsys.readouterr().out.count("--remove  # ") == len(HERE)
    assert all(found_clients.has_roost(client) for client in found_clients.found())
    assert run(["install", "--yes", "--remove"]) == 0
    assert not any(found_clients.has_roost(client) for client in found_clients.found())
    assert run(["install", "--yes", "--remove"]) == 0
    assert capsys.readouterr().out.endswith("Roost is in no client's configuration.\n")


def test_a_person_at_a_terminal_is_asked_about_each_client(
    person: Path, terminal: list[str]
) -> None:
    for folder in (".cursor", ".gemini"):
        (person / folder).mkdir()
    terminal += ["n", ""]
    assert run(["install"]) == 0
    assert files(person) == ["settings.json"], "the answer to Cursor was no, to Gemini CLI yes"
    terminal += ["y", "n"]
    assert run(["install"]) == 0
    assert files(person) == ["mcp.json", "settings.json"]
    terminal += ["y", "y"]
    assert run(["install", "--remove"]) == 0
    assert not any(found_clients.has_roost(client) for client in found_clients.found())


def test_a_broken_file_stays_and_the_other_clients_get_roost(
    person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (".cursor", ".gemini"):
        (person / folder).mkdir()
    broken = person / ".cursor/mcp.json"
    broken.write_text('{\n"mcpServers": {', encoding="utf-8")
    assert run(["install", "--yes"]) == 1
    assert f"Cursor: BAD_REQUEST: {broken}, line 2" in capsys.readouterr().err
    assert broken.read_text(encoding="utf-8") == '{\n"mcpServers": {'
    settings = json.loads((person / ".gemini/settings.json").read_text(encoding="utf-8"))
    assert "roost" in settings["mcpServers"]


def test_a_machine_without_clients_is_told_how_to_name_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["install"]) == 0
    told = capsys.readouterr().out
    assert "found no coding agent" in told
    assert "windsurf, zed, goose, cline" in told
    assert "install json`" in told


def test_flags_of_the_group_before_a_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", "--remove", "codex"]) == 2
    assert "roost install codex --remove" in capsys.readouterr().err
