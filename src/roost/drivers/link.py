"""A link: a message pipe to one browser, held by a keeper or a native host that connected to us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Link(Protocol):
    """Frames both ways, in order. Over when ``on_end`` has been called."""

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Begin to deliver; frames that came before are delivered first."""

    def send(self, frame: bytes) -> None:
        """Send one frame. After the end this does nothing: ``on_end`` has said why."""

    def close(self) -> None: ...
