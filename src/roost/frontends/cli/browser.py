"""``roost browser install``: install a browser from the system's packages and show the progress."""

from __future__ import annotations

import sys

import click

from roost.errors import BrowserLost
from roost.frontends.cli.terminal import plain

KINDS = ("chromium", "firefox")


@click.group()
def browser() -> None:
    """Browsers on this machine."""


@browser.command()
@click.argument("kind", type=click.Choice(KINDS), default="chromium")
@click.option(
    "--print", "print_only", is_flag=True, help="Print the commands without running them."
)
def install(kind: str, print_only: bool) -> None:
    """Install a browser with the system's package manager, if there is none yet."""
    from roost.local.browsers import find_browser, installation

    try:
        found = find_browser(kind)
    except BrowserLost:
        found = None
    if found is not None and not print_only:
        click.echo(f"{kind} is here: {found}")
        return
    plan = installation(kind)
    if print_only:
        click.echo(str(plan))
        return
    if plan.commands[0][0] == "sudo" and not sys.stdin.isatty():
        raise BrowserLost(f"Installing {kind} needs the administrator's word.", hint=f"Run: {plan}")
    for command in plan.commands:
        click.echo(f"$ {' '.join(command)}", err=True)
        _run(command, str(plan))
    click.echo(f"{kind} is here: {find_browser(kind)}")


def _run(command: tuple[str, ...], plan: str) -> None:
    """Run the command. Without a terminal, show only the last line of a failure."""
    import os
    import subprocess

    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = not sys.stderr.isatty()
    done = subprocess.run(
        command,
        env=environ,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout or b"").decode(errors="replace").strip().splitlines()
        last = f": {plain(said[-1])}" if said else ""
        raise BrowserLost(
            f"{command[0]} failed with code {done.returncode}{last}", hint=f"Run by hand: {plan}"
        )
