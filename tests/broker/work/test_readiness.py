from __future__ import annotations

import asyncio
from typing import Any, cast

from roost.broker.browser.page_records import PageRecord
from roost.broker.work.readiness import HUNG_SECONDS, NEWS_SECONDS, Readiness
from roost.drivers.events import (
    RequestEnded,
    RequestSent,
)
from roost.errors import TabGone
from roost.page.page import Page
from roost.testing.clock import FakeClock
from roost.testing.waits import answer_of, started
from roost.vocabulary import TabHandle

PAGE = TabHandle("page")
BEGUN = FakeClock().now()


class Frames:
    """A page that draws frames when the test says so."""

    def __init__(self) -> None:
        self.drawn = asyncio.Event()
        self.error: Exception | None = None

    async def call(self, frame: str | None, function: str, **argument: Any) -> dict[str, Any]:
        assert function == "readiness"
        await self.drawn.wait()
        if self.error is not None:
            raise self.error
        return {}


def sent(record: PageRecord, request: str, kind: str, *, at: float = BEGUN) -> None:
    event = RequestSent(handle=PAGE, request=request, url="http://x/", method="GET", kind=kind)
    record.hear(event, at)


def over(record: PageRecord, request: str) -> None:
    record.hear(RequestEnded(handle=PAGE, request=request), 0.0)


def events(readiness: Readiness) -> list[str]:
    return [one.event for one in readiness.view().timeline]


async def test_the_phases_are_gone_through_in_order() -> None:
    record, frames = PageRecord(), Frames()
    sent(record, "1", "script")
    sent(record, "2", "image")
    readiness = Readiness(cast(Page, frames), record, FakeClock())
    idle = await started(readiness.idle())
    assert events(readiness) == ["start"]
    over(record, "2")
    over(record, "1")
    await answer_of(idle)
    assert events(readiness) == ["start", "critical_idle", "visual_idle"]
    rendered = await started(readiness.rendered())
    frames.drawn.set()
    await answer_of(rendered)
    assert events(readiness)[-1] == "render_settled"
    assert not readiness.view().timed_out


async def test_a_request_that_never_ends_is_reported_as_a_timeout() -> None:
    record, frames = PageRecord(), Frames()
    sent(record, "1", "fetch")
    readiness = Readiness(cast(Page, frames), record, FakeClock(), seconds=0.01)
    await answer_of(readiness.idle())
    await answer_of(readiness.rendered())
    assert events(readiness)[-1] == "gave_up"
    assert readiness.view().timed_out


async def test_a_request_that_hangs_is_not_waited_for() -> None:
    record, frames, clock = PageRecord(), Frames(), FakeClock()
    sent(record, "1", "fetch", at=clock.now())
    clock.advance(HUNG_SECONDS)
    readiness = Readiness(cast(Page, frames), record, clock, seconds=1e6)
    await answer_of(readiness.idle())
    assert events(readiness) == ["start", "visual_idle", "gave_up"]
    assert readiness.view().wait_ms == 0


async def test_requests_that_begin_later_than_the_wait_are_not_waited_for() -> None:
    record, clock = PageRecord(), FakeClock()
    sent(record, "1", "image", at=clock.now())
    readiness = Readiness(cast(Page, Frames()), record, clock, seconds=1e6)
    idle = await started(readiness.idle())
    clock.advance(NEWS_SECONDS + 0.1)
    sent(record, "2", "image", at=clock.now())
    over(record, "1")
    await answer_of(idle)
    assert events(readiness) == ["start", "critical_idle", "gave_up"]


async def test_other_activity_of_a_page_is_not_waited_for() -> None:
    record = PageRecord()
    for kind in ("eventsource", "websocket", "ping", "media", "other"):
        sent(record, kind, kind)
    readiness = Readiness(cast(Page, Frames()), record, FakeClock())
    await answer_of(readiness.idle())
    assert events(readiness) == ["start", "critical_idle", "visual_idle"]


async def test_a_page_that_draws_nothing_or_is_gone_is_given_up() -> None:
    silent = Readiness(cast(Page, Frames()), PageRecord(), FakeClock(), seconds=0.01)
    await answer_of(silent.idle())
    await answer_of(silent.rendered())
    assert silent.view().timed_out
    frames = Frames()
    frames.error = TabGone("gone")
    frames.drawn.set()
    gone = Readiness(cast(Page, frames), PageRecord(), FakeClock())
    await answer_of(gone.idle())
    await answer_of(gone.rendered())
    assert events(gone)[-1] == "gave_up"


async def test_a_page_at_rest_need_not_draw_again() -> None:
    record, frames, clock = PageRecord(), Frames(), FakeClock()
    assert not Readiness(cast(Page, frames), record, clock).rests(), "nobody knows yet"
    with record.while_acting(clock):
        clock.advance(9)
        assert not Readiness(cast(Page, frames), record, clock).rests(), "somebody acts"
    assert not Readiness(cast(Page, frames), record, clock).rests(), "somebody has just acted"
    clock.advance(1)
    readiness = Readiness(cast(Page, frames), record, clock)
    assert readiness.rests()
    assert events(readiness) == ["start", "render_settled"]
    record.hear(RequestEnded(handle=PAGE, request="1"), clock.now())
    assert not Readiness(cast(Page, frames), record, clock).rests(), "something has just come"


async def test_a_page_that_was_given_up_is_not_at_rest() -> None:
    record, clock = PageRecord(), FakeClock()
    with record.while_acting(clock):
        sent(record, "1", "fetch")
    clock.advance(1)
    readiness = Readiness(cast(Page, Frames()), record, clock, seconds=0.01)
    await answer_of(readiness.idle())
    assert not readiness.rests()
