"""Getting at a page: find the tab by the core's word, take its turn, watch for dialogs.

A dialog stops a page's scripts until it is answered. So nothing is started in a page that shows
one, and whatever opens one ends there: the caller is told instead of waiting for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from roost.api.operation import PageOperation
from roost.api.page_views import DialogView
from roost.broker.broker import Broker
from roost.broker.browser.downloads import Download, DownloadState
from roost.broker.browser.page_records import PageRecord
from roost.broker.text_limits import short_title, short_url
from roost.core import events as ev
from roost.core.rows import Tab
from roost.drivers.base import DialogOpened
from roost.errors import BadRequest, DialogOpen, Timeout
from roost.page.page import Page
from roost.vocabulary import AgentId, TabId

WAIT_MS = 5000
"""How long an action waits for its element to be there and to be actionable."""
DOWNLOAD_BEGINS_SECONDS = 2.0
DOWNLOAD_ENDS_SECONDS = 2.0
LEFT = (BadRequest, Timeout)
"""What a call into a page raises when the page is left under it, or is still being left."""


@dataclass(slots=True)
class RunningCall:
    """What the work behind a call knows of the call.

    ends_at: when the call must be answered.
    tabs: the tabs that the call works on.
    opened: a tab that the call opened and that stays if the call fails. The error names it, because
        the caller would not know of it otherwise.
    """

    ends_at: float = math.inf
    tabs: tuple[TabId, ...] = ()
    opened: TabId | None = None


CALL: ContextVar[RunningCall] = ContextVar("the running call")


def running_call() -> RunningCall:
    """The call that this code runs for."""
    return CALL.get(None) or RunningCall()


def _use(broker: Broker, tab: TabId) -> None:
    """Note that the running call works on the tab, so that nobody parks the tab meanwhile. The
    caller of the work removes the note when the call ends."""
    call = CALL.get(None)
    if call is not None:
        call.tabs = (*call.tabs, tab)
        broker.in_use[id(call)] = call.tabs


@dataclass(frozen=True, slots=True)
class InPage:
    """A tab at hand: its row when it was found, its page, what is on record of it."""

    broker: Broker
    row: Tab
    page: Page
    record: PageRecord

    @property
    def tab(self) -> str:
        return self.row.id

    def where(self) -> dict[str, Any]:
        """Tab, address and title as they are now."""
        self.remember()
        now = self.broker.state.tabs.get(self.row.id, self.row)
        return {"tab": now.id, "url": now.url, "title": now.title}

    def remember(self) -> None:
        """Record what the page has told by the way, if it is news."""
        row, memory = self.broker.state.tabs.get(self.row.id), self.record.memory
        if row is None:
            return
        title = row.title
        if self.page.seen is not None and short_url(self.page.seen[0]) == row.url:
            title = short_title(self.page.seen[1])
        read = ev.TabRead(
            tab=row.id,
            title=title,
            next_ref=memory.next_ref,
            next_frame=memory.next_frame,
            frames=tuple(memory.prefixes.items()),
        )
        if (read.title, read.next_ref, read.next_frame, read.frames) != (
            row.title, row.next_ref, row.next_frame, row.frames,
        ):  # fmt: skip
            self.broker.feed(read)


def wait_ms(broker: Broker) -> int:
    """The same in a call that has less time: its caller is to hear why it failed."""
    left = running_call().ends_at - broker.clock.now()
    return int(max(0.0, min(WAIT_MS, left * 700)))


async def located(
    broker: Broker,
    agent: AgentId,
    op: PageOperation,
    action: str,
    *,
    acts: bool,
    revives: bool = False,
) -> Tab:
    """The tab the operation means, its page there: lost and parked ones are brought back first."""
    outcome = broker.feed(
        ev.TabUseRequested(
            agent=agent,
            session=op.session,
            tab=op.tab,
            action=action,
            acts=acts,
            revives=revives,
        )
    )
    row = outcome.subject
    assert isinstance(row, Tab)
    _use(broker, row.id)
    await broker.browser(row.browser).ready()
    await broker.opened(row.id)
    return row


def in_page(broker: Broker, row: Tab) -> InPage:
    driver = broker.browser(row.browser).driver
    record = broker.record(row.id)
    check_no_dialog(record)
    return InPage(broker, row, Page(driver, broker.handle(row.id), record.memory), record)


@asynccontextmanager
async def reading(
    broker: Broker, agent: AgentId, op: PageOperation, action: str, *, turn: bool = True
) -> AsyncIterator[InPage]:
    """The page, to look at. Waiting needs no turn: it would keep others from what it waits for."""
    row = await located(broker, agent, op, action, acts=False)
    if not turn:
        at = in_page(broker, row)
        async with UnlessDialog(at.record):
            yield at
    else:
        async with broker.lanes.turn(row.id):
            at = in_page(broker, row)
            async with UnlessDialog(at.record):
                yield at
    at.remember()


@asynccontextmanager
async def acting(
    broker: Broker, agent: AgentId, op: PageOperation, action: str
) -> AsyncIterator[InPage]:
    """The page, to act on, in the tab's turn."""
    row = await located(broker, agent, op, action, acts=True)
    async with broker.lanes.turn(row.id):
        at = in_page(broker, row)
        with at.record.stirred(broker.clock):
            yield at
    at.remember()
    if row.jar is not None:
        broker.jar_backups.may_have_changed(row.jar)


