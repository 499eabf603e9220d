"""BiDi's events are translated into the events of ``drivers.base``."""

from __future__ import annotations

from typing import Any

import pytest

from roost.drivers.events import (
    ConsoleSaid,
    DownloadBegan,
    DownloadEnded,
    RequestEnded,
    RequestSent,
)
from roost.drivers.firefox.page_events import report_of
from roost.vocabulary import TabHandle

SOME_TAB = TabHandle("tab-1")


def request(url: str = "http://a/", **more: Any) -> dict[str, Any]:
    return {"request": {"request": "r1", "url": url, "method": "GET", **more}, "navigation": None}


@pytest.mark.parametrize(
    ("destination", "initiator", "kind"),
    [
        ("document", None, "document"),
        ("iframe", "iframe", "document"),
        ("style", "css", "stylesheet"),
        ("image", "img", "image"),
        ("", "xmlhttprequest", "xhr"),
        ("", "fetch", "fetch"),
        ("", None, "other"),
    ],
)
def test_a_request_says_what_asked_for_it(
    destination: str, initiator: str | None, kind: str
) -> None:
    params = request(destination=destination, initiatorType=initiator)
    sent = report_of(SOME_TAB, "network.beforeRequestSent", params)
    assert sent == RequestSent(
        handle=SOME_TAB, request="r1", url="http://a/", method="GET", kind=kind
    )


def test_requests_that_never_left_the_browser_are_not_reported() -> None:
    assert report_of(SOME_TAB, "network.beforeRequestSent", request("data:,x")) is None


def test_a_response_is_reported_at_its_head_at_its_end_and_with_its_failure() -> None:
    answer = {**request(), "response": {"status": 404, "mimeType": "text/html; charset=x"}}
    for method, finished in (("responseStarted", False), ("responseCompleted", True)):
        assert report_of(SOME_TAB, f"network.{method}", answer) == RequestEnded(
            handle=SOME_TAB, request="r1", status=404, mime_type="text/html", finished=finished
        )
    failed = report_of(SOME_TAB, "network.fetchError", {**request(), "errorText": "NS_ERROR"})
    assert failed == RequestEnded(handle=SOME_TAB, request="r1", error="NS_ERROR")


@pytest.mark.parametrize(
    ("entry", "level"),
    [
        ({"type": "console", "method": "log", "level": "info"}, "log"),
        ({"type": "console", "method": "assert", "level": "error"}, "error"),
        ({"type": "javascript", "level": "error"}, "error"),
    ],
)
def test_the_console_keeps_its_levels(entry: dict[str, str], level: str) -> None:
    trace = {"callFrames": [{"url": "http://a/x.js", "lineNumber": 4}]}
    said = report_of(SOME_TAB, "log.entryAdded", {**entry, "text": "hm", "stackTrace": trace})
    assert said == ConsoleSaid(handle=SOME_TAB, level=level, text="hm", url="http://a/x.js", line=5)


def test_a_download_is_the_same_at_its_end() -> None:
    begun = {"context": "tab-1", "navigation": None, "url": "http://a/f", "suggestedFilename": "f"}
    began = report_of(SOME_TAB, "browsingContext.downloadWillBegin", begun)
    ended = report_of(
        SOME_TAB, "browsingContext.downloadEnd", {**begun, "status": "complete", "filepath": "/f"}
    )
    canceled = report_of(SOME_TAB, "browsingContext.downloadEnd", {**begun, "status": "canceled"})
    assert isinstance(began, DownloadBegan)
    assert ended == DownloadEnded(handle=SOME_TAB, download=began.download, path="/f")
    assert canceled == DownloadEnded(handle=SOME_TAB, download=began.download, path=None)


def test_events_that_concern_only_the_driver_are_not_reported() -> None:
    assert report_of(SOME_TAB, "browsingContext.load", {"context": "tab-1"}) is None
