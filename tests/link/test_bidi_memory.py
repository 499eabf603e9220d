"""What a Firefox's keeper remembers for the next broker."""

from __future__ import annotations

import json
from typing import Any

from roost.link.memory import BidiMemory

SOME_TAB, OTHER_TAB, SOME_FRAME = "tab-1", "tab-2", "frame-1"


def event(method: str, **params: Any) -> bytes:
    """As Firefox writes one."""
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


def test_tabs_are_told_apart_by_whether_a_broker_took_note_of_them() -> None:
    memory = BidiMemory()
    for context in (SOME_TAB, OTHER_TAB):
        memory.from_browser(created(context))
    memory.from_browser(created(SOME_FRAME, parent=SOME_TAB))
    memory.noted("told", SOME_TAB)
    told = {tab["context"]: tab["told"] for tab in memory.handover()["tabs"]}
    assert told == {SOME_TAB: True, OTHER_TAB: False}
    memory.from_browser(event("browsingContext.contextDestroyed", context=SOME_TAB))
    assert [tab["context"] for tab in memory.handover()["tabs"]] == [OTHER_TAB]


def test_how_a_tab_came_by_its_document_is_kept_in_order() -> None:
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
