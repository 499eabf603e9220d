"""Tables for a terminal and for a pipe, without borders, so that copied text has none.

rich draws the same tables, but importing rich takes a third of the time that `roost status` has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

GAP = 2
CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "bright_black": "90",
    "bright_magenta": "95",
    "dark_orange": "38;5;208",
}
"""The styles of cells, as parameters of the terminal's escape sequence."""


class Cell:
    """Text without control characters, in one style."""

    def __init__(self, text: str, style: str = "") -> None:
        self.text = text
        self.style = style

    def drawn(self, text: str, *, colored: bool) -> str:
        """Return the text, which is the cell's or a part of it, in the cell's style."""
        return f"\x1b[{CODES[self.style]}m{text}\x1b[0m" if colored and self.style else text


class Table:
    """Rows of cells below a head. A row may have fewer cells than the head."""

    def __init__(self, *columns: str) -> None:
        self._rows = [[Cell(column, "bold") for column in columns]]

    def add_row(self, *cells: Cell) -> None:
        self._rows.append(list(cells))

    def lines(self, width: int, *, colored: bool) -> Iterator[str]:
        """Yield the lines. Text of the widest columns is folded where a row is too wide."""
        widths = [0] * len(self._rows[0])
        for row in self._rows:
            for column, cell in enumerate(row):
                widths[column] = max(widths[column], columns_of(cell.text))
        widths = _narrowed(widths, width - GAP * (len(widths) - 1))
        for row in self._rows:
            folded = [_folded(cell.text, widths[column]) for column, cell in enumerate(row)]
            for number in range(max(map(len, folded))):
                line = blank = ""
                for column, cell in enumerate(row):
                    text = folded[column][number] if number < len(folded[column]) else ""
                    if text:
                        line += blank + cell.drawn(text, colored=colored)
                        blank = ""
                    blank += " " * (widths[column] - columns_of(text) + GAP)
                yield line


def columns_of(text: str) -> int:
    """Return how many columns of a terminal the text fills."""
    return len(text) if text.isascii() else sum(map(_columns_of_letter, text))


def _columns_of_letter(letter: str) -> int:
    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1


def _narrowed(widths: Sequence[int], available: int) -> list[int]:
    """Return the widths of columns that fit. The narrow columns keep their width."""
    left = available
    for index, width in enumerate(sorted(widths)):
        share = left // (len(widths) - index)
        if width > share:
            return [min(each, max(share, GAP)) for each in widths]
        left -= width
    return list(widths)


def _folded(text: str, width: int) -> list[str]:
    """Return the text in pieces that are at most so wide, at least one piece."""
    if columns_of(text) <= width:
        return [text]
    pieces, piece, used = [], "", 0
    for letter in text:
        needed = _columns_of_letter(letter)
        if used + needed > width:
            pieces.append(piece)
            piece, used = "", 0
        piece += letter
        used += needed
    return [*pieces, piece]
