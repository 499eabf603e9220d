"""``roost mcp`` as click sees it, for ``roost --help`` and for flags that come before ``mcp``.

Usually ``roost.__main__`` starts the shim before click is loaded.
"""

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
