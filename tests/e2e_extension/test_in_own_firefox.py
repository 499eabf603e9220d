"""Agents in the person's own Firefox: each in its group, with scripts for hands, and none in the
person's way."""

from __future__ import annotations

import asyncio

import pytest
from own_firefox_house import OwnFirefoxHouse
from pages_house import TRUSTED, Agent, refused

from roost import ops
from roost.errors import (
    BadRequest,
    NotActionable,
    SessionGone,
    TabGone,
    Unauthorized,
    Unsupported,
)
from roost.vocabulary import JarPolicy

pytestmark = pytest.mark.timeout(240)
FORM = """
<form onsubmit="event.preventDefault(); window.sent = new FormData(this)">
  <input name=a id=a><label><input type=checkbox name=c id=c> Check</label>
  <select name=s id=s><option>one<option>two</select><button>Send</button>
</form>
<button disabled onclick="window.wrong = true">Off</button>
<div id=h onmouseover="window.hovered = true">Over</div>
"""


@pytest.fixture
def own(own_firefox: OwnFirefoxHouse) -> OwnFirefoxHouse:
    return own_firefox


async def test_two_agents_work_behind_the_persons_tab_and_see_their_own(
    own: OwnFirefoxHouse,
) -> None:
    """Wrong-tab capture, too: a picture is of the tab it was asked for, whichever is in front."""
    shot = ops.TakeScreenshot(type="png", scale=0.2)
    async with own.agent("Ann") as ann, own.agent("Bob") as bob:
        await asyncio.gather(
            ann.show(TRUSTED + "<body style='background: red'><button>B</button>", title="Ann's"),
            bob.show(TRUSTED + "<body style='background: blue'><button>B</button>", title="Bob's"),
        )
        groups = {tab["title"]: tab["group"] for tab in await own.strip()}
        assert (groups["Ann's"], groups["Bob's"]) == ("Ann", "Bob")
        assert {groups[f"My {n}"] for n in range(3)} == {None}
        await ann.click("button")
        assert ["click", False] in await ann.log()
        assert await bob.log() == []
        alone = [(await one.call(shot)).data for one in (ann, bob)]
        assert alone[0] != alone[1]
        both = await asyncio.gather(ann.call(shot), bob.call(shot))
        assert [picture.data for picture in both] == alone
        assert [tab.title for tab in (await ann.tabs()).tabs] == ["Ann's"]
        assert await own.active() == own.pages[0]
    await own.strip_when(lambda strip: all(tab["group"] is None for tab in strip))


async def test_keys_and_clicks_do_what_a_persons_would(own: OwnFirefoxHouse) -> None:
    async with own.agent("Keys") as agent:
        await agent.show(FORM)
        await agent.click("#a")
        for key in ("h", "i", "x", "Backspace"):
            await agent.press(key)
        assert await agent.run("() => a.value") == "hi"
        await agent.press("Tab")
        assert await agent.run("() => document.activeElement.id") == "c"
        await agent.press("Space")
        await agent.press("Tab")
        await agent.press("ArrowDown")
        assert await agent.run("() => [c.checked, s.value]") == [True, "two"]
        await agent.click("label")
        assert await agent.run("() => c.checked") is False
        await agent.call(ops.Hover(target="#h"))
        assert await agent.run("() => window.hovered") is True
        await agent.type("#a", "again", submit=True)
        assert await agent.run("() => Object.fromEntries(window.sent)") == {
            "a": "again",
            "s": "two",
        }
        await refused(NotActionable, agent.click("button[disabled]"))
        assert await agent.run("() => window.wrong ?? null") is None


async def test_what_a_page_says_from_its_first_line_on_is_heard(own: OwnFirefoxHouse) -> None:
    """Page console never captured: the original read a console that pages cannot write to."""
    async with own.agent("Says") as agent:
        await agent.show(
            "<script>console.log('first', {a: 1}); console.error('second')</script>"
            "<script>throw new Error('third')</script>"
        )
        said = await agent.call(ops.ConsoleMessages())
        texts = [(one.level, one.text) for one in said.messages]
        assert texts[:2] == [("log", 'first {"a":1}'), ("error", "second")]
        assert "third" in texts[2][1]


