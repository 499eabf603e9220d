"""``roost mcp``, as far as the command line knows it: the shim is dispatched before click is
loaded (see ``roost.__main__``), so this is for ``roost --help`` and flags that come before it."""

from __future__ import annotations

import os
import sys

import click


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def mcp(context: click.Context) -> None:
    """MCP server on stdio for one agent. Starts the broker if there is none."""
    os.execv(sys.executable, [sys.executable, "-P", "-m", "roost", "mcp", *context.args])
