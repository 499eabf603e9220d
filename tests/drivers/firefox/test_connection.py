"""BiDi over a link (roost.drivers.firefox.connection)."""

from __future__ import annotations

import pytest

from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from tests.drivers.scripted_link import Heard, ScriptedLink

CREATED, DESTROYED = "browsingContext.contextCreated", "browsingContext.contextDestroyed"


def connected() -> tuple[BidiConnection, ScriptedLink, list[tuple[str, Json]]]:
    link, heard, events = ScriptedLink(), Heard(), list[tuple[str, Json]]()

    def hear(method: str, params: Json) -> None:
        events.append((method, params))
        assert params["context"] != "misunderstood"

    bidi = BidiConnection(link, heard.word, heard.end, hear)
    bidi.begin()
    return bidi, link, events


def event(link: ScriptedLink, method: str, context: str) -> None:
    link.says(type="event", method=method, params={"context": context})


async def test_events_are_held_back_until_all_tabs_are_known() -> None:
    bidi, link, events = connected()
    event(link, CREATED, "a")
    event(link, DESTROYED, "a")
    assert events == []
    assert bidi.held(DESTROYED) == [{"context": "a"}]
    bidi.release()
    event(link, CREATED, "b")
    assert [(method, said["context"]) for method, said in events] == [
        (CREATED, "a"), (DESTROYED, "a"), (CREATED, "b"),
    ]  # fmt: skip
    assert bidi.held(DESTROYED) == []


async def test_a_malformed_event_does_not_stop_later_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bidi, link, events = connected()
    event(link, CREATED, "misunderstood")
    event(link, CREATED, "a")
    bidi.release()
    event(link, CREATED, "misunderstood")
    event(link, CREATED, "b")
    assert [said["context"] for _, said in events if said["context"] != "misunderstood"] == [
        "a", "b",
    ]  # fmt: skip
    logged = {record.getMessage() for record in caplog.records}
    assert logged == {f"an event was not understood: {CREATED}"}, "and nothing that pages say"


async def test_answers_do_not_wait_for_events_and_refusals_say_why() -> None:
    bidi, link, _ = connected()
    answered, refused = bidi.call("a.b", {"x": 1}), bidi.call("c.d")
    assert link.sent[0] == {"id": 1, "method": "a.b", "params": {"x": 1}}
    link.says(type="error", id=2, error="no such frame", message="Error: it went")
    link.says(type="success", id=1, result={"ok": True})
    assert await answered == {"ok": True}
    with pytest.raises(BidiError, match="^it went$") as caught:
        await refused
    assert caught.value.is_document_gone
