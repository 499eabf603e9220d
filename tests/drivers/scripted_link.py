"""A link whose other end, the browser's and its keeper's, is played by the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


class ScriptedLink:
    """The browser's side, played by the test."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.is_closed = False

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_frame, self._on_end = on_frame, on_end

    def send(self, frame: bytes) -> None:
        self.sent.append(json.loads(frame))

    def close(self) -> None:
        self.is_closed = True
        self.ends()

    def says(self, **message: Any) -> None:
        self._on_frame(json.dumps(message, separators=(",", ":")).encode())  # as Chromium does

    def frame(self, frame: bytes) -> None:
        self._on_frame(frame)

    def keeper_says(self, word: str, what: Any) -> None:
        self._on_frame(json.dumps([word, what]).encode())

    def ends(self) -> None:
        self._on_end()


class Heard:
    def __init__(self) -> None:
        self.words: list[tuple[str, Any]] = []
        self.is_over = False

    def word(self, word: str, what: Any) -> None:
        self.words.append((word, what))

    def end(self) -> None:
        self.is_over = True
