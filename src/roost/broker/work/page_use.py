"""Access to a page: ask the core for the tab, wait for the tab's turn, watch for dialogs.

A dialog stops a page's scripts until somebody answers it. So no work starts in a page with a
dialog, and a dialog that opens during work ends that work with ``DialogOpen``. Otherwise the caller
would wait until its deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from roost import core
from roost.api.operation import PageOperation
from roost.api.page_views import DialogView
from roost.broker.broker import Broker
from roost.broker.browser.downloads import Download, DownloadState
from roost.broker.browser.page_records import PageRecord
from roost.broker.work import policy
from roost.broker.work.running_call import CALL, running_call
from roost.core import events as ev
from roost.core.rows import Tab
from roost.drivers.events import (
    DialogOpened,
)
from roost.errors import BadRequest, DialogOpen, Timeout
from roost.page.page import Judge, Page
from roost.vocabulary import AgentId, TabId

WAIT_MS = 5000
"""How long an action waits until its element exists and is actionable."""
DOWNLOAD_BEGINS_SECONDS = 2.0
DOWNLOAD_ENDS_SECONDS = 2.0
LEFT = (BadRequest, Timeout)
"""Errors that a call into a page raises if the page navigates away during the call."""


def _use(broker: Broker, tab: TabId) -> None:
    """Note that the running call works on the tab, so that the tab is not parked meanwhile.
    ``Caller`` removes the note when the call ends."""
    call = CALL.get(None)
    if call is not None:
        call.tabs = (*call.tabs, tab)
        broker.in_use[id(call)] = call.tabs


@dataclass(frozen=True, slots=True)
class InPage:
    """A tab that an operation works in: its row when it was found, its page, and its record."""

    broker: Broker
    row: Tab
    page: Page
    record: PageRecord

    @property
    def tab(self) -> str:
        return self.row.id

    def where(self) -> dict[str, Any]:
        """Return tab id, current address and current title, as fields of a view."""
        self.remember()
        now = self.broker.state.tabs.get(self.row.id, self.row)
        return {"tab": now.id, "url": now.url, "title": now.title}

    def remember(self) -> None:
        """Save the title and the refs that the page reported in the tab's row, if they changed."""
        row, memory = self.broker.state.tabs.get(self.row.id), self.record.memory
        if row is None:
            return
        title = row.title
        limits = self.broker.limits
        if self.page.seen is not None and limits.url(self.page.seen[0]) == row.url:
            title = limits.title(self.page.seen[1])
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
            self.broker.hear(read)


def wait_ms(broker: Broker) -> int:
    """Return ``WAIT_MS``, or 70 % of the time left when the call's deadline is near, so that the
    caller gets the real reason and not TIMEOUT."""
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
    """Return the tab that the operation means, once its page is open. Lost and parked tabs are
    opened again first.

    action: what the caller wants to do with the tab, as a verb for error messages.
    acts: the operation changes the page, and does not only read it.
    revives: the operation also works on a crashed tab, because it loads the page again.
    """
    row = broker.decide(
        core.use_tab, agent, op.session, op.tab, action=action, acts=acts, revives=revives
    )
    _use(broker, row.id)
    if "read" in op.conduct:
        policy.check_tab(broker, agent, op, row)
    await broker.browser(row.browser).ready()
    await broker.opened(row.id)
    return row


def in_page(broker: Broker, row: Tab, judge: Judge | None) -> InPage:
    """Return access to the tab's page.

    judge: judges what the operation reads and does there, if a policy restricts it.
    """
    record = broker.record(row.id)
    check_no_dialog(record)
    page = Page(broker.page(row), record.memory)
    page.judge = judge
    return InPage(broker, row, page, record)


@asynccontextmanager
async def reading(
    broker: Broker,
    agent: AgentId,
    op: PageOperation,
    action: str,
    *,
    turn: bool = True,
    acts: bool = False,
) -> AsyncIterator[InPage]:
    """Give read access to the page that the operation means.

    acts: the work runs the caller's script, so the caller must be allowed to act in the page.
    turn: wait for the tab's turn. An operation that waits for a condition must not hold the turn,
        because another call may have to make the condition true.
    """
    row = await located(broker, agent, op, action, acts=acts)
    judge = policy.judge_for(broker, agent, row, op)
    if not turn:
        at = in_page(broker, row, judge)
        async with UnlessDialog(at.record):
            yield at
    else:
        async with broker.lanes.turn(row.id):
            at = in_page(broker, row, judge)
            async with UnlessDialog(at.record):
                yield at
    at.remember()


@asynccontextmanager
async def acting(
    broker: Broker, agent: AgentId, op: PageOperation, action: str
) -> AsyncIterator[InPage]:
    """Hold the tab's turn and give access to its page for an action."""
    row = await located(broker, agent, op, action, acts=True)
    async with broker.lanes.turn(row.id):
        at = in_page(broker, row, policy.judge_for(broker, agent, row, op))
        with at.record.while_acting(broker.clock):
            yield at
    at.remember()
    if row.jar is not None:
        broker.jar_backups.may_have_changed(row.jar)


class UnlessDialog:
    """End the work inside the block with ``DialogOpen`` as soon as the page shows a dialog.

    Like ``asyncio.timeout``, it cancels the task and turns the cancellation into the error.

    leaves: the work navigates away from the page. Then a dialog that is already open is allowed,
        because the driver dismisses it. Only a ``beforeunload`` dialog is not: the caller must
        answer it.
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
            # The dialog may have been answered before the cancellation arrived here.
            check_no_dialog(self._record)
            raise DialogOpen("The page showed a dialog for a moment.", hint="Try again.")

    def _interrupt(self) -> None:
        if not self._has_fired and self._task is not None:
            self._has_fired = True
            self._task.cancel()


async def new_downloads(broker: Broker, row: Tab) -> list[str] | None:
    """Return the tab's downloads that no reply has reported yet; complete ones by their path. Wait
    up to ``DOWNLOAD_ENDS_SECONDS`` for running downloads to end."""
    if row.session is None:
        return None
    downloads = broker.downloads.unreported(row.session, row.id)
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
    if download.wanted is not None:
        return f"{download.name} (removed: the person is asked first; repeat the action later)"
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
