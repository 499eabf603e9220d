"""Text fit for a terminal, tables fit for a pipe.

Names, titles and addresses come from agents and web pages: they are shown, never obeyed. So control
characters are spelt out, and nothing from outside is read as rich markup.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

PIPE_COLUMNS = 240
"""Whoever reads a table from a pipe wants whole ids, not a screen's width."""

COLORS = {
    "blue": "blue",
    "red": "red",
    "yellow": "yellow",
    "green": "green",
    "pink": "bright_magenta",
    "purple": "magenta",
    "cyan": "cyan",
    "orange": "dark_orange",
    "grey": "bright_black",
}


def plain(value: object) -> str:
    """The value on one line, with whatever a terminal might obey spelt out."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def echo_json(value: Any) -> None:
    # ASCII: valid whatever the terminal's encoding is.
    click.echo(json.dumps(value, indent=2))


def console() -> Console:
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def table(*columns: str, title: str | None = None) -> Table:
    """An open table: no lines to copy along with the text."""
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def cell(value: object, style: str = "") -> Text:
    """Text for a table, never markup."""
    from rich.text import Text

    return Text("–" if value is None else plain(value), style=style)


def duration(seconds: float) -> str:
    """About how long, in the largest fitting unit."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
