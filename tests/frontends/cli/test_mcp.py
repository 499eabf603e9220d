"""``roost mcp`` from the command line's side; what it does is tested in tests/shim."""

from __future__ import annotations

import os

import pytest
from click.testing import CliRunner

from roost.frontends.cli.main import cli


def test_it_is_listed_with_the_other_commands() -> None:
    listed = CliRunner().invoke(cli, ["--help"]).output

    assert "MCP server on stdio" in listed


def test_flags_before_it_do_not_keep_it_from_becoming_the_shim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    became: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: became.append(command))
    CliRunner().invoke(cli, ["--operator", "mcp", "--tools", "all", "--help"])

    assert [command[1:] for command in became] == [
        ["-P", "-m", "roost", "mcp", "--tools", "all", "--help"]
    ]
