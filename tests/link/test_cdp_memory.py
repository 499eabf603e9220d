"""A keeper remembers exactly what the next broker cannot ask the browser for.

The limits and the cutting of texts (``roost.link.memory``) are the same for every protocol.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost.link import cdp_memory as memories
from roost.link.cdp_memory import CdpMemory
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import encode


def said(method: str, params: dict[str, Any], session: str | None = None) -> bytes:
    """Return an event as Chromium writes it."""
    event: dict[str, Any] = {"method": method, "params": params}
    if session is not None:
        event["sessionId"] = session
    return json.dumps(event, separators=(",", ":")).encode()


def asked(number: int, method: str, session: str | None = None, **params: Any) -> bytes:
    """Return a command as our driver writes it."""
    command: dict[str, Any] = {"id": number, "method": method}
    if session is not None:
        command["sessionId"] = session
    if params:
        command["params"] = params
    return json.dumps(command, separators=(",", ":")).encode()


def attached(
    session: str,
    target: str = "T",
    kind: str = "page",
    *,
    below: str | None = None,
    waiting: bool = True,
) -> bytes:
    params = {
        "sessionId": session,
        "targetInfo": {"targetId": target, "type": kind, "url": "http://a.test/" + "u" * 5000},
        "waitingForDebugger": waiting,
    }
    return said("Target.attachedToTarget", params, below)


def memory_with_a_page() -> CdpMemory:
    memory = CdpMemory()
    memory.from_browser(attached("S1", "T1"))
    return memory


def paused(request: str, session: str = "S1") -> bytes:
    """Return a request that is paused at its response, with a large header."""
    params = {
        "requestId": request,
        "networkId": f"N-{request}",
        "request": {"url": "http://a.test/" + "u" * 2000, "headers": {"Cookie": "c" * 2000}},
        "responseHeaders": [{"name": "x", "value": "v" * 2000}],
    }
    return said("Fetch.requestPaused", params, session)


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


def test_a_page_that_a_broker_asked_for_is_told_apart_from_a_popup() -> None:
    memory = CdpMemory()
    for call in (3, 4, 5):
        memory.from_broker(asked(call, "Target.createTarget", url="about:blank"))
    memory.from_browser(attached("S1", "T1"))
    memory.from_browser(attached("S2", "T2"))
    memory.from_browser(b'{"id":3,"result":{"targetId":"T1"}}')
    memory.from_browser(b'{"id":4,"error":{"code":-32000,"message":"no"}}')

    handover = memory.handover()
    assert [session["created"] for session in handover["sessions"]] == [True, False]
    assert handover["creating"] == [5], "the next broker waits for this answer"


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


def test_a_dialog_is_handed_over_until_it_is_closed() -> None:
    memory = memory_with_a_page()
    memory.from_browser(said("Page.javascriptDialogOpening", {"message": "Really?"}, "S1"))
    assert memory.handover()["dialogs"] == [{"sessionId": "S1", "params": {"message": "Really?"}}]

    memory.from_browser(said("Page.javascriptDialogClosed", {"result": True}, "S1"))
    assert memory.handover()["dialogs"] == []


def test_a_paused_request_is_kept_until_it_is_answered() -> None:
    memory = memory_with_a_page()
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R1"}, "S1"))
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R2"}, "S1"))
    memory.from_broker(asked(4, "Fetch.continueRequest", "S1", requestId="R1"))

    (left,) = memory.handover()["requests"]
    assert left["params"]["requestId"] == "R2"


def test_a_page_counts_as_crashed_until_it_runs_again() -> None:
    memory = memory_with_a_page()
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
        memory = memory_with_a_page()
        memory.from_browser(asks)
        memory.from_browser(said("Page.frameNavigated", {"frame": {"id": "M"}}, "S2"))
        other = {"frame": {"id": "G", "parentId": "M"}}
        memory.from_browser(said("Page.frameNavigated", other, "S1"))
        (waiting,) = memory.handover()["choosers"]
        assert (waiting["sessionId"], waiting["params"]["backendNodeId"]) == ("S1", 7)
        memory.from_broker(end)
        memory.from_browser(end)
        assert memory.handover()["choosers"] == []


def test_a_malformed_answer_to_a_paused_request_is_ignored() -> None:
    """Commands of DevTools clients pass through the keeper, which holds the browser of all
    sessions."""
    memory = CdpMemory()
    memory.from_browser(attached("S1", "T1"))
    memory.from_browser(said("Fetch.requestPaused", {"requestId": "R1"}, "S1"))
    nonsense: list[dict[str, Any]] = [{}, {"requestId": None}, {"requestId": {}}, {"x": []}]
    for number, wrong in enumerate(nonsense, 1):
        memory.from_broker(asked(number, "Fetch.continueRequest", "S1", **wrong))

    handover = memory.handover()
    assert handover["nextId"] == 5
    assert [one["params"]["requestId"] for one in handover["requests"]] == ["R1"]


@pytest.mark.parametrize(
    "answer",
    [
        asked(4, "Fetch.continueRequest", "S1", requestId="R1"),
        asked(4, "Fetch.continueResponse", "S1", requestId="R1"),
        asked(4, "Fetch.continueWithAuth", "S1", requestId="R1"),
        asked(4, "Fetch.fulfillRequest", "S1", requestId="R1"),
        asked(4, "Fetch.failRequest", "S1", requestId="R1"),
        asked(4, "Fetch.takeResponseBodyAsStream", "S1", requestId="R1"),
        asked(4, "Fetch.disable", "S1"),
        said("Network.loadingFinished", {"requestId": "N-R1"}, "S1"),
        said("Network.loadingFailed", {"requestId": "N-R1"}, "S1"),
        said("Inspector.targetCrashed", {}, "S1"),
        said("Target.detachedFromTarget", {"sessionId": "S1"}),
    ],
    ids=lambda frame: str(json.loads(frame)["method"]),
)
def test_a_paused_request_is_forgotten_however_it_ends(answer: bytes) -> None:
    memory = memory_with_a_page()
    memory.from_browser(attached("S2", "T2"))
    for session in ("S1", "S2"):
        memory.from_browser(paused("R1", session))
    memory.from_broker(answer)
    memory.from_browser(answer)

    assert [left["sessionId"] for left in memory.handover()["requests"]] == ["S2"]


def test_only_what_a_rule_is_chosen_by_is_kept_of_a_paused_request() -> None:
    memory = memory_with_a_page()
    memory.from_browser(paused("R1"))

    (left,) = memory.handover()["requests"]
    assert left["params"]["requestId"] == "R1"
    assert left["params"]["request"]["headers"] == {}
    assert len(encode(left)) < 800


def test_nothing_that_a_devtools_client_attached_or_paused_is_kept() -> None:
    """Only its browser-level session is kept, because the next broker has to end it."""
    memory = memory_with_a_page()
    memory.from_browser(attached("TAP", "B", "browser"))
    memory.from_browser(attached("S2", "T1", below="TAP"))
    memory.from_browser(attached("S3", "F1", "iframe", below="S2"))
    for session in ("TAP", "S2", "S3"):
        memory.from_browser(paused("R1", session))
        memory.from_browser(said("Page.javascriptDialogOpening", {"message": "?"}, session))
        memory.from_browser(said("Inspector.targetCrashed", {}, session))

    handover = memory.handover()
    assert sessions(memory) == ["S1", "TAP"]
    assert handover["requests"] == handover["dialogs"] == handover["crashed"] == []


def test_with_every_table_full_the_handover_still_fits_into_a_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shrunk = 100
    for name in ("SESSIONS_BELOW", "REQUESTS", "REQUESTS_A_SESSION", "DIALOGS"):
        monkeypatch.setattr(memories, name, getattr(memories, name) // shrunk)
    count = 2 * memories.SESSIONS_BELOW
    memory = CdpMemory()
    long = "\ud800" * 10_000  # as JSON six bytes each
    for number in range(count):
        tab = f"{number:032}"
        memory.from_browser(attached(tab, f"{number:032}", waiting=False))
        memory.from_browser(attached(f"{number:032}/w", f"{number:032}", "worker", below=tab))
        texts = {"type": "prompt", "message": long, "defaultPrompt": long, "url": long}
        memory.from_browser(said("Page.javascriptDialogOpening", texts, tab))
        for request in range(3):
            memory.from_browser(paused(f"{number:032}{request}", tab))
    for request in range(100):
        memory.from_browser(paused(f"{request}", f"{0:032}"))

    handover = memory.handover()
    assert len(encode({**handover, "sessions": []})) * shrunk < LINK_FRAME_BYTES / 2
    below = [one for one in handover["sessions"] if one["parent"]]
    assert len(encode(below)) * shrunk < LINK_FRAME_BYTES / 4
    tabs = [one for one in handover["sessions"] if not one["parent"]]
    assert len(tabs) == count, "no tab is ever dropped"
    assert len(encode(tabs[0])) < 3000


def test_running_workers_are_forgotten_first_when_there_are_too_many_sessions_below_tabs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memories, "SESSIONS_BELOW", 3)
    memory = memory_with_a_page()
    memory.from_browser(attached("waits", "W", "worker", below="S1"))
    memory.from_browser(attached("frame", "F", "iframe", below="S1", waiting=False))
    memory.from_browser(attached("runs", "V", "worker", below="S1", waiting=False))
    memory.from_browser(attached("next", "X", "worker", below="S1"))
    assert sessions(memory) == ["S1", "waits", "frame", "next"]

    memory.from_browser(attached("last", "Y", "worker", below="S1"))
    assert sessions(memory) == ["S1", "waits", "next", "last"]


def test_ten_thousand_workers_are_forgotten_with_their_page() -> None:
    memory = memory_with_a_page()
    for number in range(memories.SESSIONS_BELOW):
        memory.from_browser(attached(f"W{number}", "W", "worker", below="S1"))
    memory.from_browser(said("Target.detachedFromTarget", {"sessionId": "S1"}))

    assert sessions(memory) == []
    assert memory._count_below == 0
    assert memory._below == {}


def test_the_next_broker_hears_whether_one_before_it_watches_for_pages() -> None:
    memory = memory_with_a_page()
    memory.from_broker(asked(2, "Target.setAutoAttach", "S1", autoAttach=True))
    assert memory.handover()["watches"] is False

    memory.from_broker(asked(3, "Target.setAutoAttach", autoAttach=True))
    assert memory.handover()["watches"] is True
