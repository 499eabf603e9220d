"""The base class of drivers whose browser a keeper holds: it starts, runs and ends their link."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from roost.drivers.base import Bundle, Report, RunningBrowser
from roost.drivers.connection import Connection, Json
from roost.drivers.events import (
    BrowserEnded,
    DriverEvent,
)
from roost.drivers.keeper_process import KeeperProcess
from roost.drivers.link import Link
from roost.errors import BrowserLost

BEGIN_SECONDS = 30.0
"""Time for all commands that ``start`` sends to a browser once it is linked."""
END_SECONDS = 5.0
X = TypeVar("X", bound=Connection)


class ManagedDriver(ABC, Generic[X]):
    """A browser that a keeper holds. Subclasses know the browser's protocol.

    ``keeper``: finds or starts the browser's keeper. ``bundle``: the script for page work.
    """

    def __init__(self, keeper: KeeperProcess, bundle: Bundle) -> None:
        self._keeper = keeper
        self._bundle = bundle
        self._connection: X | None = None
        self._report: Report = _ignore
        self._handover: asyncio.Future[Json] | None = None
        self._over = asyncio.Event()
        self._is_stopping = False

    # --- for subclasses ------------------------------------------------------------------------

    @abstractmethod
    def _speak(self, link: Link) -> X:
        """Begin to speak the browser's protocol over a new link."""

    @abstractmethod
    def _lost(self, error: BrowserLost) -> None:
        """Fail everything that waits for the browser, which is gone."""

    @abstractmethod
    async def _begin(self, connection: X, handover: Json, is_new: bool) -> RunningBrowser:
        """Set up a new browser (``is_new``), or continue with the state that the keeper hands
        over."""

    def _browser(self) -> X:
        if self._connection is None or self._over.is_set():
            raise BrowserLost("The browser is not running.")
        return self._connection

    def _tell(self, event: DriverEvent) -> None:
        self._report(event)

    # --- life ----------------------------------------------------------------------------------

    async def start(self, report: Report) -> RunningBrowser:
        """Start or take over the browser. A failed start closes its link, because a keeper sends
        one handover per link. The keeper then connects again with a new link."""
        self._is_stopping = False
        self._over.clear()
        self._report = report
        link, is_new = await self._keeper.link()
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                self._handover = asyncio.get_running_loop().create_future()
                connection = self._connection = self._speak(link)
                handover = await self._handover
                connection.resume_ids(handover["nextId"])
                return await self._begin(connection, handover, is_new)
        except BaseException as error:
            self._keeper.lost()
            link.close()
            if isinstance(error, TimeoutError):
                raise BrowserLost("The browser runs but does not answer.") from None
            raise

    def linked(self, link: Link) -> None:
        self._keeper.linked(link)

    async def stop(self) -> None:
        self._is_stopping = True
        if self._connection is not None and not self._over.is_set():
            self._connection.say("end")
            try:
                async with asyncio.timeout(END_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                self._connection.close()
        await self._keeper.ended()

    def _word(self, word: str, what: Any) -> None:
        """Handle a message of the keeper itself."""
        if word == "handover" and self._handover is not None and not self._handover.done():
            self._handover.set_result(what)

    def _ended(self) -> None:
        """Handle the end of the link: fail all waiters and report ``BrowserEnded``."""
        self._over.set()
        if self._handover is not None and not self._handover.done():
            self._handover.set_exception(BrowserLost("The browser ended as it started."))
        report, self._report = self._report, _ignore
        self._lost(BrowserLost("The browser ended."))
        self._keeper.lost()
        if not self._is_stopping:
            report(BrowserEnded("its keeper or its process is gone"))


def _ignore(event: DriverEvent) -> None:
    pass