class UnlessDialog:
    """Around work in a page: ``DialogOpen`` as soon as a dialog stops that page.

    ``leaves``: the work leaves the page. Then a dialog that stands there already is no obstacle,
    because the driver dismisses it, unless it asks whether the page may be left. Works as
    ``asyncio.timeout`` does: the task is cancelled, and that becomes the error.
    """

    def __init__(self, record: PageRecord, *, leaves: bool = False) -> None:
        self._record = record
        self._leaves = leaves
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0
        self._has_fired = False

    async def __aenter__(self) -> None:
        dialog = self._record.dialog
        if not self._leaves or (dialog is not None and dialog.kind == "beforeunload"):
            check_no_dialog(self._record)
        self._task = asyncio.current_task()
        assert self._task is not None
        self._cancelling = self._task.cancelling()
        self._record.interrupted_by_dialogs.add(self._interrupt)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._record.interrupted_by_dialogs.discard(self._interrupt)
        assert self._task is not None
        if not self._has_fired or self._task.uncancel() > self._cancelling:
            return
        if kind is asyncio.CancelledError:
            # It may have been answered while the cancellation was on its way.
            check_no_dialog(self._record)
            raise DialogOpen("The page showed a dialog for a moment.", hint="Try again.")

    def _interrupt(self) -> None:
        if not self._has_fired and self._task is not None:
            self._has_fired = True
            self._task.cancel()


async def new_downloads(broker: Broker, row: Tab) -> list[str] | None:
    """The files this tab has downloaded since somebody was last told; whole ones by their path.
    One that is nearly there is waited for."""
    if row.session is None:
        return None
    downloads = broker.downloads.untold(row.session, row.id)
    if not downloads:
        return None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DOWNLOAD_ENDS_SECONDS):
            while any(one.state is DownloadState.RUNNING for one in downloads):
                await broker.downloads.changed()
    for one in downloads:
        one.told = one.state is not DownloadState.RUNNING
    return [shown_download(one) for one in downloads]


def shown_download(download: Download) -> str:
    if download.path is not None:
        return str(download.path)
    return f"{download.name} ({download.state})"


def check_no_dialog(record: PageRecord) -> None:
    if record.dialog is not None:
        raise dialog_open(record.dialog)


def dialog_open(dialog: DialogOpened) -> DialogOpen:
    return DialogOpen(
        f"The page shows a dialog ({dialog.kind}).", kind=dialog.kind, page_said=dialog.message
    )


def dialog_view(dialog: DialogOpened | None) -> DialogView | None:
    if dialog is None:
        return None
    return DialogView(
        kind=dialog.kind, message=dialog.message[:2000], default=dialog.default or None
    )
