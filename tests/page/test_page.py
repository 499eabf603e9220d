"""``Page`` over a scripted driver: numbering, frames, errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from roost.drivers.base import FrameInfo, Input, PageDriver
from roost.errors import BadRequest, Internal, NotActionable, NotFound, StaleRef
from roost.page.page import Page, PageMemory
from roost.testing.waits import error_of
from roost.vocabulary import TabHandle

TAB = TabHandle("page")
WHERE = {"url": "http://x/", "title": "T"}


class Script:
    """Answers calls from a table by frame and function, and records them."""

    def __init__(self, *frames: str) -> None:
        self.answers: dict[tuple[str | None, str], Any] = {}
        self.asked: list[tuple[str | None, str, dict[str, Any]]] = []
        self.tree = [FrameInfo("main", None, ""), *(FrameInfo(f, "main", "") for f in frames)]
        self.asked_once: set[str] = set()
        self.settled: dict[str, Any] | None = {}

    async def all_frames(self) -> list[FrameInfo]:
        return self.tree

    async def call_page(
        self,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        if once:
            self.asked_once.add(function)
        self.asked.append((frame, function, argument))
        answer = self.answers.get((frame, function), {})
        if isinstance(answer, Exception):
            raise answer
        return answer if not isinstance(answer, dict) else dict(answer)

    async def act(
        self,
        inputs: Sequence[Input],
        frame: str | None,
        argument: dict[str, Any],
    ) -> dict[str, Any] | None:
        self.asked.append((frame, "act", argument))
        return self.settled


def page_over(script: Script, memory: PageMemory | None = None) -> Page:
    return Page(cast(PageDriver, script), memory or PageMemory())


def error(code: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "m", "hint": "h"}, "nextRef": 1}


async def test_every_call_says_where_numbers_begin_and_learns_where_they_end() -> None:
    script = Script()
    script.answers[None, "snapshot"] = {"text": "x", "nextRef": 12, "page": WHERE}
    page = page_over(script)
    assert await page.call(None, "snapshot", mode=None) == {"text": "x"}
    assert script.asked == [(None, "snapshot", {"firstRef": 1, "prefix": ""})]
    assert page.memory.next_ref == 12
    assert page.seen == ("http://x/", "T")
    script.answers[None, "snapshot"] = {"nextRef": 5}
    await page.call(None, "snapshot")
    assert page.memory.next_ref == 12, "never back"


async def test_frames_get_numbers_of_their_own_that_are_not_given_again() -> None:
    script = Script("A", "B")
    page = page_over(script)
    script.answers["A", "find"] = {"page": {"url": "http://frame/", "title": "F"}}
    await page.call("A", "find")
    await page.call("B", "find")
    assert [asked[2]["prefix"] for asked in script.asked] == ["f1", "f2"]
    assert page.seen is None, "a frame's address is not the tab's"
    script.tree = script.tree[:1] + [FrameInfo("C", "main", "")]
    await page.child_frames()
    await page.call("C", "find")
    assert page.memory.prefixes == {"C": "f3"}


async def test_refs_say_which_frame_they_are_in() -> None:
    script = Script("A")
    page = page_over(script, PageMemory(10, 2, {"A": "f1"}))
    for target, frame in (("e3", None), ("@e3", None), ("ref=e3", None), ("f1e3", "A")):
        found, _ = await page.call_where(target, "prepare")
        assert found == frame
    await error_of(StaleRef, page.call_where("f9e3", "prepare"))
    script.answers["A", "prepare"] = NotFound("That frame is gone.")
    await error_of(StaleRef, page.call_where("f1e3", "prepare"))


async def test_a_selector_is_looked_for_in_the_page_then_in_its_frames() -> None:
    script = Script("A", "B")
    script.answers[None, "prepare"] = error("NOT_FOUND")
    script.answers["A", "resolve"] = error("NOT_FOUND")
    script.answers["B", "prepare"] = {"ref": "f2e1"}
    found, answer = await page_over(script).call_where("#x", "prepare", timeoutMs=500)
    assert (found, answer["ref"]) == ("B", "f2e1")


async def test_an_element_that_is_not_ready_is_awaited_in_its_own_frame() -> None:
    script = Script("A")
    script.answers[None, "prepare"] = error("NOT_ACTIONABLE")
    await error_of(NotActionable, page_over(script).call_where("#x", "prepare", timeoutMs=500))
    assert [asked[2].get("timeoutMs") for asked in script.asked] == [0, 500]


async def test_errors_of_the_bundle_are_raised_as_what_they_are() -> None:
    script = Script()
    script.answers[None, "find"] = {**error("BAD_REQUEST"), "nextRef": 7}
    page = page_over(script)
    await error_of(BadRequest, page.call(None, "find"))
    assert page.memory.next_ref == 7, "also an error may have given out refs"
    script.answers[None, "find"] = "nonsense"
    await error_of(Internal, page.call(None, "find"))


async def test_only_functions_that_act_by_themselves_are_not_repeated() -> None:
    script = Script()
    for function in ("snapshot", "prepare", "focusForTyping", "setValue", "scroll", "waitFor"):
        await page_over(script).call(None, function)
    assert script.asked_once == {"setValue", "scroll"}


async def test_a_function_that_cannot_be_repeated_waits_by_a_separate_call() -> None:
    """If the page is left meanwhile, waiting continues in the next document and acting does not."""
    for target in ("e3", "#x"):
        script = Script()
        script.answers[None, "setValue"] = error("NOT_ACTIONABLE")
        call = page_over(script).call_where(target, "setValue", timeoutMs=500, value="v")
        await error_of(NotActionable, call)
        waits = [(name, given["timeoutMs"]) for _, name, given in script.asked]
        assert waits[-2:] == [("prepare", 500), ("setValue", 500)]
        assert {wait for name, wait in waits[:-1] if name == "setValue"} == {0}


async def test_an_action_takes_its_snapshot_along_if_its_document_stays() -> None:
    script = Script("A")
    page = page_over(script)
    page.look = {"mode": "diff"}
    script.settled = {"changed": True, "snapshot": {"mode": "diff"}, "nextRef": 3}
    await page.settle(None)
    assert page.looked == {"mode": "diff"}
    assert script.asked[-1][2]["snapshot"] == {"mode": "diff"}
    script.settled = None
    await page.settle(None)
    assert page.looked is None, "another document came"
    script.settled = error("NOT_FOUND")
    await page.settle(None)
    assert page.looked is None, "asked for again by whoever needs it"
    await page.settle("A")
    assert "snapshot" not in script.asked[-1][2], "a frame cannot show the page"
