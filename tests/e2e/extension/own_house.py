"""A real daemon, and a person's own Chromium on a screen, linked by the extension."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from roost import ops
from roost.daemon.wiring import MINE_CHROMIUM
from roost.local.broker_start import ensure_broker
from tests.support.local_web import Web
from tests.support.own_browser import OwnChromium, has_allowed, moment, screen
from tests.support.pages_house import Agent, House, house_of

SECONDS = 30.0
OWN = """<h1>Mine</h1><input autofocus><script>
    for (const type of ['pointerdown', 'click', 'keydown', 'input', 'wheel'])
        addEventListener(type, () => { document.title = 'Touched' }, true);
</script>"""
"""A page of the person's own, whose tab says so when anybody touches it."""
TITLES = {f"Mine {n}" for n in range(3)}
LOOK_AT_ALL = """async (urls) => {
    for (const url of [...urls].reverse()) {
        const [tab] = await chrome.tabs.query({ url });
        if (tab.status === "unloaded") await chrome.tabs.reload(tab.id);
        await chrome.tabs.update(tab.id, { active: true });
    }
}"""
"""Tabs that came back are loaded, if they were not yet, and the first one is in front."""
STRIP = """async () => {
    const groups = new Map((await chrome.tabGroups.query({})).map((one) => [one.id, one]));
    return (await chrome.tabs.query({})).map((tab) => ({
        id: tab.id, url: tab.url, title: tab.title, active: tab.active,
        group: groups.get(tab.groupId)?.title ?? null, color: groups.get(tab.groupId)?.color,
        groupId: tab.groupId, windowId: tab.windowId,
    }));
}"""


class OwnHouse:
    """``pages`` are the person's own tabs; the first is the one they look at."""

    id = MINE_CHROMIUM

    def __init__(self, house: House, browser: OwnChromium, web: Web, pages: list[str]) -> None:
        self.house, self.browser, self.web, self.pages = house, browser, web, pages

    @asynccontextmanager
    async def agent(self, name: str, **hello: Any) -> AsyncIterator[Agent]:
        said = {"browser": "mine", **hello}
        async with self.house.agent(self.web, name=name, **said) as agent:
            yield agent

    async def strip(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.browser.person(STRIP)
        return found

    async def strip_when(
        self, is_so: Callable[[list[dict[str, Any]]], bool]
    ) -> list[dict[str, Any]]:
        """The tab strip, as soon as it looks like that."""
        async with asyncio.timeout(SECONDS):
            while not is_so(strip := await self.strip()):
                await moment()
        return strip

    async def active(self) -> str:
        """What the person looks at."""
        (url,) = [tab["url"] for tab in await self.strip() if tab["active"]]
        return str(url)

    async def settle(self) -> None:
        """The person's tabs are there, they look at the first, and the browser is linked."""
        async with asyncio.timeout(SECONDS), self.house.operator() as operator:
            while not any(
                one.id == self.id for one in (await operator.call(ops.Status())).browsers
            ):
                await moment()
        await self.strip_when(lambda strip: {tab["url"] for tab in strip} >= set(self.pages))
        await self.person(LOOK_AT_ALL, self.pages)
        await self.strip_when(lambda strip: {tab["title"] for tab in strip} >= TITLES)

    async def start_again(self) -> None:
        """After it has quit. It brings back what was open."""
        self.browser.start()
        await self.settle()

    async def person(self, function: str, *arguments: Any) -> Any:
        return await self.browser.person(function, *arguments)


@contextmanager
def own_house(web: Web) -> Iterator[OwnHouse]:
    pages = [web.page(OWN, title=f"Mine {n}", path=f"/mine-{n}") for n in range(3)]
    with (
        screen() as display,
        house_of("chromium") as house,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        has_allowed(house.home)
        ensure_broker(house.home)
        browser = OwnChromium(house.home, Path(folder), display)
        browser.start(*pages)
        own = OwnHouse(house, browser, web, pages)
        try:
            asyncio.run(own.settle())
            yield own
        finally:
            browser.kill()
