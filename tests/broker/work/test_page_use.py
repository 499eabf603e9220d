from __future__ import annotations

import asyncio

import pytest

from roost.broker.browser.page_records import PageRecord
from roost.broker.work.page_use import UnlessDialog
from roost.drivers.events import (
    DialogClosed,
    DialogOpened,
)
from roost.errors import DialogOpen
from roost.testing.waits import error_of, started
from roost.vocabulary import TabHandle

PAGE = TabHandle("page")
DIALOG = DialogOpened(handle=PAGE, kind="alert", message="Hi")


async def in_page(record: PageRecord, work: asyncio.Future[int]) -> int:
    async with UnlessDialog(record):
        return await work


async def test_work_that_no_dialog_stops_gives_its_result() -> None:
    record, work = PageRecord(), asyncio.get_running_loop().create_future()
    running = await started(in_page(record, work))
    work.set_result(1)
    assert await running == 1
    assert not record.interrupted_by_dialogs


async def test_a_dialog_stops_work_that_is_under_way() -> None:
    record, work = PageRecord(), asyncio.get_running_loop().create_future()
    running = await started(in_page(record, work))
    record.hear(DIALOG, 0.0)
    error = await error_of(DialogOpen, running)
    assert error.page_said == "Hi"
    assert "Hi" not in f"{error.message} {error.hint} {error.details}"
    assert work.cancelled()
    assert not record.interrupted_by_dialogs


async def test_no_work_begins_while_a_dialog_is_open() -> None:
    record, work = PageRecord(), asyncio.get_running_loop().create_future()
    record.hear(DIALOG, 0.0)
    await error_of(DialogOpen, in_page(record, work))


async def test_a_dialog_that_is_answered_at_once_still_stopped_the_work() -> None:
    record, work = PageRecord(), asyncio.get_running_loop().create_future()
    running = await started(in_page(record, work))
    record.hear(DIALOG, 0.0)
    record.hear(DialogClosed(PAGE), 0.0)
    await error_of(DialogOpen, running)


async def test_a_cancelled_call_is_cancelled_dialog_or_not() -> None:
    for has_dialog in (False, True):
        record, work = PageRecord(), asyncio.get_running_loop().create_future()
        running = await started(in_page(record, work))
        running.cancel()
        if has_dialog:
            record.hear(DIALOG, 0.0)
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_a_deadline_around_the_work_still_holds() -> None:
    record = PageRecord()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await in_page(record, asyncio.get_running_loop().create_future())
