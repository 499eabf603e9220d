"""Getting at a page: find the tab by the core's word, take its turn, watch for dialogs.

A dialog stops a page's scripts until it is answered. So nothing is started in a page that shows
one, and whatever opens one ends there: the caller is told instead of waiting for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from roost.api.operation import PageOperation
from roost.api.page_views import DialogView
from roost.broker.records import PageRecord
from roost.broker.service import Broker
from roost.core import events as ev
from roost.core.model import Tab
from roost.drivers.base import DialogOpened
from roost.errors import BadRequest, DialogOpen
from roost.page.caller import Page
from roost.vocabulary import AgentId

T = TypeVar("T")
LEFT = (BadRequest,)
"""What a call into a page raises when the page is left under it."""


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
        now = self.broker.state.tabs.get(self.row.id, self.row)
        return {"tab": now.id, "url": now.url, "title": now.title}


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
        yield in_page(broker, row)
        return
    async with broker.lanes.turn(row.id):
        yield in_page(broker, row)


@asynccontextmanager
async def acting(
    broker: Broker, agent: AgentId, op: PageOperation, action: str
) -> AsyncIterator[InPage]:
    """The page, to act on, in the tab's turn."""
    row = await located(broker, agent, op, action, acts=True)
    async with broker.lanes.turn(row.id):
        yield in_page(broker, row)


async def unless_dialog(record: PageRecord, work: Awaitable[T]) -> T:
    """The work's result; ``DialogOpen`` if a dialog stops the page first."""
    task = asyncio.ensure_future(work)  # noqa: TID251 -- awaited or cancelled right here
    try:
        while not task.done():
            change = asyncio.ensure_future(record.changed())  # noqa: TID251 -- likewise
            try:
                await asyncio.wait({task, change}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                change.cancel()
            if not task.done():
                check_no_dialog(record)
        return task.result()
    finally:
        task.cancel()


def check_no_dialog(record: PageRecord) -> None:
    if record.dialog is not None:
        raise dialog_open(record.dialog)


def dialog_open(dialog: DialogOpened) -> DialogOpen:
    return DialogOpen(
        f"The page shows a dialog ({dialog.kind}): {dialog.message[:500]}",
        kind=dialog.kind,
        text=dialog.message[:2000],
    )


def dialog_view(dialog: DialogOpened | None) -> DialogView | None:
    if dialog is None:
        return None
    return DialogView(
        kind=dialog.kind, message=dialog.message[:2000], default=dialog.default or None
    )
