"""Agents in the person's own Chromium: each in its group, none in the person's way."""

from __future__ import annotations

import asyncio

import pytest
from own_house import OwnHouse
from pages_house import TRUSTED, Agent, refused

from roost import ops
from roost.errors import Paused, SessionGone, TabGone

pytestmark = pytest.mark.timeout(180)


async def test_agents_work_in_groups_of_their_own_behind_the_persons_tab(own: OwnHouse) -> None:
    body = TRUSTED + "<button>B</button><input id=i>"
    async with own.agent("Ann") as ann, own.agent("Bob") as bob:
        await asyncio.gather(ann.show(body, title="Ann's"), bob.show(body, title="Bob's"))
        strip = await own.strip()
        groups = {tab["title"]: tab["group"] for tab in strip}
        assert groups["Ann's"] == "Ann"
        assert groups["Bob's"] == "Bob"
        assert {groups[f"Mine {n}"] for n in range(3)} == {None}
        await ann.click("button")
        await ann.type("#i", "typed", slowly=True)
        assert await ann.run("() => i.value") == "typed"
        assert ["click", True] in await ann.log()
        assert await bob.run("() => i.value") == ""
        assert await bob.log() == []
        assert [tab.title for tab in (await ann.tabs()).tabs] == ["Ann's"]
        assert await own.active() == own.pages[0]
    await own.strip_when(lambda strip: all(tab["group"] is None for tab in strip))


async def test_an_agent_the_person_does_not_know_opens_nothing(own: OwnHouse) -> None:
    async with own.agent("Stranger") as stranger:
        asked = await refused(Paused, stranger.show("Here"))
        assert "Stranger" in asked.message
        assert [tab for tab in await own.strip() if tab["group"]] == []


async def test_a_picture_is_never_of_another_tab(own: OwnHouse) -> None:
    """Wrong-tab capture: the original's pictures were of whichever tab was in front."""
    shot = ops.TakeScreenshot(type="png", scale=0.2)
    async with own.agent("Red") as red, own.agent("Blue") as blue:
        await red.show("<body style='background: red'>")
        await blue.show("<body style='background: blue'>")
        alone = [(await one.call(shot)).data for one in (red, blue)]
        assert alone[0] != alone[1]
        for _ in range(3):
            both = await asyncio.gather(red.call(shot), blue.call(shot))
            assert [picture.data for picture in both] == alone
    assert await own.active() == own.pages[0]


async def test_a_popup_is_its_openers_and_the_person_keeps_their_tab(own: OwnHouse) -> None:
    """Untracked popups: here a popup is in its opener's group before its agent hears of it."""
    goal = own.web.page("<h1>Popup</h1>", title="Popup")
    async with own.agent("Pop") as pop, own.agent("Other") as other:
        await other.show("Other")
        await pop.show(f"<a href='{goal}' target=_blank>Go</a>")
        await pop.click("a")
        await own.strip_when(
            lambda strip: any((tab["title"], tab["group"]) == ("Popup", "Pop") for tab in strip)
        )
        assert "Popup" in [tab.title for tab in (await pop.tabs()).tabs]
        assert len((await other.tabs()).tabs) == 1
        await own.strip_when(
            lambda strip: any(tab["active"] and tab["url"] == own.pages[0] for tab in strip)
        )


async def test_a_tab_dragged_out_is_lost_and_none_takes_its_place(own: OwnHouse) -> None:
    async with own.agent("Drag") as agent:
        first = await agent.show("First", title="First")
        await agent.open(own.web.page("Second", title="Second"))
        await own.person(
            "async (title) => { const [tab] = await chrome.tabs.query({title});"
            " await chrome.tabs.ungroup(tab.id) }",
            "First",
        )
        async with asyncio.timeout(20):
            while len((await agent.tabs()).tabs) > 1:
                pass
        await refused(TabGone, agent.run("() => document.title", tab=first.tab))
        strip = await own.strip()
        (left,) = [tab for tab in strip if tab["title"] == "First"]
        assert left["group"] is None
        await own.person("(id) => chrome.tabs.remove(id)", left["id"])


async def test_closing_the_group_ends_the_session_and_the_next_tab_has_a_new_one(
    own: OwnHouse,
) -> None:
    async with own.agent("Ends") as agent:
        await agent.show("One", title="One")
        await own.person(
            "async (title) => { const [group] = await chrome.tabGroups.query({title});"
            " const tabs = await chrome.tabs.query({groupId: group.id});"
            " await chrome.tabs.remove(tabs.map((tab) => tab.id)) }",
            "Ends",
        )
        await refused(SessionGone, _until_it_ends(agent))
        await agent.show("Two", title="Two")
        strip = await own.strip_when(
            lambda strip: any(tab["title"] == "Two" and tab["group"] for tab in strip)
        )
        assert [tab["title"] for tab in strip if tab["group"]] == ["Two"]


async def _until_it_ends(agent: Agent) -> None:
    async with asyncio.timeout(20):
        while await agent.tabs():
            pass


async def test_a_broker_that_is_killed_leaves_the_pages_as_they_are(own: OwnHouse) -> None:
    async with own.agent("Kept") as agent:
        await agent.show("<input id=i>", title="Kept")
        await agent.type("#i", "half-written")
        own.house.kill_broker()
        assert "half-written" in await agent.snapshot()
        assert await agent.run("() => i.value") == "half-written"
        strip = await own.strip()
        assert [tab["group"] for tab in strip if tab["title"] == "Kept"] == ["Kept"]
    assert await own.active() == own.pages[0]
