"""The Claude Code plugin is consistent: Claude Code can read its files, and everything they name
exists."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import roost
from roost.api.operations import OPERATIONS, parse
from roost.frontends.cli.main import cli

PLUGIN = Path(__file__).parents[2] / "plugin"
COMMANDS = sorted((PLUGIN / "commands").glob("*.md"))


def read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((PLUGIN / name).read_text(encoding="utf-8"))
    return loaded


def test_the_manifest_has_the_version_of_this_release() -> None:
    manifest = read(".claude-plugin/plugin.json")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"])
    assert manifest["version"] == roost.__version__
    assert manifest["description"]


def test_the_folder_is_a_marketplace_that_offers_the_plugin() -> None:
    offered = read(".claude-plugin/marketplace.json")
    (entry,) = offered["plugins"]
    assert entry["name"] == read(".claude-plugin/plugin.json")["name"]
    assert (PLUGIN / entry["source"] / ".claude-plugin/plugin.json").is_file()


def test_every_hook_calls_a_command_or_an_operation_that_exists() -> None:
    groups = [group for event in read("hooks/hooks.json")["hooks"].values() for group in event]
    hooks = [hook for group in groups for hook in group["hooks"]]
    known: Any = cli.commands["hook"]
    for hook in hooks:
        assert hook["timeout"] > 1, "the hook gives up by itself after a second"
        if hook["type"] == "command":
            roost_, group, name = shlex.split(hook["command"])
            assert (roost_, group) == ("roost", "hook")
            assert name in known.commands
        else:
            assert hook["type"] == "mcp_tool"
            parse(hook["tool"], {**hook["input"], "event": "PreToolUse"})


def test_only_the_stop_hook_can_decide_anything() -> None:
    """The others answer nothing, so that a person's own approvals stay as they are."""
    events = read("hooks/hooks.json")["hooks"]
    stops = [event for event, groups in events.items() if "hook stop" in json.dumps(groups)]
    assert stops == ["Stop"]


def test_a_tool_is_reported_to_the_server_that_the_tool_is_of() -> None:
    """Claude Code calls the server of the plugin by another name than one in its settings."""
    groups = read("hooks/hooks.json")["hooks"]["PreToolUse"]
    servers = {
        group["matcher"]: hook["server"]
        for group in groups
        for hook in group["hooks"]
        if hook["type"] == "mcp_tool"
    }
    assert servers == {
        "mcp__roost__.*": "roost",
        "mcp__plugin_roost_roost__.*": "plugin:roost:roost",
    }


def test_the_server_is_the_stdio_server() -> None:
    assert read(".mcp.json") == {"mcpServers": {"roost": {"command": "roost", "args": ["mcp"]}}}


@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.stem)
def test_every_command_has_its_frontmatter_and_names_only_tools_that_exist(page: Path) -> None:
    _, frontmatter, body = page.read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(frontmatter)
    assert about["description"]
    assert ("$ARGUMENTS" in body) == ("argument-hint" in about)
    named = set(re.findall(r"`((?:loop|session|browser|tab_space|roost)_[a-z_]+)`", body))
    assert named <= set(OPERATIONS)


def test_the_commands_are_those_of_the_contract() -> None:
    assert [page.stem for page in COMMANDS] == ["cancel-focus", "focus", "help"]


@pytest.mark.parametrize(
    "page",
    [PLUGIN / "commands/help.md", *(PLUGIN.parent / "docs/how-to").glob("*.md")],
    ids=lambda page: page.stem,
)
def test_documents_name_the_commands_as_they_are_typed(page: Path) -> None:
    """Claude Code has its own /focus and /help."""
    text = page.read_text(encoding="utf-8").replace("`/focus` and `/help` are Claude Code's", "")
    assert re.findall(r"(?<![\w:./])/(?:focus|cancel-focus|help)\b", text) == []
    typed = set(re.findall(r"/roost:([a-z-]+)", text))
    assert typed <= {page.stem for page in COMMANDS}


def test_the_terminal_commands_the_help_names_exist() -> None:
    text = (PLUGIN / "commands/help.md").read_text(encoding="utf-8")
    for line in re.findall(r"`roost ([a-z ]+)", text):
        command: Any = cli
        for word in line.split():
            command = command.commands[word]
