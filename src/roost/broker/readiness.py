"""When is a page ready to be pictured? Driven by its events, bounded, honest about giving up.

Three phases: what makes the page (documents, scripts, styles, calls), what is seen (images, fonts),
and one rendered frame. The timeline says when each was over.
"""

from __future__ import annotations

import asyncio

from roost.api.page_views import ReadinessEvent, ReadinessView
from roost.broker.clock import Clock
from roost.broker.records import CRITICAL, VISUAL, PageRecord
from roost.errors import RoostError
from roost.page.caller import Page

READY_SECONDS = 5.0


async def wait_until_ready(page: Page, record: PageRecord, clock: Clock) -> ReadinessView:
    begun = clock.now()
    timeline = [ReadinessEvent(t=0, event="start")]

    def reached(event: str) -> None:
        timeline.append(ReadinessEvent(t=int((clock.now() - begun) * 1000), event=event))

    timed_out = False
    try:
        async with asyncio.timeout(READY_SECONDS):
            for event, kinds in (("critical_idle", CRITICAL), ("visual_idle", VISUAL)):
                while record.pending(kinds):
                    await record.changed()
                reached(event)
            await page.call(None, "readiness")
            reached("render_settled")
    except (TimeoutError, RoostError):
        timed_out = True
        reached("gave_up")
    return ReadinessView(
        wait_ms=int((clock.now() - begun) * 1000), timed_out=timed_out, timeline=timeline
    )
