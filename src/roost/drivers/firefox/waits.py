"""Waiting for a navigation: driven by the tab's events, bounded by the caller's deadline."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from enum import Enum

from roost.errors import RoostError

SOON_SECONDS = 1.0
"""How long Firefox may take to say why a document is gone, or to bring what was asked for."""


class Course:
    """The documents a tab's main context has had, one after another, and what ends them all.

    A command that loses its document only hears that it is gone. ``check`` raises what became of
    the tab, as far as is known.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self.turns = 0
        """How often the document has changed, crashed, or gone with its tab."""
        self._check = check
        self._turned = asyncio.Event()

    def turn(self) -> None:
        self.turns += 1
        self._turned.set()

    async def known_since(self, turns: int) -> None:
        """Wait until it is known why the document of then is gone; raise, if no other came."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SOON_SECONDS):
                while turns == self.turns:
                    self._turned.clear()
                    await self._turned.wait()
        self._check()


class End(Enum):
    """What became of a navigation."""

    DOCUMENT = "a new document"
    WITHIN = "another place in the same document"
    DOWNLOAD = "a file"
    NOTHING = "no content, or it was called off"


class Journey:
    """One way from a page to the next. Events may come before the command's own answer, so all are
    kept until it is known which navigation is meant."""

    def __init__(self) -> None:
        self._ends: dict[str, End] = {}
        self._statuses: dict[str, int] = {}
        self._navigation: str | None = None
        self._over: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self.last_status: int | None = None
        """Of the last document that was answered, whether or not it was ever shown."""
        self.wants_password = False

    @property
    def status(self) -> int | None:
        return None if self._navigation is None else self._statuses.get(self._navigation)

    async def end_of(self, navigation: str) -> End:
        """How that one ends. Whoever else waits for this journey fails it with an error."""
        self._navigation = navigation
        if navigation in self._ends:
            return self._ends[navigation]
        return await self._over

    def answered(self, navigation: str, status: int) -> None:
        self._statuses[navigation] = self.last_status = status

    def ended(self, navigation: str, end: End) -> None:
        self._ends.setdefault(navigation, end)
        if navigation == self._navigation and not self._over.done():
            self._over.set_result(end)

    def failed(self, error: RoostError) -> None:
        if not self._over.done():
            self._over.set_exception(error)
            self._over.exception()  # nobody may be waiting yet
