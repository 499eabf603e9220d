"""``roost hook …``: commands that agents' clients run at their own events."""

from __future__ import annotations

import click


@click.group()
def hook() -> None:
    """For the hooks of agents' clients; see the plugin for Claude Code."""


@hook.command()
def stop() -> None:
    """Claude Code's Stop hook: JSON on stdin, the decision on stdout.

    While a focus loop is active in the session of the client that runs it, the agent is given the
    loop's prompt again; otherwise there is no output, and it stops.
    """
    # ``roost hook stop`` itself never comes here: __main__ runs it before click is loaded.
    from roost.hook.stop import run

    run()


@hook.command()
def report() -> None:
    """Claude Code's hooks for sub-agents: JSON on stdin, no output.

    It tells Roost which sub-agent runs a shell command, or that a sub-agent ended. It decides
    nothing and changes nothing.
    """
    # ``roost hook report`` itself never comes here, either.
    from roost.hook.report import run

    run()
