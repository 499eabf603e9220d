"""Wait for a navigation. The page's events end the wait; the caller's deadline limits it."""

from __future__ import annotations

import asyncio
import contextlib

from roost.drivers.connection import Json
from roost.errors import RoostError, TabCrashed

LEFT = "net::ERR_ABORTED"
"""Chromium's error for a request that ended because its document was left."""
COMMIT_SECONDS = 2.0
"""Wait this long for the commit of a received document, then end the script that blocks it."""
LOAD_SECONDS = 3.0
"""After ``DOMContentLoaded``, wait at most this long for ``load``."""


class Navigation:
    """One navigation of a tab. Its events may arrive before the reply to its command."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loader: str | None = None
        self._is_known = False
        self._commits: list[str] = []
        self._reached: dict[str, set[str]] = {}
        self._statuses: dict[str, int] = {}
        self.last_status: int | None = None
        """The HTTP status of the last document response, even if it was never committed."""
        self.is_requested = False
        """Chromium has sent the request for the document."""
        self.wants_password = False
        """The last document response asked for a password."""
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
        """Wait up to ``COMMIT_SECONDS`` for the document that ``answer`` announced. Return True if
        it was committed, or if ``answer`` announced none."""
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
        """Wait for the document that ``answer`` names. If it names no loader, wait for the next
        document."""
        if "frameId" in answer and not answer.get("loaderId"):
            return  # a navigation within the document
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
        """Wait for the document that ``answer`` names, and raise ``TabCrashed`` if loading stopped
        without it. Chromium reports no crash if the document's process dies before the commit."""
        await self.arrived(answer)
        if answer.get("loaderId") and not self.has_committed:
            raise TabCrashed(
                "The page's process died before it showed the page.",
                hint="The tab still shows the page before. Navigate again.",
            )

    async def shows_error(self, answer: Json) -> None:
        """Wait for Chromium's error page, so that the caller's next call does not see the old page.
        Chromium reports the failure before it commits the error page."""
        if answer.get("loaderId") and answer["errorText"] != LEFT:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(COMMIT_SECONDS):
                    await self.arrived(answer)

    def committed(self, loader: str) -> None:
        if self._is_known and (self._loader is None or self._loader in self._commits):
            # The first document, or one that replaced ours before ours had loaded.
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
        """Stop waiting, because no document will load: the tab moved within its document, restored
        a page from the cache, started a download or got no content."""
        _settle(self._parsed)
        _settle(self._loaded)
        self._changed.set()

    def failed(self, error: RoostError) -> None:
        for future in (self._parsed, self._loaded):
            if not future.done():
                future.set_exception(error)
                future.exception()  # marks the error as retrieved: maybe nobody awaits this future
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
