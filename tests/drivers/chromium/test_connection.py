"""Commands and replies over a link (roost.drivers.connection): every pending call is answered."""

from __future__ import annotations

from typing import Any

import pytest

from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.errors import BrowserLost, TabCrashed, TabGone
from tests.drivers.scripted_link import Heard, ScriptedLink


def connected() -> tuple[CdpConnection, ScriptedLink, Heard]:
    link, heard = ScriptedLink(), Heard()
    return CdpConnection(link, heard.word, heard.end), link, heard


async def test_answers_find_their_commands_in_any_order() -> None:
    cdp, link, _ = connected()
    first, second = cdp.call("A.a", {"x": 1}, "S1"), cdp.call("B.b")
    assert link.sent == [
        {"id": 1, "method": "A.a", "sessionId": "S1", "params": {"x": 1}},
        {"id": 2, "method": "B.b"},
    ]
    link.says(id=2, result={"two": 2})
    link.says(id=1, result={"one": 1}, sessionId="S1")

    assert (await first, await second) == ({"one": 1}, {"two": 2})


async def test_a_failed_command_raises_chromiums_own_error_code() -> None:
    cdp, link, _ = connected()
    call = cdp.call("A.a")
    link.says(id=1, error={"code": -32601, "message": "'A.a' wasn't found"})

    with pytest.raises(CdpError) as refused:
        await call
    assert refused.value.code == -32601


async def test_only_the_commands_of_an_ended_session_fail() -> None:
    cdp, link, _ = connected()
    dies, lives = cdp.call("A.a", None, "S1"), cdp.call("A.a", None, "S2")
    cdp.end_session("S1")
    link.says(id=1, result={}, sessionId="S1")  # too late: dropped
    link.says(id=2, result={"ok": True}, sessionId="S2")

    with pytest.raises(TabGone):
        await dies
    assert await lives == {"ok": True}


async def test_a_crash_fails_pending_calls_and_keeps_the_session() -> None:
    cdp, link, _ = connected()
    waits = cdp.call("A.a", None, "S1")
    cdp.fail("S1", TabCrashed("crashed"))
    after = cdp.call("A.b", None, "S1")
    link.says(id=2, result={}, sessionId="S1")

    with pytest.raises(TabCrashed):
        await waits
    assert await after == {}


async def test_the_end_of_the_link_fails_pending_and_later_calls() -> None:
    cdp, link, heard = connected()
    waits = cdp.call("A.a")
    link.ends()

    with pytest.raises(BrowserLost):
        await waits
    with pytest.raises(BrowserLost):
        await cdp.call("A.b")
    assert heard.is_over


async def test_events_go_to_their_session_and_keeper_messages_to_the_driver() -> None:
    cdp, link, heard = connected()
    events: list[tuple[str, Any]] = []
    cdp.on_event("S1", lambda method, params: events.append((method, params)))
    link.says(method="Page.x", params={"a": 1}, sessionId="S1")
    link.says(method="Page.y", params={}, sessionId="S2")
    link.keeper_says("handover", {"nextId": 9})

    assert events == [("Page.x", {"a": 1})]
    assert heard.words == [("handover", {"nextId": 9})]


async def test_ids_continue_where_the_last_broker_stopped() -> None:
    cdp, link, _ = connected()
    cdp.resume_ids(40)
    cdp.tell("A.a")
    link.says(id=40, error={"code": 1, "message": "nobody waits for this"})

    assert link.sent == [{"id": 40, "method": "A.a"}]
