"""``roost profile``: manage the logins that cloned jars start with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.table import Table
from roost.frontends.cli.terminal import cell, echo_json, plain, show

if TYPE_CHECKING:
    from roost.api.jar_views import ProfileView

IMPORT_SECONDS = 300.0
"""The import may take long, because a person may have to unlock a keyring first."""


@click.group()
def profile() -> None:
    """Logins that sessions can start with: import, list, remove."""


@profile.command("import")
@click.argument("source", type=click.Path())
@click.option("--name", required=True, help="Name of the profile. Replaces a profile of that name.")
@click.option("--domain", "domains", multiple=True, help="Import only this site. May be repeated.")
@click.option("--any-agent", is_flag=True, help="Let every agent clone this profile.")
@json_option
@operator_option
@click.pass_obj
def import_(
    flags: CommonFlags, source: str, name: str, domains: tuple[str, ...], any_agent: bool
) -> None:
    """Read logins from SOURCE, which is never written to: a Firefox or Chromium profile folder
    (the browser may be running), a Playwright storage-state JSON, or a cookies.txt.

    An agent may use the profile it was started with (`roost mcp --profile NAME`). With --any-agent
    every agent may use this one."""
    from roost.frontends.cli.broker_call import ask

    view = ask(
        flags,
        orders.PROFILE_IMPORT,
        start=True,
        timeout=IMPORT_SECONDS,
        source=os.path.abspath(os.path.expanduser(source)),
        name=name,
        domains=list(domains),
        any_agent=any_agent,
    )
    if flags.json:
        echo_json(view.to_wire())
        return
    click.echo(
        f"{plain(view.name)}: {view.cookies} cookies of {view.sites} sites and the storage of"
        f" {view.origins}, from a {view.source} source."
    )
    for line in view.left_out or ():
        click.echo(f"left out: {plain(line)}")


@profile.command("list")
@json_option
@operator_option
@click.pass_obj
def list_(flags: CommonFlags) -> None:
    """List profiles."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.PROFILE_LIST, start=True)
    if flags.json:
        echo_json(view.to_wire()["profiles"])
    else:
        show(flags, _table(view.profiles) if view.profiles else "No profiles.")
        for note in view.notes or ():
            click.echo(plain(note), err=True)


@profile.command("remove")
@click.argument("name")
@json_option
@operator_option
@click.pass_obj
def remove(flags: CommonFlags, name: str) -> None:
    """Forget profile NAME. Sessions that were cloned from it keep what they have."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.PROFILE_REMOVE, start=True, name=name)
    if flags.json:
        echo_json(view.to_wire()["profiles"])
    else:
        click.echo(f"{plain(name)} is gone.")


def _table(profiles: Sequence[ProfileView]) -> Table:
    shown = Table("PROFILE", "SOURCE", "COOKIES", "SITES", "STORAGE", "AGENTS", "IMPORTED")
    for one in profiles:
        when = datetime.fromisoformat(str(one.imported_at)).astimezone()
        numbers = [cell(number) for number in (one.cookies, one.sites, one.origins)]
        agents = "any" if one.any_agent else "started with it"
        at = f"{when:%Y-%m-%d %H:%M}"
        shown.add_row(cell(one.name), cell(one.source), *numbers, cell(agents), cell(at))
    return shown
