"""A house with a person's own browser on a screen, linked by the extension."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from roost import ops
from roost.daemon.wiring import MINE_CHROMIUM, MINE_FIREFOX
from roost.local.broker_start import ensure_broker
from tests.support.agent import Agent
from tests.support.house import House, house_of
from tests.support.local_web import Web
from tests.support.own_browser import OwnChromium, has_allowed, moment, screen
from tests.support.own_firefox import OwnFirefox

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
LOOK_AT = """async (url) => {
    for (const tab of await browser.tabs.query({}))
        if (tab.url === url) await browser.tabs.update(tab.id, { active: true });
}"""
STRIP = """async () => {
    const groups = new Map((await chrome.tabGroups.query({})).map((one) => [one.id, one]));
    return (await chrome.tabs.query({})).map((tab) => ({
        id: tab.id, url: tab.url, title: tab.title, active: tab.active,
        group: groups.get(tab.groupId)?.title ?? null, color: groups.get(tab.groupId)?.color,
        groupId: tab.groupId, windowId: tab.windowId,
    }));
}"""


class OwnHouse:
    """A house and the person's browser in it.

    house: its agents use the person's browser, too, so page tests can have it.
    browser: an ``OwnChromium`` or an ``OwnFirefox``.
    pages: the person's own tabs. The person looks at the first.
    """

    def __init__(self, house: House, browser: Any, web: Web, pages: list[str]) -> None:
        self.house, self.browser, self.web, self.pages = house, browser, web, pages
        self.id = MINE_FIREFOX if isinstance(browser, OwnFirefox) else MINE_CHROMIUM

    @asynccontextmanager
    async def agent(self, name: str, **hello: Any) -> AsyncIterator[Agent]:
        """Connect an agent that uses the person's browser."""
        said = {"browser": "mine", **hello}
        async with self.house.agent(self.web, name=name, **said) as agent:
            yield agent

    async def strip(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.person(STRIP)
        return found

    async def strip_when(
        self, is_so: Callable[[list[dict[str, Any]]], bool]
    ) -> list[dict[str, Any]]:
        """Return the tab strip as soon as it looks like that."""
        async with asyncio.timeout(SECONDS):
            while not is_so(strip := await self.strip()):
                await moment()
        return strip

    async def active(self) -> str:
        """Return the address of the tab that the person looks at."""
        (url,) = [tab["url"] for tab in await self.strip() if tab["active"]]
        return str(url)

    async def settle(self) -> None:
        """Wait until the browser is linked and the person's tabs are there, and show the first."""
        async with asyncio.timeout(2 * SECONDS), self.house.operator() as operator:
            while not any(
                one.id == self.id for one in (await operator.call(ops.Status())).browsers
            ):
                await moment()
        await self.strip_when(lambda strip: {tab["url"] for tab in strip} >= set(self.pages))
        if isinstance(self.browser, OwnFirefox):
            await self.person(LOOK_AT, self.pages[0])
        else:
            await self.person(LOOK_AT_ALL, self.pages)
            await self.strip_when(lambda strip: {tab["title"] for tab in strip} >= TITLES)

    async def start_again(self) -> None:
        """Start a browser that has quit. It brings back what was open."""
        self.browser.start()
        await self.settle()

    async def person(self, function: str, *arguments: Any) -> Any:
        return await self.browser.person(function, *arguments)


@contextmanager
def own_house(
    web: Web, kind: type[OwnChromium] | type[OwnFirefox], **options: bool
) -> Iterator[OwnHouse]:
    """Start a broker, and a person's browser that is linked to it.

    kind: ``OwnChromium`` or ``OwnFirefox``.
    options: more options for ``kind``.
    """
    own_id = MINE_FIREFOX if kind is OwnFirefox else MINE_CHROMIUM
    pages = [web.page(OWN, title=f"Mine {n}", path=f"/mine-{n}") for n in range(3)]
    with (
        screen() as display,
        house_of("chromium") as house,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        has_allowed(house.home, own_id)
        ensure_broker(house.home)
        browser = kind(house.home, Path(folder), display, **options)
        browser.start(*pages)
        house.browser, house.hello = own_id, {"browser": own_id}
        own = OwnHouse(house, browser, web, pages)
        try:
            asyncio.run(own.settle())
            yield own
        finally:
            browser.kill()
