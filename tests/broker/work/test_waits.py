"""What a wait takes for a response, and when a page is idle."""

from __future__ import annotations

import pytest

from roost.api import operations as ops
from roost.broker.browser.page_records import PageRecord
from roost.broker.work.waits import _has_answered, _Wait
from roost.drivers.events import RequestEnded, RequestSent
from roost.errors import BadRequest
from roost.testing.clock import FakeClock
from roost.vocabulary import TabHandle

TAB = TabHandle("tab")


def record_with(*urls: str, status: int | None = 200) -> PageRecord:
    record = PageRecord()
    for number, url in enumerate(urls):
        sent = RequestSent(handle=TAB, request=str(number), url=url, method="GET", kind="fetch")
        record.hear(sent, now=1.0)
        if status is not None:
            ended = RequestEnded(handle=TAB, request=str(number), status=status)
            record.hear(ended, now=2.0)
    return record


def test_only_a_response_since_the_last_action_counts() -> None:
    record = record_with("http://a/api/items?q=[1]")
    assert _has_answered(record, "/api/items")
    assert _has_answered(record, "/api/items?q=[1]")
    assert _has_answered(record, "http://a/*/items*")
    assert not _has_answered(record, "/api/other")
    with record.while_acting(FakeClock()):
        assert not _has_answered(record, "/api/items")


def test_a_request_without_a_response_does_not_count() -> None:
    assert not _has_answered(record_with("http://a/api", status=None), "api")


def test_a_page_is_idle_half_a_second_after_its_last_response() -> None:
    assert PageRecord().is_idle(0.0, 0.5)
    assert not record_with("http://a/", status=None).is_idle(100.0, 0.5)
    assert not record_with("http://a/").is_idle(2.4, 0.5)
    assert record_with("http://a/").is_idle(2.5, 0.5)


def test_a_state_needs_a_selector() -> None:
    with pytest.raises(BadRequest, match="selector"):
        _Wait.of(ops.WaitFor(text="x", state="hidden"))
