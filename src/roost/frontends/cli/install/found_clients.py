"""``roost install`` without a name: find the clients on this machine, and ask about each."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from roost.errors import RoostError
from roost.frontends.cli.install.clients import CLIENTS, McpClient
from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.config_file import text_of
from roost.frontends.cli.install.entry import server
from roost.frontends.cli.install.installation import asked_approval, put, take_out
from roost.frontends.cli.install.invocation import own_spelling
from roost.frontends.cli.install.sandbox import SANDBOXED, offer
from roost.local.home import Home, home_note

NONE = (
    "Roost found no coding agent that it knows on this machine.\n"
    "To prepare one: `{roost} install NAME`, with one of {words}.\n"
    "For any other client, `{roost} install json` prints the entry."
)


def found() -> list[McpClient]:
    """Return the clients that are on this machine."""
    return [client for client in CLIENTS if client.is_here()]


def has_roost(client: McpClient) -> bool:
    """Return whether the client's file has our entry. A file that cannot be read has none."""
    assert client.file is not None
    try:
        return bool(client.entry_in(text_of(client.file())))
    except (Malformed, RoostError):
        return False


def install_found(*, yes: bool, remove: bool) -> int:
    """Put Roost into the clients that are here, or take it out. Return the exit code.

    yes: do not ask. Without a terminal nobody can be asked, so the clients are only listed.
    """
    clients = [one for one in found() if not remove or has_roost(one)]
    if not clients and remove:
        click.echo("Roost is in no client's configuration.")
        return 0
    if not clients:
        words = ", ".join(client.word for client in CLIENTS if client.file is not None)
        click.echo(NONE.format(roost=own_spelling(), words=words))
        return 0
    if not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        _list(clients, remove=remove)
        return 0
    if (note := home_note()) is not None:
        click.echo(f"warning: {note}", err=True)
    results = [_one(client, yes=yes, remove=remove) for client in clients]
    return 0 if all(results) else 1


def _one(client: McpClient, *, yes: bool, remove: bool) -> bool:
    """Ask about one client and change its file. Return False if that failed.

    A broken file of one client does not keep Roost from the others.
    """
    assert client.file is not None
    where = client.file()
    home = Home.find()
    if not remove and has_roost(client):
        question = f"{client.title} has Roost already. Write the entry anew?"
    elif remove:
        question = f"{client.title}: take Roost out of {_short(where)}?"
    else:
        question = f"{client.title}: put Roost into {_short(where)}?"
    if not yes and not click.confirm(question, default=True):
        return True
    try:
        if remove:
            take_out(client, where, home)
            return True
        entry = server(home, ())
        if client.word == "codex":
            entry |= asked_approval(client, where)
        put(client, where, entry)
        if client.word in SANDBOXED:
            offer(client)
    except RoostError as error:
        click.echo(f"{client.title}: {error}", err=True)
        click.echo(f"hint: {error.hint}", err=True)
        return False
    return True


def _list(clients: Sequence[McpClient], *, remove: bool) -> None:
    roost, flag = own_spelling(), " --remove" if remove else ""
    state = "is in" if remove else "found"
    click.echo(f"Roost {state} {len(clients)} client{'s' if len(clients) > 1 else ''}:")
    for client in clients:
        assert client.file is not None
        note = "  (has Roost)" if has_roost(client) and not remove else ""
        command = f"{roost} install {client.word}{flag}"
        click.echo(f"  {command}  # {client.title}, {_short(client.file())}{note}")
    click.echo(f"Nothing was changed. To change all: `{roost} install --yes{flag}`.")


def _short(path: Path) -> str:
    user = os.path.expanduser("~")
    return f"~{str(path)[len(user) :]}" if str(path).startswith(user + os.sep) else str(path)
