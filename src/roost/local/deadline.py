"""One deadline for a wait of many steps. Only this file of the room reads the clock."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import Final

_LOOK_AGAIN_SECONDS: Final = 0.02


class Deadline:
    """A moment, ``seconds`` from now."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + seconds

    def remaining(self) -> float:
        """Return the seconds left, never below zero, for use as a timeout."""
        return max(0.0, self._at - self._clock())

    def has_passed(self) -> bool:
        return self.remaining() <= 0

    def pause(self) -> None:
        """Wait a moment before the next try, but not beyond the deadline."""
        select.select([], [], [], min(_LOOK_AGAIN_SECONDS, self.remaining()))
