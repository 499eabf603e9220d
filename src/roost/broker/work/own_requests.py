"""Wait for the requests that an action began itself, for a bounded time.

A click that saves a form shows "Saving…" at once and "Saved" when its request has ended. The reply
should show the latter. So an action waits for the documents, scripts, fetches and XHRs that began
between its input and the moment the page had settled. An action that began none waits for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib

from roost.broker.browser.page_records import CRITICAL, PageRecord, RequestRecord
from roost.broker.clock import Clock
from roost.page.page import Page

AFTERWARDS_SECONDS = 0.2
"""Wait this long after the last response. Pages often react a moment later: they draw, redirect by
a timer, or send the next request."""
POLLED = 2
"""A page that sent the same request this often without an action polls its server."""
APART_SECONDS = 0.05
"""Requests closer together than this are one occasion, such as two components that load alike."""
STREAMS = frozenset({"text/event-stream", "multipart/x-mixed-replace", "application/grpc"})
"""Types of responses that do not end."""
MOST = 50
"""Consider at most this many requests of one action."""
SHOWN_CHARS = 120


class OwnRequests:
    """The requests of one action, found in the tab's record.

    seconds: how long to wait for all of the requests; 0: not at all.
    """

    def __init__(self, page: Page, record: PageRecord, clock: Clock, seconds: float) -> None:
        self._page = page
        self._record = record
        self._clock = clock
        self._seconds = seconds
        self._has_begun = False
        self._judged = 0
        self._own: list[RequestRecord] = []
        self._open_before: set[Likeness] = set()
        self._occasions: dict[Likeness, int] | None = None
        page.before_input = self._begin

    async def ended(self) -> bool:
        """Wait until the action's requests have ended and the page has reacted to them. Return
        False if there was nothing to wait for."""
        if not self._seconds or self._page.has_left or not self._is_awaited():
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while self._is_awaited():
                    while self._pending():
                        await self._record.changed()
                    await self._clock.wait(AFTERWARDS_SECONDS)
        return True

    def _is_awaited(self) -> bool:
        """Return True if a request is under way, or if the last one ended a moment ago.

        A fast request may have ended before the page had settled, and the page reacts to it later.
        """
        if self._pending():
            return True
        last = max((one.ended_at or 0.0 for one in self._own), default=0.0)
        return last > self._clock.now() - AFTERWARDS_SECONDS

    def under_way(self) -> list[str] | None:
        """Return the requests that have not ended, such as ``POST https://host/save``."""
        if not self._seconds or self._page.has_left:
            return None
        return [f"{one.method} {one.url}"[:SHOWN_CHARS] for one in self._pending()] or None

    def _begin(self) -> None:
        """Note which requests there are before the action's first input."""
        if not self._has_begun:
            self._has_begun = True
            self._judged = self._record.last_number
            open_before = (one for one in self._record.open_requests() if not one.is_own)
            self._open_before = {_likeness(one) for one in open_before}

    def _pending(self) -> list[RequestRecord]:
        if self._has_begun:
            self._judge_new()
        return [one for one in self._own if one.ended_at is None and one.mime_type not in STREAMS]

    def _judge_new(self) -> None:
        """Add the requests to ``_own`` that began since the last call. ``MOST`` bounds the work for
        a page that sends thousands."""
        while self._judged < self._record.last_number and len(self._own) < MOST:
            self._judged += 1
            one = self._record.requests.get(self._judged)
            if one is not None and one.kind in CRITICAL and not self._is_polled(one):
                one.is_own = True
                self._own.append(one)

    def _is_polled(self, request: RequestRecord) -> bool:
        """Return True if the page sends this request again and again by itself, or renews a request
        that was under way before the action (a long poll)."""
        if self._occasions is None:
            self._occasions = _occasions(self._record, before=self._judged)
        what = _likeness(request)
        return what in self._open_before or self._occasions.get(what, 0) >= POLLED


Likeness = tuple[str, str]
"""What makes two requests alike: method, and address without the query, which polls vary."""


def _likeness(request: RequestRecord) -> Likeness:
    return request.method, request.url.partition("?")[0]


def _occasions(record: PageRecord, *, before: int) -> dict[Likeness, int]:
    """Return how often the page sent each request by itself, before the request of that number."""
    found: dict[Likeness, int] = {}
    last: dict[Likeness, float] = {}
    for one in record.requests.values():
        if one.number < before and not one.is_own:
            what = _likeness(one)
            if one.at - last.get(what, -APART_SECONDS) >= APART_SECONDS:
                found[what] = found.get(what, 0) + 1
            last[what] = one.at
    return found
