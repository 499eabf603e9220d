from __future__ import annotations

import asyncio

import pytest

from roost.api.broker import NOTICES_KEPT, Notice
from roost.broker.watchers import Watchers
from roost.testing.waits import started
from roost.vault.redaction import Redactor
from roost.vocabulary import AgentId, SessionId

SOME, OTHER = SessionId("s1"), SessionId("s2")


def notice(number: int, session: SessionId = SOME) -> Notice:
    return Notice(session, "happened", {"number": number})


async def test_only_what_a_listener_may_see_is_delivered() -> None:
    watchers = Watchers(Redactor())
    with (
        watchers.listen(lambda notice, _: notice.session == SOME) as some,
        watchers.listen(lambda notice, _: notice.session == OTHER) as other,
    ):
        watchers.tell(notice(1, SOME))
        watchers.tell(notice(2, OTHER))
        assert (await anext(some)).data["number"] == 1
        assert (await anext(other)).data["number"] == 2


async def test_permission_is_asked_at_delivery() -> None:
    watchers = Watchers(Redactor())
    members = {SOME}
    with watchers.listen(lambda notice, _: notice.session in members) as notices:
        watchers.tell(notice(1))
        members.clear()
        watchers.tell(notice(2))
        members.add(SOME)
        watchers.tell(notice(3))
        assert [(await anext(notices)).data["number"] for _ in range(2)] == [1, 3]


async def test_agents_that_were_members_until_just_now_get_the_notice() -> None:
    watchers = Watchers(Redactor())
    former = AgentId("agent_1")
    with watchers.listen(lambda notice, to: former in to) as notices:
        watchers.tell(notice(1))
        watchers.tell(notice(2), {former})
        assert (await anext(notices)).data["number"] == 2


async def test_a_slow_reader_loses_its_own_oldest_notices_only() -> None:
    watchers = Watchers(Redactor())
    with watchers.listen(lambda *_: True) as lazy, watchers.listen(lambda *_: True) as eager:
        for number in range(NOTICES_KEPT + 5):
            watchers.tell(notice(number))
            assert (await anext(eager)).data["number"] == number
        assert (await anext(lazy)).data["number"] == 5


async def test_a_closed_listener_hears_nothing_more_and_its_reader_ends() -> None:
    watchers = Watchers(Redactor())
    notices = watchers.listen(lambda *_: True)
    reader = await started(anext(notices, None))
    notices.close()
    watchers.tell(notice(1))
    async with asyncio.timeout(5):
        assert await reader is None
    with pytest.raises(StopAsyncIteration):
        await anext(notices)
    notices.close()  # twice is no error


async def test_what_came_before_the_close_can_still_be_read() -> None:
    watchers = Watchers(Redactor())
    notices = watchers.listen(lambda *_: True)
    for number in range(NOTICES_KEPT + 1):
        watchers.tell(notice(number))
    notices.close()
    assert [n.data["number"] async for n in notices] == list(range(1, NOTICES_KEPT + 1))


async def test_a_line_for_the_next_reply_is_kept_once_and_taken_once() -> None:
    watchers = Watchers(Redactor())
    watchers.note(SOME, "read this")
    watchers.note(SOME, "read this")
    watchers.note(SOME, "and this")
    assert watchers.take_notes(OTHER) == []
    assert watchers.take_notes(SOME) == ["read this", "and this"]
    assert watchers.take_notes(SOME) == []
    watchers.note(SOME, "too late")
    watchers.forget(SOME)
    assert watchers.take_notes(SOME) == []
