"""``roost demo``: show several agents at work, and prove that they cannot disturb each other."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from roost.client.client import Client
    from roost.local.home import Home


@click.command()
@click.option(
    "--browser", default="auto", metavar="NAME", help="Browser to use (default: the first found)."
)
@click.pass_context
def demo(ctx: click.Context, browser: str) -> None:
    """Show several agents sharing one browser. Ends by itself within a minute.

    It has a Roost of its own, in a temporary ROOST_HOME, and leaves nothing behind. Exit code 0
    only if every proof held.
    """
    from rich.console import Console

    from roost.demo.story import tell
    from roost.frontends.cli.install.invocation import own_spelling, way_onto_path
    from roost.frontends.cli.terminal import COLORS, PIPE_COLUMNS

    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)
    if not tell(browser, operator=operator, console=console, colors=COLORS):
        ctx.exit(1)
    click.echo(f"\nNext:  {own_spelling()} install  # put Roost into your coding agents")
    if (line := way_onto_path()) is not None:
        click.echo(f"Or:    {line}  # and then: roost install")


@asynccontextmanager
async def operator(home: Home) -> AsyncIterator[Client]:
    """Connect to the broker of the demo as the person."""
    from roost import __version__
    from roost.client.client import Client
    from roost.wire.hello import ClientKind, Hello

    # The client sets the token.
    hello = Hello(token="", kind=ClientKind.CLI, software=__version__, operator=True)
    async with Client(home, hello, start=False) as client:
        await client.reach()
        yield client
