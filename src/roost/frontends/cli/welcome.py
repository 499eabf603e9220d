"""``roost`` without a verb: say what is here and what to do next."""

from __future__ import annotations

import os

import click

from roost import __version__
from roost.errors import BrowserLost, RoostError
from roost.frontends.cli import orders
from roost.frontends.cli.install.invocation import own_spelling
from roost.frontends.cli.options import CommonFlags
from roost.frontends.cli.terminal import plain
from roost.local.home import Home
from roost.local.project_place import find_project


def welcome(flags: CommonFlags) -> None:
    """Print the state of browser, clients and broker, one line each, and the next command."""
    roost = own_spelling()
    browsers, agents = _browsers(), _agents_with_roost()
    running = _running(flags)
    click.echo(f"Roost {__version__}: many agents, one browser.\n")
    click.echo(f"  browser  {', '.join(browsers) or 'none found'}")
    click.echo(f"  agents   {'Roost is in ' + ', '.join(agents) if agents else 'none has Roost'}")
    click.echo(f"  broker   {running or 'not running; the first agent starts it'}")
    if (project := find_project(os.getcwd())) is not None:
        click.echo(f"  project  {plain(project)} counts for agents here")
    click.echo()
    if not browsers:
        step = f"{roost} browser install", "install a browser"
    elif not agents:
        step = f"{roost} install", "put Roost into your coding agents"
    elif running is None:
        step = f"{roost} demo", "see several agents share one browser"
    else:
        step = f"{roost} status", "see who has what"
    click.echo(f"Next:  {step[0]}  # {step[1]}")
    click.echo(f"Help:  {roost} --help")


def _browsers() -> list[str]:
    from roost.local.browsers import NAMES, find_browser

    found = []
    for kind in NAMES:
        try:
            found.append(f"{kind} ({find_browser(kind)})")
        except BrowserLost:
            continue
    return found


def _agents_with_roost() -> list[str]:
    from roost.frontends.cli.install.found_clients import found, has_roost

    return [client.title for client in found() if has_roost(client)]


def _running(flags: CommonFlags) -> str | None:
    """Return the broker's state in one line, or None if it does not run."""
    from roost.local.broker_start import running_broker

    if running_broker(Home.find()) is None:
        return None
    from roost.frontends.cli.broker_call import ask

    try:
        view = ask(flags, orders.STATUS)
    except RoostError as error:
        return f"running, but: {plain(error)}"
    tabs = sum(len(session.tabs) for session in view.sessions)
    counts = ((len(view.agents), "agent"), (len(view.sessions), "session"), (tabs, "tab"))
    shown = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)
    return f"running (pid {view.broker.pid}): {shown}"
