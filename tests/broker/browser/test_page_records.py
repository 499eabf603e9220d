from __future__ import annotations

from typing import Any

from roost.broker.browser.page_records import (
    CONSOLE_KEPT,
    CRITICAL,
    NOTICE_CHARS,
    REQUESTS_KEPT,
    VISUAL,
    PageRecord,
    notice_of,
    remembered,
)
from roost.core.rows import Tab
from roost.drivers.events import (
    ChooserClosed,
    ChooserOpened,
    ConsoleSaid,
    DialogClosed,
    DialogOpened,
    RequestEnded,
    RequestSent,
)
from roost.testing.waits import answer_of, started
from roost.vault.redaction import Redactor
from roost.vocabulary import BrowserId, TabHandle, TabId

PAGE = TabHandle("page")


def sent(request: str, url: str = "http://x/", kind: str = "document") -> RequestSent:
    return RequestSent(handle=PAGE, request=request, url=url, method="GET", kind=kind)


def ended(request: str, **more: Any) -> RequestEnded:
    return RequestEnded(handle=PAGE, request=request, **more)


def test_a_request_is_pending_until_it_is_over_not_until_its_head_comes() -> None:
    record = PageRecord()
    record.hear(sent("1"), 10.0)
    record.hear(sent("2", kind="image"), 10.0)
    assert (record.pending(CRITICAL), record.pending(VISUAL)) == (1, 1)
    record.hear(ended("1", status=200, mime_type="text/html", finished=False), 11.0)
    assert record.pending(CRITICAL) == 1
    record.hear(ended("1"), 12.0)
    assert record.pending(CRITICAL) == 0
    first = record.requests[1]
    assert (first.status, first.mime_type, first.ended_at) == (200, "text/html", 12.0)


def test_secrets_in_addresses_are_not_kept() -> None:
    record = PageRecord()
    record.hear(sent("1", "http://x/?token=hunter2&page=1"), 0.0)
    assert "hunter2" not in record.requests[1].url
    assert "page=1" in record.requests[1].url


def test_a_redirect_is_two_requests_under_one_id() -> None:
    record = PageRecord()
    record.hear(sent("1", "http://x/a"), 0.0)
    record.hear(ended("1", status=302), 1.0)
    record.hear(sent("1", "http://x/b"), 1.0)
    record.hear(ended("1", status=200), 2.0)
    assert [(r.url, r.status) for r in record.requests.values()] == [
        ("http://x/a", 302),
        ("http://x/b", 200),
    ]


def test_logs_are_bounded_and_numbers_go_on() -> None:
    record = PageRecord()
    for number in range(REQUESTS_KEPT + 10):
        record.hear(sent(str(number)), 0.0)
        record.hear(ConsoleSaid(handle=PAGE, level="log", text=str(number)), 0.0)
    assert len(record.requests) == REQUESTS_KEPT
    assert min(record.requests) == 11
    assert len(record.console) == CONSOLE_KEPT
    record.hear(ended("unknown"), 0.0)


def test_dialogs_and_choosers_stand_until_they_are_closed() -> None:
    record = PageRecord()
    told: list[str] = []
    record.interrupted_by_dialogs.add(lambda: told.append("dialog"))
    record.hear(DialogOpened(handle=PAGE, kind="alert", message="Hi"), 0.0)
    assert record.dialog is not None
    assert told == ["dialog"]
    record.hear(DialogClosed(PAGE), 0.0)
    assert record.dialog is None
    record.hear(ChooserOpened(handle=PAGE, multiple=True), 0.0)
    assert record.chooser is not None
    record.hear(ChooserClosed(PAGE), 0.0)
    assert record.chooser is None


def test_notices_of_page_events_have_the_fields_that_the_table_says() -> None:
    for event in (
        DialogOpened(handle=PAGE, kind="alert", message="hello"),
        DialogClosed(handle=PAGE),
        ConsoleSaid(handle=PAGE, level="error", text="wrong", url="http://x/"),
    ):
        notice = notice_of(event, Redactor().cut)
        assert notice is not None
        kind, data = notice
        assert {"tab", *data} == kind.fields.keys(), "the broker adds the tab"


def test_a_notice_carries_little_of_a_long_console_line() -> None:
    long = "x" * 100_000
    said = ConsoleSaid(handle=PAGE, level="error", text=long, url=f"data:,{long}")
    notice = notice_of(said, Redactor().cut)
    assert notice is not None
    assert len(str(notice[1])) < 2 * NOTICE_CHARS + 100


def test_requests_that_never_end_are_not_remembered_for_ever() -> None:
    record = PageRecord()
    for number in range(3 * REQUESTS_KEPT):
        record.hear(sent(str(number)), 0.0)
        record.requests.clear()  # as an agent may
    assert record.pending(CRITICAL) == REQUESTS_KEPT


async def test_waiters_are_woken_by_every_event() -> None:
    record = PageRecord()
    waiting = [await started(record.changed()) for _ in range(2)]
    waiting[1].cancel()
    record.hear(sent("1"), 0.0)
    await answer_of(waiting[0])


def test_numbering_continues_where_an_earlier_broker_stopped() -> None:
    row = Tab(
        id=TabId("t1"), session=None, browser=BrowserId("b"), jar=None, url="", used=1,
        next_ref=40, next_frame=3, frames=(("F", "f2"),),
    )  # fmt: skip
    memory = remembered(row)
    assert (memory.next_ref, memory.next_frame, memory.frame("f2")) == (40, 3, "F")
    assert memory.prefix("G") == "f3"
