"""``roost install CLIENT``: one verb per client, made from the table."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from roost.errors import BadRequest
from roost.frontends.cli.install import claude_plugin
from roost.frontends.cli.install.clients import CLIENTS, NAME, McpClient
from roost.frontends.cli.install.config_error import Commented, Malformed
from roost.frontends.cli.install.config_file import Written, rewrite, text_of
from roost.frontends.cli.install.entry import server
from roost.frontends.cli.install.extension_command import install_extension
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
    ("files", {"type": FOLDER, "help": "A further folder for uploads and saved files."}),
    ("names", {"type": click.Choice(["browser", "firefox"]), "help": "How tools are called."}),
    ("tools", {"metavar": "core|all|a,b", "help": "Which tools are listed."}),
)
"""Flags of ``roost mcp``, passed on as they are given."""

APPROVED: Final = {"default_tools_approval_mode": "approve"}
WITHOUT_APPROVAL: Final = (
    "Without an approval mode, Codex asks you before each tool that changes something, and "
    "`codex exec`, which cannot ask, refuses those tools."
)


@click.group()
def install() -> None:
    """Write Roost into the configuration of an agent's client, or of your own browser.

    Whatever else stands in the file stays as it is, and a backup is made beside it.
    """


def _verb(client: McpClient) -> click.Command:
    def verb(
        print_only: bool,
        remove: bool,
        file: Path | None,
        plugin: bool = False,
        approve: bool = False,
        **given: str,
    ) -> None:
        home = Home.find()
        if (note := home_note()) is not None:
            click.echo(f"warning: {note}", err=True)
        flags = [part for name, _ in FLAGS if given[name] for part in (f"--{name}", given[name])]
        where = file or (client.file() if client.file else None)
        if remove and where is not None:
            _remove(client, where, home)
            return
        entry = server(home, flags)
        if approve:
            entry |= APPROVED
        if print_only or where is None:
            _print(client, home, entry, plugin=plugin)
            return
        if client.word == "codex" and not approve:
            entry |= _asked_approval(client, where)
        _put(client, where, entry, may_run=file is None)
        if plugin:
            _tell_of_plugin(client, claude_plugin.install(home))

    verb.__doc__ = f"{client.title}: {_place(client)}"
    return click.command(client.word)(_options(client)(verb))


def _put(client: McpClient, where: Path, entry: dict[str, Any], *, may_run: bool) -> None:
    """Write the entry: into the file or, if that has comments, with the client's own command.

    may_run: the file is the one that the client's own command changes.
    """
    try:
        done = rewrite(where, lambda text: client.put(text, entry))
    except Commented:
        line = client.own_command(entry) if client.own_command and may_run else ()
        if not line or shutil.which(line[0]) is None:
            click.echo(client.shown(entry), nl=False)
            raise BadRequest(
                f"{where} has comments, which would be lost.",
                hint="Nothing was changed. Paste what is printed above into the file.",
                file=str(where),
            ) from None
        _run(line)
        click.echo(f"{client.title}: `{line[0]}` has put roost into {where}.")
        click.echo(client.after)
        return
    _tell(client, done, where, "is in", after=client.after)


def _run(line: Sequence[str]) -> None:
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise BadRequest(
            f"`{line[0]}` failed: {said[-1] if said else f'exit code {done.returncode}'}",
            hint="Use --print and put the entry there yourself.",
        )


def _remove(client: McpClient, where: Path, home: Home) -> None:
    try:
        done = rewrite(where, client.remove)
    except Commented:
        raise BadRequest(
            f"{where} has comments, which would be lost.",
            hint=f"Nothing was changed. Take {client.key}.{NAME} out yourself.",
            file=str(where),
        ) from None
    _tell(client, done, where, "is no longer in")
    if client.word == "claude":
        claude_plugin.remove(home)


def _asked_approval(client: McpClient, where: Path) -> dict[str, str]:
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


def _tell(client: McpClient, done: Written | None, where: Path, what: str, after: str = "") -> None:
    if done is None:
        click.echo(f"{client.title}: {where} is as it should be; nothing was changed.")
        return
    backup = f" (before: {done.backup})" if done.backup else ""
    click.echo(f"{client.title}: roost {what} {where}{backup}.")
    if after:
        click.echo(after)


def _tell_of_plugin(client: McpClient, done: claude_plugin.Installed) -> None:
    if done.by_claude:
        click.echo(f"{client.title}: the plugin is installed.")
    else:
        _tell(client, done.written, claude_plugin.settings_file(), "is, as a plugin, in")
        click.echo("Older releases of Claude Code have its commands from the second start on.")
    click.echo("Its commands are /roost:focus, /roost:cancel-focus and /roost:help.")


for client in CLIENTS:
    install.add_command(_verb(client))
install.add_command(install_extension)
