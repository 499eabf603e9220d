"""The contexts of one Firefox, and its blank first tab (roost.drivers.firefox.contexts)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from roost.drivers.base import NO_BUNDLE
from roost.drivers.events import (
    DriverEvent,
    TabOpened,
)
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.contexts import Contexts
from roost.drivers.firefox.tab import BidiTab
from roost.errors import BrowserLost, TabGone
from roost.testing.waits import answer_of, error_of, started, turn
from tests.drivers.scripted_link import Heard, ScriptedLink

SOME_JAR = "jar-1"
CLOSE = "browsingContext.close"


def made(*, headless: bool = True) -> tuple[Contexts, ScriptedLink, list[DriverEvent]]:
    link, heard, reports = ScriptedLink(), Heard(), list[DriverEvent]()
    bidi = BidiConnection(link, heard.word, heard.end, lambda method, params: None)
    bidi.begin()
    bidi.release()
    return Contexts(bidi, NO_BUNDLE, reports.append, headless=headless), link, reports


def context(name: str, opener: str | None = None) -> dict[str, Any]:
    return {
        "context": name, "parent": None, "children": [], "url": "about:blank",
        "userContext": SOME_JAR, "originalOpener": opener,
    }  # fmt: skip


def commands(link: ScriptedLink) -> list[dict[str, Any]]:
    """Return the commands to the browser, without those to the keeper."""
    return [said for said in link.sent if isinstance(said, dict)]


async def test_a_closed_blank_tab_is_replaced_once_for_many_callers() -> None:
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


async def test_tabs_open_beside_the_blank_tab_and_popups_are_reported_with_their_opener() -> None:
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
    appeared = [event for event in reports if isinstance(event, TabOpened)]
    assert [(one.handle, one.opener, one.jar) for one in appeared] == [
        ("popup", tab.handle, SOME_JAR)
    ]


async def test_a_tab_that_opens_during_our_own_command_is_reported_as_the_persons() -> None:
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
    assert isinstance(appeared, TabOpened)
    assert appeared.handle == "theirs"


async def test_a_tab_made_in_a_removed_jar_is_closed_and_not_reported() -> None:
    contexts, link, reports = made()
    contexts.expect_first_tab("first")
    opening = await started(contexts.open(SOME_JAR))
    contexts.created(context("early"))
    contexts.jar_removed(SOME_JAR)  # from here on Firefox does not answer the command
    await error_of(TabGone, opening)
    await turn()
    contexts.created({**context("late"), "userContext": None})
    closed = [one["params"]["context"] for one in commands(link) if one["method"] == CLOSE]
    assert (closed, reports) == (["early", "late"], [])


async def test_an_abandoned_opening_in_a_removed_jar_does_not_block_later_tabs() -> None:
    contexts, link, reports = made()
    contexts.expect_first_tab("first")
    opening = await started(contexts.open(SOME_JAR))
    opening.cancel()
    await turn()
    contexts.jar_removed(SOME_JAR)
    await turn()
    contexts.created({**context("theirs"), "userContext": "default"})
    assert [event.handle for event in reports if isinstance(event, TabOpened)] == ["theirs"]


async def test_a_tab_that_the_last_broker_asked_for_and_never_heard_of_is_closed() -> None:
    contexts, link, reports = made()
    asked = {"context": "asked", "told": False, "created": True}
    handover = {"tabs": [asked], "notes": {}}
    contexts.take_over(handover, [context("asked"), context("popup")])
    closed = [one["params"]["context"] for one in commands(link) if one["method"] == CLOSE]
    assert closed == ["asked"]
    assert [event.handle for event in reports if isinstance(event, TabOpened)] == ["popup"]


async def test_a_tab_that_is_there_before_firefox_answers_the_last_broker_is_closed() -> None:
    contexts, link, reports = made()
    making = asyncio.get_running_loop().create_future()
    contexts.close_left([making])
    contexts.take_over({"tabs": [], "notes": {}}, [context("late")])
    making.set_result({"context": "late"})
    await turn()
    closed = [one["params"]["context"] for one in commands(link) if one["method"] == CLOSE]
    assert (closed, reports) == (["late"], [])


@pytest.mark.parametrize("is_listed", [True, False])
async def test_a_tab_of_the_last_broker_is_closed_if_firefox_answers_before_the_takeover(
    is_listed: bool,
) -> None:
    """The tree of contexts may be older than the tab. The tab's event is then delivered later."""
    contexts, link, reports = made()
    making = asyncio.get_running_loop().create_future()
    making.set_result({"context": "early"})
    contexts.close_left([making])
    tree = [context("early")] if is_listed else []
    contexts.take_over({"tabs": [], "notes": {}}, [*tree, context("popup")])
    contexts.created(context("early"))
    await turn()
    closed = [one["params"]["context"] for one in commands(link) if one["method"] == CLOSE]
    assert closed == ["early"]
    assert [event.handle for event in reports if isinstance(event, TabOpened)] == ["popup"]


async def test_a_tab_whose_browser_ends_before_the_reply_is_not_reported() -> None:
    """Otherwise the next browser would seem to have this tab."""
    contexts, link, reports = made()
    contexts.expect_first_tab("first")
    opening = await started(contexts.open(SOME_JAR))
    contexts.created(context("made"))
    link.ends()
    contexts.ended(BrowserLost("The browser ended."))
    await error_of(BrowserLost, opening)
    await turn()
    assert reports == []


async def test_a_tab_is_selected_once_until_another_tab_is() -> None:
    contexts, link, _ = made()
    one, two = _tab(contexts, "one"), _tab(contexts, "two")
    for tab in (one, one, two, one):
        selecting = await started(contexts.select(tab))
        link.says(type="success", id=commands(link)[-1]["id"], result={})
        await answer_of(selecting)
    selected = [(said["method"], said["params"]["context"]) for said in commands(link)]
    assert selected == [("browsingContext.activate", tab) for tab in ("one", "two", "one")]


async def test_a_tab_in_a_window_on_a_screen_is_not_selected() -> None:
    contexts, link, _ = made(headless=False)
    await contexts.select(_tab(contexts, "one"))
    assert commands(link) == [], "the window would come before what the person works with"


def _tab(contexts: Contexts, name: str) -> BidiTab:
    contexts.created(context(name))
    tab = contexts.tab_of(name)
    assert tab is not None
    return tab
