"""The error for a configuration that cannot be changed, and what all formats share."""

from __future__ import annotations

from typing import Final

BOM: Final = "\ufeff"
"""Byte order mark. Some editors put it at the start of a file."""


class Malformed(Exception):
    """The text is not valid in its format at that line, or is spelt in a way we cannot change."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
