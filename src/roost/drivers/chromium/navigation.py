"""Waiting for a navigation: driven by the page's events, bounded by the caller's deadline."""

from __future__ import annotations

import asyncio
import contextlib

from roost.drivers.chromium.connection import Json
from roost.errors import RoostError, TabCrashed

LEFT = "net::ERR_ABORTED"
"""How Chromium says that a request ended with its document."""
COMMIT_SECONDS = 2.0
"""How long a document that has come may take to be shown before the script in its way is ended."""
LOAD_SECONDS = 3.0
"""A page whose document is there may take this long to load the rest; then it is shown as it is."""


class Navigation:
    """One way from a page to the next. Events may come before the command's own answer."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loader: str | None = None
        self._is_known = False
        self._commits: list[str] = []
        self._reached: dict[str, set[str]] = {}
        self._statuses: dict[str, int] = {}
        self.last_status: int | None = None
        """Of the last document that was answered, whether or not it was ever shown."""
        self.is_requested = False
        """Whether a server was asked for the document."""
        self.wants_password = False
        """Of the last document, too."""
        self._parsed: asyncio.Future[None] = self._loop.create_future()
        self._loaded: asyncio.Future[None] = self._loop.create_future()
        self._changed = asyncio.Event()

    @property
    def status(self) -> int | None:
        return None if self._loader is None else self._statuses.get(self._loader)

    @property
    def has_committed(self) -> bool:
        return bool(self._commits)

    async def commits(self, answer: Json) -> bool:
        """Whether the document that ``answer`` announced is shown within ``COMMIT_SECONDS``. True
        where no document was announced."""
        loader = answer.get("loaderId")
        if loader is None or answer.get("isDownload"):
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(COMMIT_SECONDS):
                while not self._commits and not self._parsed.done():
                    self._changed.clear()
                    await self._changed.wait()
        return bool(self._commits) or self._parsed.done()

    async def arrived(self, answer: Json) -> None:
        """Wait for the document that ``answer`` started; with no loader in it, for the next one."""
        if "frameId" in answer and not answer.get("loaderId"):
            return  # within the document
        self._is_known = True
        self._loader = answer.get("loaderId") or next(iter(self._commits), None)
        if self._loader in self._commits:
            self._loader = self._commits[-1]
        self._look()
        try:
            await self._parsed
            async with asyncio.timeout(LOAD_SECONDS):
                await asyncio.shield(self._loaded)
        except TimeoutError:
            if not self._parsed.done():
                raise
        finally:
            for future in (self._parsed, self._loaded):
                future.cancel()

    async def shows_document(self, answer: Json) -> None:
        """Wait for the document that ``answer`` started. Loading can stop without it: Chromium
        reports no crash when the process dies that was to show the document."""
        await self.arrived(answer)
        if answer.get("loaderId") and not self.has_committed:
            raise TabCrashed(
                "The page's process died before it showed the page.",
                hint="The tab still shows the page before. Navigate again.",
            )

    async def shows_error(self, answer: Json) -> None:
        """Chromium tells of a failure before it shows its error page, which is the tab's next
        document. Wait for that, so that the caller's next look does not find the old one."""
        if answer.get("loaderId") and answer["errorText"] != LEFT:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(COMMIT_SECONDS):
                    await self.arrived(answer)

    def committed(self, loader: str) -> None:
        if self._is_known and (self._loader is None or self._loader in self._commits):
            # The first one, or one that took the place of ours before it was ready.
            self._loader = loader
        self._commits.append(loader)
        self._changed.set()
        self._look()

    def reached(self, name: str, loader: str) -> None:
        self._reached.setdefault(loader, set()).add(name)
        self._look()

    def answered(self, loader: str, status: int, *, wants_password: bool = False) -> None:
        self._statuses[loader] = self.last_status = status
        self.wants_password = wants_password

    def done_at_once(self) -> None:
        """No new document will come: it moved within the old one, came from the cache whole, or was
        a download or nothing at all."""
        _settle(self._parsed)
        _settle(self._loaded)
        self._changed.set()

    def failed(self, error: RoostError) -> None:
        for future in (self._parsed, self._loaded):
            if not future.done():
                future.set_exception(error)
                future.exception()  # whoever waits gets it; nobody may be waiting for the second
        self._changed.set()

    def _look(self) -> None:
        if self._loader is None or self._loader not in self._commits:
            return
        reached = self._reached.get(self._loader, set())
        if reached & {"DOMContentLoaded", "load"}:
            _settle(self._parsed)
        if "load" in reached:
            _settle(self._loaded)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
