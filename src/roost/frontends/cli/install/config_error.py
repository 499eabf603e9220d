"""What a configuration that cannot be changed answers."""

from __future__ import annotations


class Malformed(Exception):
    """The text is not what its kind says, from that line on."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
