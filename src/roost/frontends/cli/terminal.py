"""Print text that is safe for a terminal, and tables that suit a pipe.

Names, titles and addresses come from agents and web pages. The terminal must show them and never
obey them. So control characters are escaped, and nothing from outside is read as rich markup. Where
an agent runs the command, a model reads its output, so the output stands between the untrusted
marks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from roost.frontends.cli.options import CommonFlags
from roost.wire.marks import marked

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

PIPE_COLUMNS = 240
"""Width of tables in a pipe: wide enough for whole ids, because a program reads them."""

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
    """Return the value on one line, with control characters escaped."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def echo_json(value: Any) -> None:
    # ASCII is valid in every encoding of a terminal.
    click.echo(json.dumps(value, indent=2))


def console() -> Console:
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def show(flags: CommonFlags, *parts: RenderableType) -> None:
    """Print tables and lines that hold names, titles or addresses."""
    screen = console()
    if not flags.is_agent:
        for part in parts:
            screen.print(part)
        return
    with screen.capture() as captured:
        for part in parts:
            screen.print(part)
    click.echo(marked([captured.get().rstrip()]))


def show_lines(flags: CommonFlags, lines: Iterable[str]) -> None:
    """Print lines that hold names, titles or addresses."""
    if not flags.is_agent:
        for line in lines:
            click.echo(line)
    elif lines := list(lines):
        click.echo(marked(lines))


def table(*columns: str, title: str | None = None) -> Table:
    """Return a table without borders, so that copied text has none."""
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def cell(value: object, style: str = "") -> Text:
    """Return text for a table that is never read as markup."""
    from rich.text import Text

    return Text("–" if value is None else plain(value), style=style)


def duration(seconds: float) -> str:
    """Return the approximate duration in the largest fitting unit."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
