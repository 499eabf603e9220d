"""Which requests an action waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from roost.broker.browser.page_records import PageRecord
from roost.broker.work.own_requests import APART_SECONDS, MOST, OwnRequests
from roost.drivers.events import RequestEnded, RequestSent
from roost.page.page import Page
from roost.testing.clock import FakeClock
from roost.testing.waits import answer_of, started, turn
from roost.vocabulary import TabHandle

TAB = TabHandle("tab")
POLL = "http://x/poll"


class ActionPage:
    """The page of an action, and the record of its tab."""

    def __init__(self, seconds: float = 30.0) -> None:
        self.record = PageRecord()
        self.clock = FakeClock()
        self.has_left = False
        self.before_input: Callable[[], None] = lambda: None
        self.seconds = seconds
        self._count = 0

    def sends(self, url: str = "http://x/save", kind: str = "fetch", at: float = 0.0) -> str:
        self._count += 1
        request = str(self._count)
        event = RequestSent(handle=TAB, request=request, url=url, method="GET", kind=kind)
        self.record.hear(event, at)
        return request

    def ends(self, request: str, at: float = 0.0) -> None:
        self.record.hear(RequestEnded(handle=TAB, request=request), at)

    def begins(self) -> OwnRequests:
        own = OwnRequests(cast(Page, self), self.record, self.clock, self.seconds)
        self.before_input()
        return own


async def test_an_action_without_requests_waits_for_nothing() -> None:
    page = ActionPage()
    page.sends()
    own = page.begins()
    assert await own.ended() is False
    assert own.under_way() is None


async def test_an_action_waits_until_its_request_has_ended_and_a_moment_longer() -> None:
    page = ActionPage()
    own = page.begins()
    request = page.sends()
    waiting = await started(own.ended())
    page.ends(request)
    await turn()
    assert not waiting.done(), "the page has a moment to react"
    page.clock.advance(1)
    assert await answer_of(waiting) is True
    assert own.under_way() is None


async def test_an_action_waits_a_moment_after_a_request_that_ended_at_once() -> None:
    page = ActionPage()
    own = page.begins()
    page.ends(page.sends(), at=page.clock.now())
    waiting = await started(own.ended())
    assert not waiting.done(), "the page has a moment to react"
    page.clock.advance(1)
    assert await answer_of(waiting) is True
    assert await own.ended() is False, "the moment has passed"


async def test_a_request_that_does_not_end_in_time_is_named() -> None:
    page = ActionPage(seconds=0.001)
    own = page.begins()
    page.sends("http://x/save?token=secret")
    assert await own.ended() is True
    (named,) = own.under_way() or []
    assert named.startswith("GET http://x/save?")
    assert "secret" not in named


@pytest.mark.parametrize("kind", ["image", "ping", "eventsource", "media", "other", "websocket"])
async def test_requests_that_bring_no_result_are_not_waited_for(kind: str) -> None:
    page = ActionPage()
    own = page.begins()
    page.sends(kind=kind)
    assert await own.ended() is False


async def test_a_response_that_turns_out_to_be_a_stream_is_not_waited_for() -> None:
    page = ActionPage()
    own = page.begins()
    stream = RequestEnded(
        handle=TAB, request=page.sends(), mime_type="text/event-stream", finished=False
    )
    waiting = await started(own.ended())
    page.record.hear(stream, 0.0)
    await turn()
    page.clock.advance(1)
    assert await answer_of(waiting) is True
    assert own.under_way() is None


async def test_a_renewed_long_poll_is_not_waited_for() -> None:
    page = ActionPage()
    before = page.sends(f"{POLL}?1")
    own = page.begins()
    page.ends(before)
    page.sends(f"{POLL}?2")
    assert await own.ended() is False


@pytest.mark.parametrize(("seen", "waits"), [(1, True), (2, False)])
async def test_a_request_that_the_page_sends_again_and_again_is_a_poll(
    seen: int, waits: bool
) -> None:
    page = ActionPage(seconds=0.001)
    for number in range(seen):
        page.ends(page.sends(f"{POLL}?{number}", at=number * 10.0))
    own = page.begins()
    page.sends(POLL, at=100.0)
    assert await own.ended() is waits


async def test_two_equal_concurrent_requests_are_not_polling() -> None:
    page = ActionPage(seconds=0.001)
    for _ in range(2):
        page.ends(page.sends(POLL, at=APART_SECONDS / 2))
    own = page.begins()
    page.sends(POLL, at=100.0)
    assert await own.ended() is True


async def test_requests_of_earlier_actions_do_not_count_as_polling() -> None:
    page = ActionPage(seconds=0.001)
    for number in range(4):
        own = page.begins()
        page.sends(at=number * 10.0)
        assert await own.ended() is True, f"click {number}"


async def test_an_action_that_led_to_another_document_waits_for_none_of_its_requests() -> None:
    page = ActionPage()
    own = page.begins()
    page.sends()
    page.has_left = True
    assert await own.ended() is False
    assert own.under_way() is None


async def test_a_setting_turns_the_wait_off() -> None:
    page = ActionPage(seconds=0)
    own = page.begins()
    page.sends()
    assert await own.ended() is False


async def test_only_some_of_a_pages_thousands_of_requests_are_examined() -> None:
    page = ActionPage(seconds=0.001)
    own = page.begins()
    for _ in range(3 * MOST):
        page.sends()
    assert await own.ended() is True
    assert len(own.under_way() or ()) == MOST
