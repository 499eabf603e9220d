"""The open requests of one tab, and their events."""

from __future__ import annotations

from collections.abc import Callable

from roost.drivers.chromium import page_events
from roost.drivers.chromium.messages import Messages
from roost.drivers.chromium.navigation import LEFT
from roost.drivers.connection import Json
from roost.drivers.events import (
    DriverEvent,
)
from roost.vocabulary import TabHandle

REQUESTS_WATCHED = 500


class Requests:
    """Reports one tab's requests, and ends those that Chromium forgets to end."""

    def __init__(self, handle: TabHandle, report: Callable[[DriverEvent], None]) -> None:
        self._handle = handle
        self._report = report
        self.messages = Messages(handle, report)
        self._open: dict[str, str] = {}
        """Open requests (newest 500) and their document's loader id, empty for workers."""

    def sent(self, params: Json) -> None:
        if params.get("type") == "EventSource":
            self.messages.opened(params["requestId"], params["request"]["url"])
        self._open[params["requestId"]] = params.get("loaderId", "")
        if len(self._open) > REQUESTS_WATCHED:
            del self._open[next(iter(self._open))]
        for event in page_events.request_sent(self._handle, params):
            self._report(event)

    def answered(self, params: Json) -> None:
        self._report(page_events.response_received(self._handle, params))

    def finished(self, params: Json) -> None:
        self._open.pop(params["requestId"], None)
        self._report(page_events.request_finished(self._handle, params))

    def end_all_but(self, loader: str) -> None:
        """End the requests of earlier documents: Chromium does not always report their end."""
        for request, document in list(self._open.items()):
            if document != loader:
                self.finished({"requestId": request, "errorText": LEFT})
