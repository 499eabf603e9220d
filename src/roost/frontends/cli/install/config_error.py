"""The errors for a configuration that cannot be changed."""

from __future__ import annotations


class Malformed(Exception):
    """The text is not valid in its format at that line, or is spelt in a way we cannot change."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Commented(Exception):
    """The text is JSON with comments or trailing commas, which a change would lose."""
