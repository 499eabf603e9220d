"""``roost install CLIENT``: one verb per client, made from the table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from roost.frontends.cli.install import claude_plugin
from roost.frontends.cli.install.clients import CLIENTS, McpClient
from roost.frontends.cli.install.config_file import Written, rewrite
from roost.frontends.cli.install.entry import server
from roost.frontends.cli.install.extension_command import install_extension
from roost.local.home import Home
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
    ("files", {"type": FOLDER, "help": "A further folder for uploads and saved files."}),
    ("names", {"type": click.Choice(["browser", "firefox"]), "help": "How tools are called."}),
    ("tools", {"metavar": "core|all|a,b", "help": "Which tools are listed."}),
)
"""Flags of ``roost mcp``, passed on as they are given."""


@click.group()
def install() -> None:
    """Write Roost into the configuration of an agent's client, or of your own browser.

    Whatever else stands in the file stays as it is, and a backup is made beside it.
    """


def _verb(client: McpClient) -> click.Command:
    def verb(
        print_only: bool, remove: bool, file: Path | None, plugin: bool = False, **given: str
    ) -> None:
        home = Home.find()
        flags = [part for name, _ in FLAGS if given[name] for part in (f"--{name}", given[name])]
        where = file or (client.file() if client.file else None)
        if print_only or where is None:
            _print(client, home, flags, plugin=plugin)
        elif remove:
            _tell(client, rewrite(where, client.remove), where, "is no longer in")
            if client.word == "claude":
                claude_plugin.remove(home)
        else:
            entry = server(home, flags)
            done = rewrite(where, lambda text: client.put(text, entry))
            _tell(client, done, where, "is in", after=client.after)
            if plugin:
                settings = claude_plugin.settings_file()
                written = claude_plugin.install(home)
                _tell(client, written, settings, "is, as a plugin, in")

    verb.__doc__ = f"{client.title}: {_place(client)}"
    return click.command(client.word)(_options(client)(verb))


def _options(client: McpClient) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        for name, about in reversed(FLAGS):
            verb = click.option(f"--{name}", **about)(verb)
        if client.word == "claude":
            about_plugin = "Also the plugin: focus loops (/focus) and their Stop hook."
            verb = click.option("--plugin", is_flag=True, help=about_plugin)(verb)
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


def _print(client: McpClient, home: Home, flags: list[str], *, plugin: bool) -> None:
    click.echo(client.shown(server(home, flags)), nl=False)
    if plugin:
        click.echo(json.dumps(claude_plugin.settings(home), indent=2))


def _tell(client: McpClient, done: Written | None, where: Path, what: str, after: str = "") -> None:
    if done is None:
        click.echo(f"{client.title}: {where} is as it should be; nothing was changed.")
        return
    backup = f" (before: {done.backup})" if done.backup else ""
    click.echo(f"{client.title}: roost {what} {where}{backup}.")
    if after:
        click.echo(after)


for client in CLIENTS:
    install.add_command(_verb(client))
install.add_command(install_extension)
