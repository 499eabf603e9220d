"""The record of each tab's page: console messages, requests, dialog, and when it last changed.

The driver's page events fill the record, and page operations read it. Its size is bounded, and it
is dropped with the tab.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, assert_never

from roost.broker.change_signal import ChangeSignal
from roost.broker.clock import Clock
from roost.broker.text_limits import Cut
from roost.core.redaction import redacted_url
from roost.core.rows import Tab
from roost.drivers.events import (
    ChooserClosed,
    ChooserOpened,
    ConsoleSaid,
    DialogClosed,
    DialogOpened,
    DownloadBegan,
    DownloadEnded,
    MessageSeen,
    PageEvent,
    RequestEnded,
    RequestSent,
)
from roost.page.page import PageMemory
from roost.vocabulary import NoticeKind

CONSOLE_KEPT = 500
REQUESTS_KEPT = 500
PICTURES_KEPT = 32
MESSAGES_KEPT = 500
NOTICE_CHARS = 2000
"""How much of a console message a notice carries. ``text_limits`` bounds the record itself."""
CRITICAL = frozenset({"document", "script", "stylesheet", "xhr", "fetch"})
VISUAL = frozenset({"image", "font"})


def remembered(tab: Tab) -> PageMemory:
    """Return the page memory that an earlier reading saved in the tab's row."""
    return PageMemory(tab.next_ref, tab.next_frame, dict(tab.frames))


def notice_of(event: PageEvent, cut: Cut) -> tuple[NoticeKind, dict[str, Any]] | None:
    """Return kind and data of the notice that the session's agents get for the event, if any."""
    match event:
        case DialogOpened():
            return NoticeKind.DIALOG_OPENED, {"kind": event.kind, "message": event.message}
        case DialogClosed():
            return NoticeKind.DIALOG_CLOSED, {}
        case ConsoleSaid(level="error"):
            text, url = cut(event.text, NOTICE_CHARS), cut(event.url, NOTICE_CHARS)
            return NoticeKind.CONSOLE_ERROR, {"text": text, "url": url, "line": event.line}
        case _:
            return None


@dataclass(slots=True)
class RequestRecord:
    """One network request of a page. Its address is redacted, because this is a log."""

    number: int
    request: str
    url: str
    method: str
    kind: str
    at: float
    status: int | None = None
    mime_type: str | None = None
    error: str | None = None
    ended_at: float | None = None
    is_own: bool = False
    """An action of an agent began the request; the page did not send it by itself."""


@dataclass(slots=True)
class PageRecord:
    """The record of one tab's page."""

    memory: PageMemory = field(default_factory=PageMemory)
    console: deque[ConsoleSaid] = field(default_factory=lambda: deque(maxlen=CONSOLE_KEPT))
    requests: OrderedDict[int, RequestRecord] = field(default_factory=OrderedDict)
    messages: deque[tuple[float, MessageSeen]] = field(
        default_factory=lambda: deque(maxlen=MESSAGES_KEPT)
    )
    dialog: DialogOpened | None = None
    chooser: ChooserOpened | None = None
    """The file chooser that the page has open, if any."""
    _pending: dict[str, RequestRecord] = field(default_factory=dict)
    _count: int = 0
    _changed: ChangeSignal = field(default_factory=ChangeSignal)
    interrupted_by_dialogs: set[Callable[[], None]] = field(default_factory=set)
    """Callbacks to run when a dialog opens, because a page with a dialog answers no calls."""
    rests_since: float = math.inf
    """When the page was last acted on or got its last event. Infinite during an action, and before
    the first one."""
    pictures: OrderedDict[Hashable, bytes] = field(default_factory=OrderedDict)
    """The digest of the last picture of each kind, to tell whether a new one differs."""
    acted_after: int = 0
    """The number of the newest request when the last action began."""
    script_ran_at: float = 0.0
    """When an agent last ran a script in the page."""

    @contextmanager
    def while_acting(self, clock: Clock) -> Iterator[None]:
        """Wrap an action in the page, so that the page does not count as untouched."""
        self.rests_since, self.acted_after = math.inf, self._count
        try:
            yield
        finally:
            self.rests_since = clock.now()

    def stir(self, now: float) -> None:
        """Note that something came for the page at ``now``."""
        if self.rests_since != math.inf:
            self.rests_since = now

    def hear(self, event: PageEvent, now: float) -> None:
        match event:
            case ConsoleSaid():
                self.console.append(event)
            case DialogOpened():
                self.dialog = event
                for interrupt in list(self.interrupted_by_dialogs):
                    interrupt()
            case DialogClosed():
                self.dialog = None
            case ChooserOpened():
                self.chooser = event
            case ChooserClosed():
                self.chooser = None
            case DownloadBegan() | DownloadEnded():
                pass  # downloads belong to the session: see ``downloads``
            case RequestSent():
                self._sent(event, now)
            case RequestEnded():
                self._ended(event, now)
            case MessageSeen():
                self.messages.append((now, event))
            case _:
                assert_never(event)
        self.stir(now)
        self._changed.tell()

    def pending(self, kinds: frozenset[str]) -> int:
        """Return how many requests of those kinds have not ended."""
        return sum(record.kind in kinds for record in self._pending.values())

    def pending_since(self, kinds: frozenset[str], before: float) -> list[float]:
        """Return when each pending request of those kinds began, if not later than ``before``."""
        open_requests = self._pending.values()
        return [one.at for one in open_requests if one.kind in kinds and one.at <= before]

    def is_new_picture(self, kind: Hashable, digest: bytes) -> bool:
        """Remember a picture. Return True if the last one of that kind was another."""
        before = self.pictures.pop(kind, None)
        self.pictures[kind] = digest
        if len(self.pictures) > PICTURES_KEPT:
            self.pictures.popitem(last=False)
        return before != digest

    def is_idle(self, now: float, seconds: float) -> bool:
        """Return True if the page has had no pending request for ``seconds``."""
        ended = max((one.ended_at or one.at for one in self.requests.values()), default=-math.inf)
        return not self._pending and now - ended >= seconds

    @property
    def last_number(self) -> int:
        """The number of the newest request, or 0."""
        return self._count

    def open_requests(self) -> Collection[RequestRecord]:
        """Return the requests that have not ended."""
        return self._pending.values()

    async def changed(self) -> None:
        """Wait for the next event of any kind."""
        await self._changed.wait()

    def _sent(self, event: RequestSent, now: float) -> None:
        self._count += 1
        url = redacted_url(event.url)
        record = RequestRecord(self._count, event.request, url, event.method, event.kind, now)
        self.requests[record.number] = self._pending[event.request] = record
        if len(self.requests) > REQUESTS_KEPT:
            self.requests.popitem(last=False)
        if len(self._pending) > REQUESTS_KEPT:
            del self._pending[next(iter(self._pending))]

    def _ended(self, event: RequestEnded, now: float) -> None:
        record = self._pending.get(event.request)
        if record is None:
            return
        record.status = event.status if event.status is not None else record.status
        record.mime_type = event.mime_type or record.mime_type
        record.error = event.error
        if event.finished:
            record.ended_at = now
            del self._pending[event.request]
