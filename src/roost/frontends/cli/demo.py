"""``roost demo``: several agents at work, and proof that they cannot disturb each other."""

from __future__ import annotations

import click


@click.command()
@click.option("--browser", default="auto", metavar="NAME", help="Which browser to use.")
@click.pass_context
def demo(ctx: click.Context, browser: str) -> None:
    """Show several agents sharing one browser. Ends by itself within a minute.

    It has a Roost of its own, in a temporary ROOST_HOME, and leaves nothing behind. Exit code 0
    only if every proof held.
    """
    from roost.frontends.cli.demo_story import tell

    ctx.exit(0 if tell(browser) else 1)
