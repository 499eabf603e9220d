"""A link is a message pipe to one browser. A keeper or native host connects and holds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Link(Protocol):
    """A pipe that carries frames both ways, in order, until it calls ``on_end``."""

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Deliver received frames to ``on_frame``, beginning with those that arrived earlier."""

    def send(self, frame: bytes) -> None:
        """Send one frame. Do nothing after ``on_end``."""

    def close(self) -> None: ...
