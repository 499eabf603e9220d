"""DevTools clients on one connection (roost.drivers.chromium.taps): each gets its own frames
only."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import pytest

from roost.drivers.chromium.connection import CdpConnection
from tests.drivers.scripted_link import Heard, ScriptedLink


class Ear:
    def __init__(self) -> None:
        self.answers: list[tuple[Hashable, dict[str, Any]]] = []
        self.events: list[tuple[str, str]] = []
        self.is_over = False

    def answered(self, key: Hashable, frame: bytes) -> None:
        self.answers.append((key, json.loads(frame)))

    def heard(self, session: str, frame: bytes) -> None:
        self.events.append((session, json.loads(frame)["method"]))

    def ended(self) -> None:
        self.is_over = True


def connected() -> tuple[CdpConnection, ScriptedLink]:
    link, heard = ScriptedLink(), Heard()
    return CdpConnection(link, heard.word, heard.end), link


def attached(session: str) -> dict[str, Any]:
    return {"sessionId": session, "targetInfo": {}, "waitingForDebugger": False}


async def test_each_tap_gets_its_own_frames_and_the_driver_the_rest() -> None:
    cdp, link = connected()
    heard: list[str] = []
    cdp.on_event("", lambda method, _: heard.append(method))
    one, two = Ear(), Ear()
    tap = cdp.taps.open("ONE", one)
    cdp.taps.open("TWO", two)
    link.says(method="A.a", params={}, sessionId="ONE")
    link.says(method="A.b", params={}, sessionId="TWO")
    link.says(method="A.c", params={})
    link.says(method="A.d", params={"sessionId": "ONE"})
    assert (one.events, two.events) == ([("ONE", "A.a")], [("TWO", "A.b")])
    assert heard == ["A.c", "A.d"]

    tap.send("key", "B.b", {"x": 1})
    own = cdp.call("C.c")
    assert link.sent[0] == {"id": 1, "method": "B.b", "sessionId": "ONE", "params": {"x": 1}}
    link.says(id=2, result={"own": True})
    link.says(id=1, result={"tapped": True}, sessionId="ONE")
    assert await own == {"own": True}
    assert one.answers == [("key", {"id": 1, "result": {"tapped": True}, "sessionId": "ONE"})]


async def test_a_session_attached_through_a_tap_belongs_to_it_until_detached() -> None:
    cdp, link = connected()
    ear = Ear()
    tap = cdp.taps.open("ONE", ear)
    link.says(method="Target.attachedToTarget", params=attached("PAGE"), sessionId="ONE")
    link.says(method="Target.attachedToTarget", params=attached("WORKER"), sessionId="PAGE")
    link.says(method="A.a", params={}, sessionId="WORKER")
    assert ear.events[-1] == ("WORKER", "A.a")

    tap.send("never answered", "B.b", {}, "WORKER")
    link.says(method="Target.detachedFromTarget", params={"sessionId": "PAGE"}, sessionId="ONE")
    assert not tap.calls, "what was asked below it is not waited for"
    assert not cdp.taps.calls
    assert set(cdp.taps.sessions) == {"ONE"}
    link.says(method="A.b", params={}, sessionId="WORKER")
    assert ear.events[-1] == ("ONE", "Target.detachedFromTarget")


async def test_a_page_cannot_forge_the_session_of_a_frame() -> None:
    cdp, link = connected()
    ear = Ear()
    cdp.taps.open("ONE", ear)
    for text in ('"sessionId":"ONE"}', '\\"sessionId\\":\\"ONE\\"}', 'x","sessionId":"ONE"}'):
        link.says(method="A.a", params={"text": text}, sessionId="OTHER")
        link.says(method="A.a", params={"text": text})
        link.says(method="A.a", params={"sessionId": "ONE"}, sessionId="OTHER")
    assert ear.events == []


async def test_a_closed_tap_receives_nothing_more() -> None:
    cdp, link = connected()
    ear = Ear()
    tap = cdp.taps.open("ONE", ear)
    link.says(method="Target.attachedToTarget", params=attached("PAGE"), sessionId="ONE")
    tap.send("key", "B.b", {}, "PAGE")
    cdp.taps.close(tap)
    before = list(ear.events)
    link.says(id=1, result={}, sessionId="PAGE")
    link.says(method="A.a", params={}, sessionId="PAGE")
    assert (ear.answers, ear.events) == ([], before)


async def test_when_the_browser_ends_every_tap_is_told_once_and_sends_nothing() -> None:
    cdp, link = connected()
    ear = Ear()
    tap = cdp.taps.open("ONE", ear)
    link.ends()
    assert ear.is_over
    sent = len(link.sent)
    tap.send("key", "B.b", {})
    assert link.sent[sent:] == []


async def test_a_client_that_fails_at_a_frame_does_not_end_the_link() -> None:
    class Fails(Ear):
        def heard(self, session: str, frame: bytes) -> None:
            raise ValueError("a bug")

    cdp, link = connected()
    cdp.taps.open("ONE", Fails())
    link.says(method="A.a", params={}, sessionId="ONE")
    call = cdp.call("B.b")
    link.says(id=1, result={"ok": True})
    assert await call == {"ok": True}


async def test_unanswered_bytes_count_until_the_answer_or_the_end() -> None:
    cdp, link = connected()
    tap = cdp.taps.open("ONE", Ear())
    link.says(method="Target.attachedToTarget", params=attached("BELOW"), sessionId="ONE")
    tap.send("a", "A.a", {"text": "x" * 1000})
    one = tap.unanswered_bytes
    assert one > 1000
    tap.send("b", "B.b", {}, "BELOW")
    link.says(id=1, result={}, sessionId="ONE")
    assert 0 < tap.unanswered_bytes < one
    link.says(method="Target.detachedFromTarget", params={"sessionId": "BELOW"}, sessionId="ONE")
    assert tap.unanswered_bytes == 0
    tap.send("c", "C.c", {})
    cdp.taps.close(tap)
    assert tap.unanswered_bytes == 0


async def test_a_failing_client_does_not_end_the_link_and_the_log_has_no_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class FailingEar(Ear):
        def heard(self, session: str, frame: bytes) -> None:
            raise ValueError("a bug")

    cdp, link = connected()
    other = Ear()
    cdp.taps.open("ONE", FailingEar())
    cdp.taps.open("TWO", other)
    link.says(method="A.a", params={"cookie": "hunter2"}, sessionId="ONE")
    link.says(method="A.b", params={}, sessionId="TWO")

    assert other.events == [("TWO", "A.b")]
    assert "A.a" in caplog.text
    assert "hunter2" not in caplog.text
