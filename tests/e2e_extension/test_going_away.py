"""The extension is reloaded, the browser quits: agents are told, and go on when it is back."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from own_house import OwnHouse
from pages_house import Agent

from roost.errors import BrowserLost
from roost.local.hosts import running_hosts

pytestmark = pytest.mark.timeout(240)


async def _until_lost(agent: Agent) -> BrowserLost:
    async with asyncio.timeout(20):
        while True:
            try:
                await agent.snapshot()
            except BrowserLost as lost:
                return lost


async def test_an_extension_that_is_reloaded_finds_its_tabs_as_they_are(own: OwnHouse) -> None:
    async with own.agent("Reload") as agent:
        await agent.show("<h1>Still here</h1><input id=i>", title="Reload")
        await agent.type("#i", "half-written")
        before = running_hosts(own.house.home, "mine-chromium")
        await own.person("() => { setTimeout(() => chrome.runtime.reload(), 0) }")
        async with asyncio.timeout(20):
            while running_hosts(own.house.home, "mine-chromium") in ([], before):
                with suppress(BrowserLost):
                    await agent.snapshot()
        await agent.wait_until_restored("Still here")
        assert await agent.run("() => i.value") == "half-written"
        strip = await own.strip()
        assert [tab["group"] for tab in strip if tab["title"] == "Reload"] == ["Reload"]


async def test_a_browser_that_quits_is_told_at_once_and_its_tabs_come_back_with_it(
    own: OwnHouse,
) -> None:
    async with own.agent("Quit") as agent:
        await agent.show("<h1>Back again</h1>", title="Quit")
        await asyncio.to_thread(own.browser.quit)
        lost = await _until_lost(agent)
        assert lost.hint
        own.browser.start(*own.pages)
        await own.settle()
        await agent.wait_until_restored("Back again")
        await own.strip_when(
            lambda strip: ("Quit", "Quit") in {(tab["title"], tab["group"]) for tab in strip}
        )
        assert await own.active() == own.pages[0]
