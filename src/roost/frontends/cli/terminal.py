"""Print text that is safe for a terminal, and tables that suit a pipe.

Names, titles and addresses come from agents and web pages. The terminal must show them and never
obey them. So control characters are escaped. Where an agent runs the command, a model reads its
output, so the output stands between the untrusted marks.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from roost.frontends.cli.options import CommonFlags
from roost.frontends.cli.table import Cell, Table
from roost.wire.marks import marked

TERMINAL_COLUMNS = 80
"""Width of tables in a terminal that does not say how wide it is."""
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


def show(flags: CommonFlags, *parts: Table | Cell | str) -> None:
    """Print tables and lines that hold names, titles or addresses."""
    is_terminal = sys.stdout.isatty()
    colored = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = _terminal_columns() if is_terminal else PIPE_COLUMNS
    show_lines(flags, drawn(parts, width, colored=colored))


def drawn(parts: Iterable[Table | Cell | str], width: int, *, colored: bool) -> Iterator[str]:
    """Yield the lines of tables, cells and texts."""
    for part in parts:
        if isinstance(part, Table):
            yield from part.lines(width, colored=colored)
        else:
            yield part if isinstance(part, str) else part.drawn(part.text, colored=colored)


def _terminal_columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or TERMINAL_COLUMNS
    except (OSError, ValueError):
        return TERMINAL_COLUMNS


def show_lines(flags: CommonFlags, lines: Iterable[str]) -> None:
    """Print lines that hold names, titles or addresses."""
    if not flags.is_agent:
        for line in lines:
            click.echo(line)
    elif lines := list(lines):
        click.echo(marked(lines))


def cell(value: object, style: str = "") -> Cell:
    """Return a cell that shows the value on one line, with control characters escaped."""
    return Cell("–" if value is None else plain(value), style)


def duration(seconds: float) -> str:
    """Return the approximate duration in the largest fitting unit."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
