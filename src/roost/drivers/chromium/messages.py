"""Report the messages of a tab's WebSockets and event sources."""

from __future__ import annotations

from collections.abc import Callable

from roost.drivers.connection import Json
from roost.drivers.events import DriverEvent, MessageSeen
from roost.vocabulary import TabHandle

STREAMS = 500
"""Streams of one tab whose address is remembered, the newest."""
_TEXT = 1
"""The opcode of a WebSocket frame with text."""


class Messages:
    """The open streams of one tab. ``report`` gets their messages."""

    def __init__(self, handle: TabHandle, report: Callable[[DriverEvent], None]) -> None:
        self._handle = handle
        self._report = report
        self._urls: dict[str, str] = {}

    def opened(self, request: str, url: str) -> None:
        """Remember the address of a WebSocket, or of a request that may be an event source."""
        self._urls[request] = url
        if len(self._urls) > STREAMS:
            del self._urls[next(iter(self._urls))]

    def frame(self, params: Json, *, sent: bool) -> None:
        """Report a frame of a WebSocket."""
        about = params["response"]
        self._seen(
            params["requestId"], "websocket", about["payloadData"],
            sent=sent, binary=about["opcode"] != _TEXT,
        )  # fmt: skip

    def event(self, params: Json) -> None:
        """Report an event of an event source."""
        self._seen(params["requestId"], "eventsource", params["data"], name=params["eventName"])

    def _seen(
        self,
        request: str,
        kind: str,
        text: str,
        *,
        sent: bool = False,
        binary: bool = False,
        name: str = "",
    ) -> None:
        url = self._urls.get(request, "")
        self._report(
            MessageSeen(
                handle=self._handle, request=request, url=url, kind=kind, text=text, sent=sent,
                binary=binary, name=name,
            )
        )  # fmt: skip
