"""``roost demo``: show several agents at work, and prove that they cannot disturb each other."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import click

from roost.frontends.cli.install.invocation import own_spelling, way_onto_path

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
    from roost.demo.story import tell
    from roost.frontends.cli.broker_call import caller
    from roost.frontends.cli.options import CommonFlags
    from roost.frontends.cli.terminal import COLORS, console

    def operator(home: Home) -> AbstractAsyncContextManager[Client]:
        return caller(CommonFlags(operator=True), home=home)

    if not tell(browser, operator=operator, console=console(), colors=COLORS):
        ctx.exit(1)
    click.echo(f"\nNext:  {own_spelling()} install  # put Roost into your coding agents")
    if (line := way_onto_path()) is not None:
        click.echo(f"Or:    {line}  # and then: roost install")
