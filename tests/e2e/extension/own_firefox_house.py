"""A real daemon, and a person's own Firefox on a screen, linked by the extension."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from roost import ops
from roost.daemon.wiring import MINE_FIREFOX
from roost.local.broker_start import ensure_broker
from tests.e2e.extension.own_house import OWN, SECONDS, OwnHouse
from tests.support.local_web import Web
from tests.support.own_browser import has_allowed, moment, screen
from tests.support.own_firefox import OwnFirefox
from tests.support.pages_house import Agent, house_of


class OwnFirefoxHouse(OwnHouse):
    """Its ``house`` is one for page tests, too: whoever comes in there works in this browser."""

    id = MINE_FIREFOX
    browser: OwnFirefox  # type: ignore[assignment]

    @asynccontextmanager
    async def agent(self, name: str, **hello: Any) -> AsyncIterator[Agent]:
        async with self.house.agent(self.web, name=name, **hello) as agent:
            yield agent

    async def settle(self) -> None:
        """The person's tabs are there, they look at the first, and the browser is linked."""
        async with asyncio.timeout(2 * SECONDS), self.house.operator() as operator:
            while not any(
                one.id == MINE_FIREFOX for one in (await operator.call(ops.Status())).browsers
            ):
                await moment()
        await self.strip_when(lambda strip: {tab["url"] for tab in strip} >= set(self.pages))
        await self.person(
            "async (url) => { for (const tab of await browser.tabs.query({}))"
            " if (tab.url === url) await browser.tabs.update(tab.id, {active: true}) }",
            self.pages[0],
        )


@contextmanager
def own_firefox_house(web: Web, *, has_remote: bool = False) -> Iterator[OwnFirefoxHouse]:
    pages = [web.page(OWN, title=f"Mine {n}", path=f"/my-{n}") for n in range(3)]
    with (
        screen() as display,
        house_of("firefox") as house,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        has_allowed(house.home, MINE_FIREFOX)
        ensure_broker(house.home)
        browser = OwnFirefox(house.home, Path(folder), display, has_remote=has_remote)
        browser.start(*pages)
        house.browser, house.hello = MINE_FIREFOX, {"browser": MINE_FIREFOX}
        own = OwnFirefoxHouse(house, browser, web, pages)  # type: ignore[arg-type]
        try:
            asyncio.run(own.settle())
            yield own
        finally:
            browser.kill()
