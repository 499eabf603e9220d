"""The requests of one tab: requests of a document that was left end with it."""

from __future__ import annotations

from roost.drivers.chromium.requests import REQUESTS_WATCHED, Requests
from roost.drivers.events import (
    DriverEvent,
    RequestEnded,
    RequestSent,
)
from roost.vocabulary import TabHandle

TAB = TabHandle("T")


def sent(number: int, loader: str | None) -> dict[str, object]:
    request = {"url": "http://a.test/", "method": "GET"}
    params: dict[str, object] = {"requestId": f"r{number}", "request": request, "type": "Fetch"}
    return params if loader is None else params | {"loaderId": loader}


def ended(events: list[DriverEvent]) -> list[str]:
    return [event.request for event in events if isinstance(event, RequestEnded)]


def test_a_new_document_ends_the_requests_of_earlier_documents_and_of_workers() -> None:
    events: list[DriverEvent] = []
    requests = Requests(TAB, events.append)
    for number, loader in enumerate(("old", "new", None)):
        requests.sent(sent(number, loader))
    requests.end_all_but("new")

    assert ended(events) == ["r0", "r2"]
    requests.end_all_but("new")
    assert ended(events) == ["r0", "r2"], "each request ends once"


def test_a_request_that_ended_is_not_ended_again_with_its_document() -> None:
    events: list[DriverEvent] = []
    requests = Requests(TAB, events.append)
    requests.sent(sent(1, "old"))
    requests.finished({"requestId": "r1"})
    requests.end_all_but("new")

    assert [type(event) for event in events] == [RequestSent, RequestEnded]


def test_only_the_newest_requests_are_remembered() -> None:
    events: list[DriverEvent] = []
    requests = Requests(TAB, events.append)
    for number in range(REQUESTS_WATCHED + 2):
        requests.sent(sent(number, "old"))
    requests.end_all_but("new")

    assert ended(events) == [f"r{number}" for number in range(2, REQUESTS_WATCHED + 2)]
