"""Agents in the person's own browser work in their own groups and do not disturb the person."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.daemon.wiring import MINE_CHROMIUM
from roost.errors import Interrupted, Paused, SessionGone, TabGone
from tests.e2e.extension.own_house import TITLES, OwnHouse
from tests.support.agent import TRUSTED, Agent, refused
from tests.support.own_browser import moment

pytestmark = pytest.mark.timeout(180)
DRAG = """async (title, group) => {
    const [tab] = await chrome.tabs.query({ title });
    const [into] = await chrome.tabGroups.query({ title: group ?? "none" });
    if (group === null) await chrome.tabs.ungroup(tab.id);
    else await chrome.tabs.group({ tabIds: [tab.id], groupId: into.id });
}"""
NEVER = "() => { document.title = 'Hangs'; return window.kept = new Promise(() => {}) }"
CLOSE = """async (title) => {
    const [group] = await chrome.tabGroups.query({ title });
    const tabs = await chrome.tabs.query({ groupId: group.id });
    await chrome.tabs.remove(tabs.map((tab) => tab.id));
}"""


async def test_agents_work_in_their_own_groups_without_changing_the_persons_tab(
    mine: OwnHouse,
) -> None:
    body = TRUSTED + "<button>B</button><input id=i>"
    async with mine.agent("Ann") as ann, mine.agent("Bob") as bob:
        await asyncio.gather(ann.show(body, title="Ann's"), bob.show(body, title="Bob's"))
        strip = await mine.strip()
        groups = {tab["title"]: tab["group"] for tab in strip}
        assert groups["Ann's"] == "Ann"
        assert groups["Bob's"] == "Bob"
        assert {groups[title] for title in TITLES} == {None}
        await ann.click("button")
        await ann.type("#i", "typed", slowly=True)
        assert await ann.run("() => i.value") == "typed"
        assert ["click", mine.id == MINE_CHROMIUM] in await ann.log(), "whether input is trusted"
        assert await bob.run("() => i.value") == ""
        assert await bob.log() == []
        assert [tab.title for tab in (await ann.tabs()).tabs] == ["Ann's"]
        assert await mine.active() == mine.pages[0]
    await mine.strip_when(lambda strip: all(tab["group"] is None for tab in strip))


async def test_an_agent_without_consent_opens_no_tab(
    mine: OwnHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a program in another folder is another one to the person
    async with mine.agent("Stranger") as stranger:
        asked = await refused(Paused, stranger.show("Here"))
        assert "Stranger" in asked.message
        assert [tab for tab in await mine.strip() if tab["group"]] == []


async def test_a_screenshot_never_shows_another_tab(mine: OwnHouse) -> None:
    """The original captured whichever tab was in front."""
    shot = ops.TakeScreenshot(type="png", scale=0.2)
    async with mine.agent("Red") as red, mine.agent("Blue") as blue:
        await red.show("<body style='background: red'>")
        await blue.show("<body style='background: blue'>")
        alone = [(await one.call(shot)).data for one in (red, blue)]
        assert alone[0] != alone[1]
        for _ in range(3):
            both = await asyncio.gather(red.call(shot), blue.call(shot))
            assert [picture.data for picture in both] == alone
    assert await mine.active() == mine.pages[0]


async def test_a_call_that_never_ends_blocks_no_other_agent(mine: OwnHouse) -> None:
    """In the original, an agent that hung or died with the screenshot lock blocked all others."""
    body = "<button onclick='this.textContent = \"Done\"'>B</button>"
    async with mine.agent("Ann") as hangs, mine.agent("Bob") as other, asyncio.TaskGroup() as group:
        await asyncio.gather(hangs.show(body), other.show(body))
        call = group.create_task(hangs.run(NEVER))
        async with mine.agent("Ends") as dies:
            await dies.show("<h1>Hangs, too</h1>")
            group.create_task(refused(Interrupted, dies.run(NEVER)))
            await mine.strip_when(lambda strip: _titles(strip).count("Hangs") == 2)
            await other.click("button")
            assert "Done" in await other.snapshot()
        call.cancel()
        await hangs.click("button")
        assert "Done" in await hangs.snapshot()


def _titles(strip: list[dict[str, Any]]) -> list[str]:
    return [tab["title"] for tab in strip]


async def test_a_popup_opens_in_its_openers_group_and_the_persons_tab_stays_in_front(
    mine: OwnHouse,
) -> None:
    """The original did not track popups. Here a popup is in its opener's group before its agent is
    told."""
    goal = mine.web.page("<h1>Popup</h1>", title="Popup")
    async with mine.agent("Pop") as pop, mine.agent("Other") as other:
        await other.show("Other")
        await pop.show(f"<a href='{goal}' target=_blank>Go</a>")
        await pop.click("a")
        await mine.strip_when(
            lambda strip: any((tab["title"], tab["group"]) == ("Popup", "Pop") for tab in strip)
        )
        await _until(pop, {"Test", "Popup"})
        assert len((await other.tabs()).tabs) == 1
        await mine.strip_when(
            lambda strip: any(tab["active"] and tab["url"] == mine.pages[0] for tab in strip)
        )


async def test_a_tab_dragged_out_of_a_group_is_lost_and_one_dragged_in_is_usable(
    mine: OwnHouse,
) -> None:
    async with mine.agent("Drag") as agent:
        first = await agent.show("First", title="First")
        await agent.open(mine.web.page("Second", title="Second"))
        await mine.person(DRAG, "First", None)
        await _until(agent, {"Second"})
        await refused(TabGone, agent.run("() => document.title", tab=first.tab))
        strip = await mine.strip()
        assert [tab["group"] for tab in strip if tab["title"] == "First"] == [None]
        await mine.person(DRAG, "First", "Drag")
        await _until(agent, {"First", "Second"})


async def test_closing_the_group_ends_the_session_and_the_next_tab_gets_a_new_one(
    mine: OwnHouse,
) -> None:
    async with mine.agent("Ends") as agent:
        await agent.show("One", title="One")
        await mine.person(CLOSE, "Ends")
        await refused(SessionGone, _until(agent, {"never"}))
        await agent.show("Two", title="Two")
        strip = await mine.strip_when(
            lambda strip: any(tab["title"] == "Two" and tab["group"] for tab in strip)
        )
        assert [tab["title"] for tab in strip if tab["group"]] == ["Two"]


async def _until(agent: Agent, titles: set[str]) -> None:
    async with asyncio.timeout(30):
        while {tab.title for tab in (await agent.tabs()).tabs} != titles:
            await moment()


async def test_killing_the_broker_leaves_the_pages_unchanged(mine: OwnHouse) -> None:
    async with mine.agent("Kept") as agent:
        await agent.show("<input id=i>", title="Kept")
        await agent.type("#i", "half-written")
        mine.house.kill_broker()
        assert "half-written" in await agent.snapshot()
        assert await agent.run("() => i.value") == "half-written"
        strip = await mine.strip()
        assert [tab["group"] for tab in strip if tab["title"] == "Kept"] == ["Kept"]
    assert await mine.active() == mine.pages[0]
