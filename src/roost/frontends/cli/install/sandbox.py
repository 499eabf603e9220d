"""Let ``roost`` commands run outside of a client's sandbox: a setting of Claude Code and of Codex.

Their sandboxes keep a command from Roost's unix socket, and on Linux neither can allow one socket.
Both can exempt a command by its first word. That is the narrowest setting: everything else that the
agent runs stays in the sandbox. Roost's MCP server runs outside of the sandbox without it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from roost.errors import RoostError
from roost.frontends.cli.install import claude_plugin
from roost.frontends.cli.install.clients import McpClient
from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.config_file import ChangedFile, rewrite, text_of
from roost.frontends.cli.install.config_text import JSON

SANDBOXED: Final = ("claude", "codex")
"""Clients that have such a sandbox."""
EXCLUDED: Final = ("sandbox", "excludedCommands")
PATTERN: Final = "roost *"
RULE: Final = """\
# Roost's verbs reach Roost's broker over a unix socket, which Codex's sandbox forbids.
# `roost install codex --remove` deletes this file.
prefix_rule(pattern = ["roost"], decision = "allow")
"""
WITHOUT: Final = (
    "{title}'s sandbox keeps `roost` commands from Roost's socket. Its MCP tools work anyway."
)


def exempt(client: McpClient) -> None:
    """Write the setting into the client's files, and say so."""
    where = _place(client)
    done = rewrite(where, _with_pattern if client.word == "claude" else lambda _: RULE)
    what = "already run" if done is None else "now run"
    backup = f" (before: {done.backup})" if done is not None and done.backup else ""
    click.echo(f"{client.title}: `roost` commands {what} outside of its sandbox: {where}{backup}.")


def restore(client: McpClient) -> ChangedFile | None:
    """Take the setting out again. A rules file that the person changed stays."""
    where = _place(client)
    if client.word == "claude":
        return rewrite(where, _without_pattern)
    if text_of(where) == RULE:
        where.unlink()
        return ChangedFile(where, None)
    return None


def offer(client: McpClient) -> None:
    """Ask whether ``roost`` commands may leave the client's sandbox, if that client uses its
    sandbox here.

    Claude Code's sandbox is off unless its settings switch it on. Codex's is on unless its
    settings switch it off. An earlier yes stands.
    """
    with suppress(Malformed, RoostError):  # a broken file is reported when it is to be changed
        if not _is_sandboxed(client) or _is_exempt(client):
            return
        click.echo(WITHOUT.format(title=client.title))
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            click.echo(f"`roost install {client.word} --sandbox` lets them run outside of it.")
        elif click.confirm("Let `roost` commands run outside of it?", default=False):
            exempt(client)


def _place(client: McpClient) -> Path:
    """Return the file that holds the setting."""
    if client.word == "claude":
        return claude_plugin.settings_file()
    assert client.file is not None
    return client.file().parent / "rules/roost.rules"


def _is_sandboxed(client: McpClient) -> bool:
    if client.word == "claude":
        sandbox = JSON.read(text_of(_place(client))).get("sandbox")
        return isinstance(sandbox, dict) and sandbox.get("enabled") is True
    assert client.file is not None
    return client.format.read(text_of(client.file())).get("sandbox_mode") != "danger-full-access"


def _is_exempt(client: McpClient) -> bool:
    text = text_of(_place(client))
    return PATTERN in _excluded(text) if client.word == "claude" else bool(text)


def _with_pattern(text: str) -> str:
    before = _excluded(text)
    return text if PATTERN in before else JSON.change(text, EXCLUDED, [*before, PATTERN])


def _without_pattern(text: str) -> str:
    before = _excluded(text)
    left = [one for one in before if one != PATTERN]
    return text if left == list(before) else JSON.change(text, EXCLUDED, left or None)


def _excluded(text: str) -> Sequence[Any]:
    """Return the commands that Claude Code's settings exclude from the sandbox."""
    sandbox = JSON.read(text).get("sandbox", {})
    found = sandbox.get(EXCLUDED[1], []) if isinstance(sandbox, dict) else None
    if not isinstance(found, list):
        raise Malformed(f"{'.'.join(EXCLUDED)} is not a list of commands", 1)
    return found
