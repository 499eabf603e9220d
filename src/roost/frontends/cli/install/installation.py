"""Write Roost into one client's file or take it out, and say so."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from roost.frontends.cli.install import claude_plugin, sandbox
from roost.frontends.cli.install.clients import McpClient
from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.config_file import ChangedFile, rewrite, text_of
from roost.local.home import Home

APPROVED: Final = {"default_tools_approval_mode": "approve"}
WITHOUT_APPROVAL: Final = (
    "Without an approval mode, Codex asks you before each tool that changes something, and "
    "`codex exec`, which cannot ask, refuses those tools."
)


def put(client: McpClient, where: Path, entry: dict[str, Any]) -> None:
    """Write the entry into the client's file, and say so."""
    done = rewrite(where, lambda text: client.put(text, entry))
    tell(client, done, where, "is in", after=client.after)


def take_out(client: McpClient, where: Path, home: Home) -> None:
    """Take the entry out of the client's file, and say so."""
    tell(client, rewrite(where, client.remove), where, "is no longer in")
    if client.word == "claude":
        claude_plugin.remove(home)
    if client.word in sandbox.SANDBOXED and sandbox.restore(client) is not None:
        click.echo(f"{client.title}: `roost` commands run in its sandbox again.")


def asked_approval(client: McpClient, where: Path) -> dict[str, str]:
    """Ask whether Codex may use the tools without a question each. An earlier answer stands."""
    try:
        has_answer = bool(set(APPROVED) & set(client.entry_in(text_of(where))))
    except Malformed:
        return {}  # writing the entry will be refused, with the line
    if has_answer:
        return {}
    if sys.stdin.isatty() and sys.stdout.isatty():
        click.echo(WITHOUT_APPROVAL)
        if click.confirm("Let Codex use all of Roost's tools without asking?", default=False):
            return APPROVED
    else:
        click.echo(f"{WITHOUT_APPROVAL} `roost install codex --approve` allows them all.")
    return {}


def tell(
    client: McpClient, done: ChangedFile | None, where: Path, what: str, after: str = ""
) -> None:
    """Say what was done to the client's file. ``done`` is None if nothing had to change."""
    if done is None:
        click.echo(f"{client.title}: {where} is as it should be; nothing was changed.")
        return
    backup = f" (before: {done.backup})" if done.backup else ""
    click.echo(f"{client.title}: roost {what} {where}{backup}.")
    if after:
        click.echo(after)
