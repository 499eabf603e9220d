"""What a Firefox's keeper remembers for the next broker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost.link import bidi_memory as memories
from roost.link.bidi_memory import BidiMemory
from roost.vocabulary import LINK_FRAME_BYTES
from roost.wire.framing import encode

SOME_TAB, OTHER_TAB, SOME_FRAME = "tab-1", "tab-2", "frame-1"


def event(method: str, **params: Any) -> bytes:
    """Return an event as Firefox writes it."""
    message = {"type": "event", "method": method, "params": params}
    return json.dumps(message, separators=(",", ":")).encode()


def created(context: str, parent: str | None = None) -> bytes:
    return event("browsingContext.contextCreated", context=context, parent=parent)


def moved(kind: str, context: str, navigation: str, url: str) -> bytes:
    return event(f"browsingContext.{kind}", context=context, navigation=navigation, url=url)


def test_the_next_broker_begins_with_the_first_command_id_never_used() -> None:
    memory = BidiMemory(next_id=3)
    memory.from_broker(b'{"id":7,"method":"script.evaluate","params":{}}')
    memory.from_broker(b'{"id":5,"method":"script.evaluate","params":{}}')
    assert memory.handover()["nextId"] == 8


def test_tabs_that_a_broker_knew_are_distinguished_from_others() -> None:
    memory = BidiMemory()
    for context in (SOME_TAB, OTHER_TAB):
        memory.from_browser(created(context))
    memory.from_browser(created(SOME_FRAME, parent=SOME_TAB))
    memory.noted("told", SOME_TAB)
    told = {tab["context"]: tab["told"] for tab in memory.handover()["tabs"]}
    assert told == {SOME_TAB: True, OTHER_TAB: False}
    memory.from_browser(event("browsingContext.contextDestroyed", context=SOME_TAB))
    assert [tab["context"] for tab in memory.handover()["tabs"]] == [OTHER_TAB]


def test_tabs_that_a_broker_opened_are_distinguished_from_popups() -> None:
    memory = BidiMemory()
    for call in (3, 4, 5):
        memory.from_broker(b'{"id":%d,"method":"browsingContext.create","params":{}}' % call)
    for context in (SOME_TAB, OTHER_TAB):
        memory.from_browser(created(context))
    memory.from_browser(b'{"type":"success","id":3,"result":{"context":"%s"}}' % SOME_TAB.encode())
    memory.from_browser(b'{"type":"error","id":4,"error":"no such frame","message":""}')
    handover = memory.handover()
    asked = {tab["context"]: tab.get("created", False) for tab in handover["tabs"]}
    assert asked == {SOME_TAB: True, OTHER_TAB: False}
    assert handover["creating"] == [5], "the next broker waits for this answer"


def test_the_navigation_events_of_a_tab_are_kept_in_order() -> None:
    memory = BidiMemory()
    memory.from_browser(created(SOME_TAB))
    memory.from_browser(moved("navigationStarted", SOME_TAB, "n1", "http://a/"))
    memory.from_browser(moved("navigationCommitted", SOME_TAB, "n1", "http://a/"))
    memory.from_browser(moved("navigationCommitted", SOME_TAB, "n1", "about:blank"))  # a crash
    memory.from_browser(moved("navigationStarted", SOME_TAB, "n2", "http://b/"))
    (tab,) = memory.handover()["tabs"]
    assert tab["before"]["url"] == "http://a/"
    assert (tab["committed"]["url"], tab["begun"]) == ("about:blank", None)
    assert tab["started"]["navigation"] == "n2"


def test_a_prompt_stands_until_it_is_closed_or_its_page_is_left() -> None:
    memory = BidiMemory()
    for context in (SOME_TAB, OTHER_TAB, SOME_FRAME):
        memory.from_browser(
            event("browsingContext.userPromptOpened", context=context, type="alert", message="!")
        )
    memory.from_browser(event("browsingContext.userPromptClosed", context=SOME_FRAME))
    memory.from_browser(moved("navigationCommitted", OTHER_TAB, "n1", "http://a/"))
    assert [prompt["context"] for prompt in memory.handover()["prompts"]] == [SOME_TAB]


def test_a_field_that_asks_for_files_waits_until_it_gets_them_or_its_page_is_left() -> None:
    memory = BidiMemory()
    for context in (SOME_TAB, OTHER_TAB, SOME_FRAME):
        memory.from_browser(
            event("input.fileDialogOpened", context=context, multiple=False, element={})
        )
    memory.from_broker(
        b'{"id":9,"method":"input.setFiles","params":{"context":"frame-1","files":[]}}'
    )
    memory.from_browser(moved("navigationCommitted", OTHER_TAB, "n1", "http://a/"))
    assert [chooser["context"] for chooser in memory.handover()["choosers"]] == [SOME_TAB]


def test_a_request_that_waits_is_kept_until_it_is_answered() -> None:
    memory = BidiMemory()
    for request in ("r1", "r2"):
        memory.from_browser(
            event("network.authRequired", context=SOME_TAB, request={"request": request})
        )
    memory.from_broker(
        b'{"id":9,"method":"network.continueWithAuth","params":{"request":"r1","action":"cancel"}}'
    )
    waiting = [request["request"]["request"] for request in memory.handover()["requests"]]
    assert waiting == ["r2"]


def test_notes_of_a_broker_are_handed_to_the_next() -> None:
    memory = BidiMemory()
    memory.noted("note", {"isSetUp": True, "firstTab": SOME_TAB})
    memory.noted("note", {"firstTab": OTHER_TAB})
    assert memory.handover()["notes"] == {"isSetUp": True, "firstTab": OTHER_TAB}


def test_replies_and_other_events_are_not_even_parsed() -> None:
    memory = BidiMemory()
    for frame in (b'{"type":"success","id":1,"result":nonsense', event("log.entryAdded")[:-9]):
        memory.from_browser(frame)
    assert memory.handover()["tabs"] == []


@pytest.mark.parametrize(
    "end",
    [
        b'{"id":9,"method":"network.continueWithAuth","params":{"request":"r1"}}',
        b'{"id":9,"method":"network.failRequest","params":{"request":"r1"}}',
        event("network.fetchError", request={"request": "r1"}),
        event("network.responseCompleted", request={"request": "r1"}),
        event("browsingContext.contextDestroyed", context=SOME_TAB),
    ],
)
def test_a_request_that_waits_is_forgotten_however_it_ends(end: bytes) -> None:
    memory = BidiMemory()
    memory.from_browser(
        event("network.authRequired", context=SOME_TAB, request={"request": "r1", "headers": []})
    )
    (waiting,) = memory.handover()["requests"]
    assert waiting["request"] == {"request": "r1"}, "the id is all that an answer needs"
    memory.from_broker(end)
    memory.from_browser(end)

    assert memory.handover()["requests"] == []


def test_a_note_about_a_closed_tab_is_ignored() -> None:
    memory = BidiMemory()
    memory.from_browser(created(SOME_TAB))
    memory.from_browser(event("browsingContext.contextDestroyed", context=SOME_TAB))
    memory.noted("told", SOME_TAB)
    memory.noted("told", OTHER_TAB)  # it was there before anybody listened

    assert [tab["context"] for tab in memory.handover()["tabs"]] == [OTHER_TAB]


def test_with_every_table_full_the_handover_still_fits_into_a_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shrunk = 100
    for name in ("DIALOGS", "CHOOSERS", "NAVIGATIONS", "REQUESTS"):
        monkeypatch.setattr(memories, name, getattr(memories, name) // shrunk)
    memory, long = BidiMemory(), "\ud800" * 100_000
    tabs = [f"{number:036}" for number in range(2 * memories.NAVIGATIONS)]
    for tab in tabs:
        memory.from_browser(created(tab))
        memory.noted("told", tab)
        for kind in ("Started", "Committed", "Started", "Committed", "Started"):
            memory.from_browser(moved(f"navigation{kind}", tab, tab, "data:," + "x" * 100_000))
        memory.from_browser(
            event(
                "browsingContext.userPromptOpened",
                context=tab,
                type="prompt",
                message=long,
                defaultValue=long,
            )
        )
        memory.from_browser(
            event("input.fileDialogOpened", context=tab, multiple=True, element={"sharedId": tab})
        )
        for number in range(20):
            request = {"request": f"{tab}{number}", "headers": [long]}
            memory.from_browser(
                event("network.authRequired", context=tab, navigation=tab, request=request)
            )

    handover = memory.handover()
    assert len(encode(handover)) * shrunk < LINK_FRAME_BYTES
    assert [tab["told"] for tab in handover["tabs"]] == [True] * len(tabs), "no tab is dropped"
    assert "committed" not in handover["tabs"][0], "of tabs that moved long ago, navigations are"
    assert "committed" in handover["tabs"][-1]
