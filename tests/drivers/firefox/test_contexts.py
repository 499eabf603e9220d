"""Which contexts there are, and the blank tab that is nobody's (roost.drivers.firefox.contexts)."""

from __future__ import annotations

import asyncio
from typing import Any

from scripted_link import Heard, ScriptedLink

from roost.drivers.base import DriverEvent, TabAppeared
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.contexts import Contexts
from roost.testing.waiting import answer_of, started, turn

SOME_JAR = "jar-1"


def made() -> tuple[Contexts, ScriptedLink, list[DriverEvent]]:
    link, heard, reports = ScriptedLink(), Heard(), list[DriverEvent]()
    bidi = BidiConnection(link, heard.word, heard.end, lambda method, params: None)
    bidi.begin()
    bidi.release()
    return Contexts(bidi, "", reports.append), link, reports


def context(name: str, opener: str | None = None) -> dict[str, Any]:
    return {
        "context": name, "parent": None, "children": [], "url": "about:blank",
        "userContext": SOME_JAR, "originalOpener": opener,
    }  # fmt: skip


def commands(link: ScriptedLink) -> list[dict[str, Any]]:
    """What was asked of the browser, without words to the keeper."""
    return [said for said in link.sent if isinstance(said, dict)]


async def test_a_blank_tab_the_person_closed_is_replaced_once_however_many_need_it() -> None:
    contexts, link, reports = made()
    contexts.expect_first_tab("first")
    contexts.destroyed("first")
    waiting = await started(asyncio.wait_for(_both(contexts), 5))
    await turn()
    (create,) = commands(link)
    contexts.created(context("second"))
    link.says(type="success", id=create["id"], result={"context": "second"})
    assert await answer_of(waiting) == ["second", "second"]
    assert ["note", {"firstTab": "second"}] in link.sent, "the next broker knows it, too"
    assert reports == [], "it is nobody's"


async def _both(contexts: Contexts) -> list[str]:
    return list(await asyncio.gather(contexts.blank_tab(), contexts.blank_tab()))


async def test_tabs_are_made_beside_the_blank_one_and_popups_are_told_with_their_opener() -> None:
    contexts, link, reports = made()
    contexts.expect_first_tab("first")
    opening = await started(contexts.open(SOME_JAR))
    (create,) = commands(link)
    assert create["params"]["referenceContext"] == "first"
    assert create["params"]["background"] is True
    contexts.created(context("tab-1"))
    link.says(type="success", id=create["id"], result={"context": "tab-1"})
    tab = await answer_of(opening)
    contexts.created(context("popup", opener="tab-1"))
    appeared = [event for event in reports if isinstance(event, TabAppeared)]
    assert [(one.handle, one.opener, one.jar) for one in appeared] == [
        ("popup", tab.handle, SOME_JAR)
    ]


async def test_a_tab_that_comes_while_we_make_one_is_the_persons() -> None:
    contexts, link, reports = made()
    contexts.expect_first_tab("first")
    opening = await started(contexts.open(SOME_JAR))
    (create,) = commands(link)
    for name in ("theirs", "ours"):
        contexts.created(context(name))
    assert reports == [], "only our command's own answer can tell which is which"
    link.says(type="success", id=create["id"], result={"context": "ours"})
    assert (await answer_of(opening)).handle == "ours"
    await turn()
    (appeared,) = reports
    assert isinstance(appeared, TabAppeared)
    assert appeared.handle == "theirs"
