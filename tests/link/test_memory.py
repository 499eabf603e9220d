"""What a keeper remembers: exactly what the next broker cannot ask the browser again."""

from __future__ import annotations

import json
from typing import Any

from roost.link.memory import CdpMemory


def said(method: str, params: dict[str, Any], session: str | None = None) -> bytes:
    """An event as Chromium writes it."""
    event: dict[str, Any] = {"method": method, "params": params}
    if session is not None:
        event["sessionId"] = session
    return json.dumps(event, separators=(",", ":")).encode()


def asked(number: int, method: str, session: str | None = None, **params: Any) -> bytes:
    """A command as our driver writes it."""
    command: dict[str, Any] = {"id": number, "method": method}
    if session is not None:
        command["sessionId"] = session
    if params:
        command["params"] = params
    return json.dumps(command, separators=(",", ":")).encode()


def attached(session: str, target: str, *, below: str | None = None, waiting: bool = True) -> bytes:
    params = {
        "sessionId": session,
        "targetInfo": {"targetId": target, "type": "page"},
        "waitingForDebugger": waiting,
    }
    return said("Target.attachedToTarget", params, below)


def sessions(memory: CdpMemory) -> list[str]:
    return [session["sessionId"] for session in memory.handover()["sessions"]]


def test_the_next_broker_begins_with_the_first_command_id_never_used() -> None:
    memory = CdpMemory(next_id=2)
    memory.from_broker(asked(7, "Page.enable", "S1"))
    memory.from_broker(asked(5, "Page.enable", "S1"))

    assert memory.handover()["nextId"] == 8


def test_attached_sessions_are_handed_over_with_their_targets_and_parents() -> None:
    memory = CdpMemory()
    memory.from_browser(attached("S1", "T1"))
    memory.from_browser(attached("S2", "T2", below="S1"))

    first, second = memory.handover()["sessions"]
    assert (first["sessionId"], first["parent"], first["waiting"]) == ("S1", "", True)
    assert (second["targetInfo"]["targetId"], second["parent"]) == ("T2", "S1")


def test_a_target_waits_until_a_broker_lets_it_run() -> None:
    memory = CdpMemory()
    memory.from_browser(attached("S1", "T1"))
    memory.from_broker(asked(3, "Runtime.runIfWaitingForDebugger", "S1"))

    assert [session["waiting"] for session in memory.handover()["sessions"]] == [False]


def test_a_detached_session_is_forgotten_with_all_below_it() -> None:
    memory = CdpMemory()
    memory.from_browser(attached("S1", "T1"))
    memory.from_browser(attached("S2", "T2", below="S1"))
    memory.from_browser(attached("S3", "T3"))
    memory.from_browser(said("Page.javascriptDialogOpening", {"message": "?"}, "S2"))
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R1"}, "S2"))
    memory.from_browser(said("Inspector.targetCrashed", {}, "S2"))
    memory.from_browser(said("Target.detachedFromTarget", {"sessionId": "S1"}))

    handover = memory.handover()
    assert sessions(memory) == ["S3"]
    assert handover["dialogs"] == handover["requests"] == handover["crashed"] == []


def test_a_dialog_stands_until_it_is_closed() -> None:
    memory = CdpMemory()
    memory.from_browser(said("Page.javascriptDialogOpening", {"message": "Really?"}, "S1"))
    assert memory.handover()["dialogs"] == [{"sessionId": "S1", "params": {"message": "Really?"}}]

    memory.from_browser(said("Page.javascriptDialogClosed", {"result": True}, "S1"))
    assert memory.handover()["dialogs"] == []


def test_a_paused_request_is_kept_until_it_is_answered() -> None:
    memory = CdpMemory()
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R1"}, "S1"))
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R2"}, "S1"))
    memory.from_broker(asked(4, "Fetch.continueRequest", "S1", requestId="R1"))

    (left,) = memory.handover()["requests"]
    assert left["params"]["requestId"] == "R2"


def test_a_crashed_page_is_one_until_it_runs_again() -> None:
    memory = CdpMemory()
    memory.from_browser(said("Inspector.targetCrashed", {}, "S1"))
    assert memory.handover()["crashed"] == ["S1"]

    memory.from_browser(said("Inspector.targetReloadedAfterCrash", {}, "S1"))
    assert memory.handover()["crashed"] == []


def test_replies_and_other_events_are_not_even_parsed() -> None:
    memory = CdpMemory()
    memory.from_browser(b'{"id":1,"result":{not json')
    memory.from_browser(b'{"method":"Network.dataReceived","params":{not json')
    memory.from_broker(b"not a command")

    assert memory.handover()["nextId"] == 1


def test_a_field_that_asks_for_files_is_remembered_until_it_has_them_or_is_gone() -> None:
    asks = said("Page.fileChooserOpened", {"frameId": "F", "backendNodeId": 7}, "S1")
    for end in (
        asked(1, "DOM.setFileInputFiles", "S1", files=[]),
        said("Page.frameNavigated", {"frame": {"id": "M"}}, "S1"),
        said("Page.frameNavigated", {"frame": {"id": "F", "parentId": "M"}}, "S1"),
        said("Target.detachedFromTarget", {"sessionId": "S1"}),
    ):
        memory = CdpMemory()
        memory.from_browser(asks)
        memory.from_browser(said("Page.frameNavigated", {"frame": {"id": "M"}}, "S2"))
        other = {"frame": {"id": "G", "parentId": "M"}}
        memory.from_browser(said("Page.frameNavigated", other, "S1"))
        (waiting,) = memory.handover()["choosers"]
        assert (waiting["sessionId"], waiting["params"]["backendNodeId"]) == ("S1", 7)
        memory.from_broker(end)
        memory.from_browser(end)
        assert memory.handover()["choosers"] == []


def test_an_answer_to_a_request_may_name_none_or_nonsense() -> None:
    """A protocol client's own commands pass through here, and it holds everybody's browser."""
    memory = CdpMemory()
    memory.from_browser(attached("S1", "T1"))
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R1"}, "S1"))
    nonsense: list[dict[str, Any]] = [{}, {"requestId": None}, {"requestId": {}}, {"x": []}]
    for number, wrong in enumerate(nonsense, 1):
        memory.from_broker(asked(number, "Fetch.continueRequest", "S1", **wrong))

    handover = memory.handover()
    assert handover["nextId"] == 5
    assert [one["params"]["requestId"] for one in handover["requests"]] == ["R1"]
