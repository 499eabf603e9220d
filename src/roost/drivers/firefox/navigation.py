"""Waiting for a navigation: driven by the tab's events, bounded by the caller's deadline.

Firefox gives every navigation an id, and says when one begins and how it ends; who waits for which
is known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator
from enum import Enum

from roost.drivers.exchange import unheard
from roost.drivers.firefox.connection import Json, Pending
from roost.errors import RoostError

_LOGIN = re.compile(r"^(\w+://)[^/?#]*@")
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
        self._retries: dict[str, str] = {}
        self._over: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self.last_status: int | None = None
        """Of the last document that was answered, whether or not it was ever shown."""
        self.wants_password = False

    @property
    def status(self) -> int | None:
        return None if self._navigation is None else self._statuses.get(self._navigation)

    async def end_of(self, navigation: str) -> End:
        """How that one ends. Whoever else waits for this journey fails it with an error."""
        while navigation in self._retries:
            navigation = self._retries[navigation]
        self._navigation = navigation
        if navigation in self._ends:
            return self._ends[navigation]
        return await self._over

    def retried(self, navigation: str, under: str) -> None:
        """It goes on as another; nothing more is told of the first."""
        self._retries[navigation] = under
        if navigation == self._navigation:
            self._navigation = under

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


Way = tuple[str, str]
"""A navigation's id, and where it leads."""


class Ways:
    """Of one tab's main document: what has begun, and who waits for the end of it."""

    def __init__(self) -> None:
        self.begun: Way | None = None
        """The last navigation that began, until a document comes of it."""
        self.leaving: Way | None = None
        """The same, until it is known what comes of it."""
        self._journeys: set[Journey] = set()
        self._has_set_out: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        _settle(self._has_set_out)

    @contextlib.contextmanager
    def journey(self, gone: RoostError | None) -> Iterator[Journey]:
        """To wait in, for as long as the tab is not ``gone``."""
        journey = Journey()
        if gone is not None:
            journey.failed(gone)
        self._journeys.add(journey)
        try:
            yield journey
        except asyncio.CancelledError:
            self.leaving = None  # waited for once, in vain; what comes next does not wait again
            raise
        finally:
            self._journeys.discard(journey)

    async def set_out(self, send: Callable[[], Pending]) -> Pending:
        """Firefox works on commands at the same time, and one that was sent first, even if nobody
        waits for it any more, could overtake. So one begins after the other has begun."""
        while not self._has_set_out.done():
            await asyncio.shield(self._has_set_out)
        self._has_set_out = has_set_out = asyncio.get_running_loop().create_future()
        answer = send()
        answer.add_done_callback(unheard)
        answer.add_done_callback(lambda _: _settle(has_set_out))
        return answer

    async def land(self, journey: Journey) -> None:
        """Wait for the end of what is under way, if anything is."""
        if self.leaving is not None:
            navigation, _ = self.leaving
            await journey.end_of(navigation)

    def started(self, params: Json) -> None:
        """Where a server wants a password, Firefox asks it a second time under another id."""
        before = self.leaving
        self.begun = self.leaving = now = params["navigation"], params.get("url", "")
        _settle(self._has_set_out)
        if before is not None and before[0] != now[0] and bare(before[1]) == bare(now[1]):
            for journey in self._journeys:
                journey.retried(before[0], now[0])

    def answered(self, navigation: str, status: int) -> None:
        for journey in self._journeys:
            journey.answered(navigation, status)

    def password_wanted(self) -> None:
        for journey in self._journeys:
            journey.wants_password = True

    def ended(self, navigation: str, end: End) -> None:
        if self.leaving is not None and self.leaving[0] == navigation:
            self.leaving = None
        for journey in self._journeys:
            journey.ended(navigation, end)

    def failed(self, error: RoostError) -> None:
        for journey in self._journeys:
            journey.failed(error)


def way_of(params: Json | None) -> Way | None:
    # While a page still asks whether to be left, Firefox does not say where to.
    return None if params is None else (params["navigation"], params.get("url", ""))


def bare(url: str) -> str:
    """Without a name and a password."""
    return _LOGIN.sub(r"\1", url)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
