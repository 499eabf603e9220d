"""The popup page in a real browser: it asks the person, and the person decides there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.errors import Paused, SessionGone, Unauthorized
from tests.e2e.extension.own_house import OwnHouse
from tests.support.agent import refused

pytestmark = pytest.mark.timeout(180)

READ = "() => document.body.innerText"
TEXT = "() => document.body.textContent"
PRESS = """async (text, about) => {
    const wanted = (button) => button.textContent === text &&
        (button.closest("section, li")?.textContent ?? "").includes(about);
    for (;;) {
        const button = [...document.querySelectorAll("button")].find(wanted);
        if (button) return button.click();
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}"""
LEAVE = """async () => {
    const api = globalThis.browser ?? chrome;
    const url = api.runtime.getURL("popup/popup.html");
    for (const tab of await api.tabs.query({})) if (tab.url === url) await api.tabs.remove(tab.id);
}"""


async def test_the_person_can_allow_pause_end_and_refuse_in_the_popup_page(
    mine: OwnHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a program in another folder is another one to the person

    async def press(text: str, about: str) -> Any:
        return await mine.browser.popup(PRESS, text, about)

    async with mine.agent("Newcomer") as agent:
        await refused(Paused, agent.show("Here"))
        await press("Allow", "Newcomer")
        await agent.call(ops.SessionList(wait_seconds=30))
        await agent.show("Here", title="Newcomer's page")
        rows = (await agent.call(ops.Status())).browsers
        assert mine.id in [row.id for row in rows]
        await press("Pause", "Newcomer's page")
        while not (await agent.call(ops.SessionList())).sessions[0].paused:
            pass
        await refused(Paused, agent.run("() => 1"))
        await press("Resume", "Newcomer")
        await agent.call(ops.SessionList(wait_seconds=30))
        assert await agent.run("() => 1") == 1
        await press("End", "Newcomer")
        await mine.strip_when(lambda strip: all(tab["group"] != "Newcomer" for tab in strip))
        await refused(SessionGone, agent.run("() => 1"))
        await press("Refuse", "Newcomer")
        while "Newcomer”: refused" not in await mine.browser.popup(TEXT):
            pass
        await refused(Unauthorized, agent.show("Here"))
    assert await mine.active() == mine.pages[0], "and nothing came before the person's tab"
    await mine.person(LEAVE)


async def test_the_popup_page_shows_the_pool_while_no_agent_works(mine: OwnHouse) -> None:
    """The original's popup page stayed empty after its background page had slept."""
    while "tabs in use" not in await mine.browser.popup(READ):
        pass
    await mine.person(LEAVE)
