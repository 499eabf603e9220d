from __future__ import annotations

import asyncio

from roost.api.broker import Notice, Notices
from roost.testing.waits import started


def test_a_notice_survives_the_wire() -> None:
    notice = Notice("s1", "tab_opened", {"tab": "t1"})
    assert Notice.from_wire(notice.to_wire()) == notice


async def test_closing_ends_every_reader_and_calls_its_callback_once() -> None:
    closed: list[Notices] = []
    notices = Notices(on_close=closed.append)

    async def read() -> list[Notice]:
        return [notice async for notice in notices]

    readers = [await started(read()) for _ in range(3)]
    with notices:
        notices.put(Notice("s1", "happened", {}))
    notices.put(Notice("s1", "too late", {}))
    async with asyncio.timeout(5):
        read_by = await asyncio.gather(*readers)
    assert sum(len(read) for read in read_by) == 1
    notices.close()
    assert closed == [notices]
