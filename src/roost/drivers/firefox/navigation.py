"""Wait for a navigation. The tab's events end the wait; the caller's deadline limits it.

Firefox gives every navigation an id and reports its start and its end. This module matches these
events with the calls that wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator
from enum import Enum

from roost.drivers.connection import Json, Pending, log_failure
from roost.errors import RoostError

_LOGIN = re.compile(r"^(\w+://)[^/?#]*@")
SOON_SECONDS = 1.0
"""Wait this long until Firefox reports why a document is gone, or reports an opened tab."""


class Documents:
    """Counts the documents of one tab, and finds out why a document is gone.

    If a command's document goes away, Firefox only says that it is gone. ``check``: raises the
    error if the tab has crashed or closed.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self.count = 0
        """How many times the document was replaced, crashed, or closed with its tab."""
        self._check = check
        self._changed = asyncio.Event()

    def changed(self) -> None:
        self.count += 1
        self._changed.set()

    async def known_since(self, count: int) -> None:
        """Wait for the event that says why the document at ``count`` is gone. Raise the tab's error
        if the tab has crashed or closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SOON_SECONDS):
                while count == self.count:
                    self._changed.clear()
                    await self._changed.wait()
        self._check()


class End(Enum):
    """How a navigation ended."""

    DOCUMENT = "a new document"
    WITHIN = "another place in the same document"
    DOWNLOAD = "a file"
    NOTHING = "no content, or it was called off"


class Navigation:
    """One call's wait for a navigation. Events may arrive before the reply that names the
    navigation, so the events of all navigations are kept until then."""

    def __init__(self) -> None:
        self._ends: dict[str, End] = {}
        self._statuses: dict[str, int] = {}
        self._navigation: str | None = None
        self._retries: dict[str, str] = {}
        self._over: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self.last_status: int | None = None
        """The HTTP status of the last document response, even if it was never committed."""
        self.wants_password = False

    @property
    def status(self) -> int | None:
        return None if self._navigation is None else self._statuses.get(self._navigation)

    async def end_of(self, navigation_id: str) -> End:
        """Wait for this navigation's end. ``failed`` raises here when the tab closes or crashes."""
        while navigation_id in self._retries:
            navigation_id = self._retries[navigation_id]
        self._navigation = navigation_id
        if navigation_id in self._ends:
            return self._ends[navigation_id]
        return await self._over

    def retried(self, navigation_id: str, under: str) -> None:
        """Follow a navigation that continues under another id. The old id gets no more events."""
        self._retries[navigation_id] = under
        if navigation_id == self._navigation:
            self._navigation = under

    def answered(self, navigation_id: str, status: int) -> None:
        self._statuses[navigation_id] = self.last_status = status

    def ended(self, navigation_id: str, end: End) -> None:
        self._ends.setdefault(navigation_id, end)
        if navigation_id == self._navigation and not self._over.done():
            self._over.set_result(end)

    def failed(self, error: RoostError) -> None:
        if not self._over.done():
            self._over.set_exception(error)
            self._over.exception()  # marks the error as retrieved: maybe nobody awaits it yet


NavigationStart = tuple[str, str]
"""A navigation's id and its target address."""


class Navigations:
    """The navigations of one tab's main document, and the calls that wait for their end."""

    def __init__(self, stop: Callable[[], None]) -> None:
        """``stop``: stops the navigation that has begun. BiDi has no command for it."""
        self._stop = stop
        self.begun: NavigationStart | None = None
        """The last navigation that began, until a document is committed."""
        self.leaving: NavigationStart | None = None
        """The last navigation that began, until it ends in any way or its caller gives up."""
        self._waiting: set[Navigation] = set()
        self._has_begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        _settle(self._has_begun)

    @contextlib.contextmanager
    def waiting(self, gone: RoostError | None) -> Iterator[Navigation]:
        """Wait for a navigation, which gets all events. ``gone``: the tab's error, if any."""
        navigation = Navigation()
        if gone is not None:
            navigation.failed(gone)
        self._waiting.add(navigation)
        try:
            yield navigation
        except asyncio.CancelledError:
            if self.leaving is not None and self.leaving == self.begun:
                self._stop()
            self.leaving = None  # the next call must not wait for this navigation again
            raise
        finally:
            self._waiting.discard(navigation)

    async def send(self, send: Callable[[], Pending]) -> Pending:
        """Send a navigation command once the previous one has begun. Firefox runs commands
        concurrently, so an older command, even of a cancelled call, could win otherwise."""
        while not self._has_begun.done():
            await asyncio.shield(self._has_begun)
        self._has_begun = has_begun = asyncio.get_running_loop().create_future()
        answer = send()
        answer.add_done_callback(log_failure)
        answer.add_done_callback(lambda _: _settle(has_begun))
        return answer

    async def finish(self, navigation: Navigation) -> None:
        """Wait for the end of the current navigation, if there is one."""
        if self.leaving is not None:
            navigation_id, _ = self.leaving
            await navigation.end_of(navigation_id)

    def started(self, params: Json) -> None:
        """Record a navigation that began. If the server wants a password, Firefox sends a second
        request to the same address under another navigation id."""
        before = self.leaving
        self.begun = self.leaving = now = params["navigation"], params.get("url", "")
        _settle(self._has_begun)
        if before is not None and before[0] != now[0] and bare(before[1]) == bare(now[1]):
            for navigation in self._waiting:
                navigation.retried(before[0], now[0])

    def answered(self, navigation_id: str, status: int) -> None:
        for navigation in self._waiting:
            navigation.answered(navigation_id, status)

    def password_wanted(self) -> None:
        for navigation in self._waiting:
            navigation.wants_password = True

    def ended(self, navigation_id: str, end: End) -> None:
        if self.leaving is not None and self.leaving[0] == navigation_id:
            self.leaving = None
        for navigation in self._waiting:
            navigation.ended(navigation_id, end)

    def failed(self, error: RoostError) -> None:
        for navigation in self._waiting:
            navigation.failed(error)


def start_of(params: Json | None) -> NavigationStart | None:
    # While a ``beforeunload`` dialog is open, Firefox does not report the target address.
    return None if params is None else (params["navigation"], params.get("url", ""))


def bare(url: str) -> str:
    """Return the address without name and password."""
    return _LOGIN.sub(r"\1", url)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
