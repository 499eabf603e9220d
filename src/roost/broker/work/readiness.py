"""Wait until a page is ready for a screenshot, for a bounded time.

There are three phases: the requests that build the page (documents, scripts, styles, fetches), the
requests for visible things (images, fonts), and one rendered frame. The timeline in the reply says
when each phase ended, or that Roost gave up.
"""

from __future__ import annotations

import asyncio
import contextlib

from roost.api.page_views import ReadinessEvent, ReadinessView
from roost.broker.browser.page_records import CRITICAL, VISUAL, PageRecord
from roost.broker.clock import Clock
from roost.errors import RoostError
from roost.page.page import Page

READY_SECONDS = 5.0
HUNG_SECONDS = 1.5
"""A request that is pending for this long hangs or streams. No screenshot waits for it."""
NEWS_SECONDS = 1.0
"""Wait only for requests that begin within this time: some pages never stop making requests."""
RESTED_SECONDS = 0.1
"""A page untouched for this long has already drawn everything, so skip the frame wait."""


class Readiness:
    """Wait for one page: call ``idle``, then ``rendered``. Both end within ``seconds``."""

    def __init__(
        self, page: Page, record: PageRecord, clock: Clock, seconds: float = READY_SECONDS
    ) -> None:
        self._page = page
        self._record = record
        self._clock = clock
        self._begun = clock.now()
        self._over_at = asyncio.get_running_loop().time() + seconds
        self._timeline = [ReadinessEvent(t=0, event="start")]
        self._timed_out = False

    async def idle(self) -> None:
        """Wait until the page has no pending requests for its content, images and fonts."""
        try:
            async with asyncio.timeout_at(self._over_at):
                for event, kinds in (("critical_idle", CRITICAL), ("visual_idle", VISUAL)):
                    await self._until_idle(kinds)
                    if not self._record.pending(kinds):
                        self._reached(event)
        except TimeoutError:
            self._give_up()
            return
        if self._record.pending(CRITICAL | VISUAL):
            self._give_up()

    async def _until_idle(self, kinds: frozenset[str]) -> None:
        """Wait until no request is pending that may still end soon."""
        latest = self._begun + NEWS_SECONDS
        while True:
            now = self._clock.now()
            begun = self._record.pending_since(kinds, latest)
            waited_for = [at for at in begun if now - at < HUNG_SECONDS]
            if not waited_for:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(waited_for) + HUNG_SECONDS - now):
                    await self._record.changed()

    def rests(self) -> bool:
        """Return True if the page was untouched for ``RESTED_SECONDS``: then all is drawn."""
        if self._timed_out or self._clock.now() - self._record.rests_since < RESTED_SECONDS:
            return False
        self._reached("render_settled")
        return True

    async def rendered(self) -> None:
        """Wait until the page has drawn one frame. A browser that draws a frame for each screenshot
        may take the screenshot at the same time: it shows that frame or a later one."""
        if self._timed_out:
            return
        try:
            async with asyncio.timeout_at(self._over_at):
                await self._page.call(None, "readiness")
                self._reached("render_settled")
        except (TimeoutError, RoostError):
            self._give_up()

    def view(self) -> ReadinessView:
        return ReadinessView(
            wait_ms=self._elapsed_ms(), timed_out=self._timed_out, timeline=self._timeline
        )

    def _give_up(self) -> None:
        self._timed_out = True
        self._reached("gave_up")

    def _reached(self, event: str) -> None:
        self._timeline.append(ReadinessEvent(t=self._elapsed_ms(), event=event))

    def _elapsed_ms(self) -> int:
        return int((self._clock.now() - self._begun) * 1000)