async def test_a_guarded_page_can_be_read_and_says_what_cannot_be_done(
    own: OwnFirefoxHouse,
) -> None:
    head = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">"
    guarded = own.web.serve(f"<!doctype html><head>{head}</head><h1>Guarded</h1>".encode())
    async with own.agent("Guarded") as agent:
        await agent.go(guarded)
        assert "Guarded" in await agent.snapshot()
        error = await refused(Unsupported, agent.run("() => 1"))
        assert "Content-Security-Policy" in error.message


async def test_a_tab_dragged_out_is_lost_and_one_dragged_in_is_the_agents(
    own: OwnFirefoxHouse,
) -> None:
    async with own.agent("Drag") as agent:
        first = await agent.show("First", title="First")
        await agent.open(own.web.page("Second", title="Second"))
        await own.person(
            "async (title) => { const [tab] = await browser.tabs.query({title});"
            " await browser.tabs.ungroup(tab.id) }",
            "First",
        )
        await _until(agent, {"Second"})
        await refused(TabGone, agent.run("() => document.title", tab=first.tab))
        await own.person(
            "async (title, group) => { const [tab] = await browser.tabs.query({title});"
            " const [{ id }] = await browser.tabGroups.query({title: group});"
            " await browser.tabs.group({tabIds: [tab.id], groupId: id}) }",
            "First",
            "Drag",
        )
        await _until(agent, {"First", "Second"})


async def test_closing_the_group_ends_the_session(own: OwnFirefoxHouse) -> None:
    async with own.agent("Ends") as agent:
        await agent.show("One", title="One")
        await own.person(
            "async (title) => { const [group] = await browser.tabGroups.query({title});"
            " const tabs = await browser.tabs.query({groupId: group.id});"
            " await browser.tabs.remove(tabs.map((tab) => tab.id)) }",
            "Ends",
        )
        await refused(SessionGone, _until(agent, {"never"}))
        await agent.show("Two", title="Two")
        strip = await own.strip_when(
            lambda strip: any(tab["title"] == "Two" and tab["group"] for tab in strip)
        )
        assert [tab["title"] for tab in strip if tab["group"]] == ["Two"]


async def test_a_person_who_shuts_roost_out_of_pages_can_let_it_in_again(
    own: OwnFirefoxHouse,
) -> None:
    """Firefox lets them take away, at any time, what the extension was given when it came."""
    pages = {"origins": ["<all_urls>"]}
    async with own.agent("Shut", jar=JarPolicy.FRESH) as agent:
        await agent.show("<h1>Before</h1>")
        await own.person("(pages) => browser.permissions.remove(pages)", pages)
        try:
            for call in (agent.snapshot(), agent.run("() => 1"), agent.go(own.pages[0])):
                error = await refused(Unauthorized, call)
                assert "Allow" in (error.hint or "")
            await refused(Unauthorized, agent.call(ops.TakeScreenshot()))
            await refused(Unauthorized, agent.call(ops.Cookies()))
        finally:
            await own.browser.press("Allow")
        assert "Before" in await agent.snapshot(), "at once, in the page that was there"
        await agent.show("<script>console.log('heard')</script>")
        said = await agent.call(ops.ConsoleMessages())
        assert [one.text for one in said.messages] == ["heard"]
        # For this port Firefox shows a page of its own; that is no matter of permission.
        closed = await refused(BadRequest, agent.go("http://127.0.0.1:1/"))
        assert "browser's own" in (closed.hint or "")


async def _until(agent: Agent, titles: set[str]) -> None:
    async with asyncio.timeout(30):
        while {tab.title for tab in (await agent.tabs()).tabs} != titles:
            pass
