"""``roost install CLIENT``: one verb per client, made from the table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from roost.frontends.cli.install import claude_plugin
from roost.frontends.cli.install.clients import CLIENTS, McpClient
from roost.frontends.cli.install.entry import server
from roost.frontends.cli.install.extension_command import install_extension
from roost.frontends.cli.install.found_clients import install_found
from roost.frontends.cli.install.installation import (
    APPROVED,
    asked_approval,
    put,
    take_out,
    tell,
)
from roost.frontends.cli.install.sandbox import SANDBOXED, exempt, offer
from roost.frontends.cli.install.skill_command import install_skill
from roost.local.home import Home, home_note
from roost.vocabulary import JarPolicy

FOLDER: Final = click.Path(file_okay=False, resolve_path=True)
"""Resolved to a full path, because the client will start the server in another folder."""

FLAGS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("session", {"metavar": "ID", "help": "Join or make this named session."}),
    ("name", {"metavar": "TEXT", "help": "Shown to the person."}),
    ("browser", {"metavar": "KIND", "help": "Which browser its session lives in."}),
    ("jar", {"type": click.Choice([jar.value for jar in JarPolicy]), "help": "Its cookies."}),
    ("profile", {"metavar": "NAME", "help": "Whose logins a cloned jar starts with."}),
    ("allow", {"metavar": "DOMAINS", "help": "Only these sites, addresses or networks."}),
    ("deny", {"metavar": "DOMAINS", "help": "None of these sites, addresses or networks."}),
    ("policy", {"metavar": "FILE|PRESET", "help": "Narrow what the agent may do."}),
    ("files", {"type": FOLDER, "help": "A further folder for uploads and saved files."}),
    ("names", {"type": click.Choice(["browser", "firefox"]), "help": "How tools are called."}),
    ("tools", {"metavar": "core|all|a,b", "help": "Which tools are listed."}),
)
"""Flags of ``roost mcp``, passed on as they are given."""


@click.group(invoke_without_command=True)
@click.option("--yes", is_flag=True, help="Without a client's name: do not ask.")
@click.option("--remove", is_flag=True, help="Without a client's name: take Roost out again.")
@click.pass_context
def install(ctx: click.Context, yes: bool, remove: bool) -> None:
    """Write Roost into the configuration of agents' clients, or of your own browser.

    Without a name, find the clients on this machine and ask about each. Whatever else stands in a
    file stays as it is, and a backup is made beside it.
    """
    if ctx.invoked_subcommand is None:
        ctx.exit(install_found(yes=yes, remove=remove))
    if yes or remove:
        raise click.UsageError(
            f"Say it after the name: `roost install {ctx.invoked_subcommand} --remove`. "
            "A named client is never asked about."
        )


def _verb(client: McpClient) -> click.Command:
    def verb(
        print_only: bool,
        remove: bool,
        file: Path | None,
        plugin: bool = False,
        approve: bool = False,
        sandbox: bool = False,
        **given: str,
    ) -> None:
        home = Home.find()
        if (note := home_note()) is not None:
            click.echo(f"warning: {note}", err=True)
        flags = [part for name, _ in FLAGS if given[name] for part in (f"--{name}", given[name])]
        where = file or (client.file() if client.file else None)
        if remove and where is not None:
            take_out(client, where, home)
            return
        entry = server(home, flags)
        if approve:
            entry |= APPROVED
        if print_only or where is None:
            _print(client, home, entry, plugin=plugin)
            return
        if client.word == "codex" and not approve:
            entry |= asked_approval(client, where)
        put(client, where, entry)
        if plugin:
            _tell_of_plugin(client, claude_plugin.install(home))
        if sandbox:
            exempt(client)
        elif client.word in SANDBOXED and file is None:
            offer(client)

    verb.__doc__ = f"{client.title}: {_place(client)}"
    return click.command(client.word)(_options(client)(verb))


def _options(client: McpClient) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        for name, about in reversed(FLAGS):
            verb = click.option(f"--{name}", **about)(verb)
        if client.word == "claude":
            about_plugin = "Also the plugin: focus loops (/roost:focus) and their Stop hook."
            verb = click.option("--plugin", is_flag=True, help=about_plugin)(verb)
        if client.word == "codex":
            about_approve = "Let Codex use all of Roost's tools without asking."
            verb = click.option("--approve", is_flag=True, help=about_approve)(verb)
        if client.word in SANDBOXED:
            about_sandbox = "Let `roost` commands run outside of the client's sandbox."
            verb = click.option("--sandbox", is_flag=True, help=about_sandbox)(verb)
        path = click.Path(dir_okay=False, path_type=Path)
        verb = click.option("--file", type=path, help="Write there instead.")(verb)
        verb = click.option("--remove", is_flag=True, help="Take it out again.")(verb)
        about_print = "Only show what would be written."
        return click.option("--print", "print_only", is_flag=True, help=about_print)(verb)

    return decorate


def _place(client: McpClient) -> str:
    if client.file is None:
        return "print the server, or put it into the file given with --file."
    return f"put the server under `{client.key}` in its configuration for all projects."


def _print(client: McpClient, home: Home, entry: dict[str, Any], *, plugin: bool) -> None:
    click.echo(client.shown(entry), nl=False)
    if plugin:
        click.echo(json.dumps(claude_plugin.settings(home), indent=2))


def _tell_of_plugin(client: McpClient, done: claude_plugin.PluginInstallation) -> None:
    if done.by_claude:
        click.echo(f"{client.title}: the plugin is installed.")
    else:
        tell(client, done.written, claude_plugin.settings_file(), "is, as a plugin, in")
        click.echo("Older releases of Claude Code have its commands from the second start on.")
    click.echo("Its commands are /roost:focus, /roost:cancel-focus and /roost:help.")


for client in CLIENTS:
    install.add_command(_verb(client))
install.add_command(install_extension)
install.add_command(install_skill)
