"""The stage for parity checks: a page of Playwright's in a bare Chromium, and a session of Roost.

A check asks both the same thing, and both must give the same outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Error, Page

from roost.errors import RoostError
from tests.support.agent import Agent
from tests.support.local_web import Web

REFUSED = "refused"


@dataclass(slots=True)
class Stage:
    """What checks use. ``folder``: where both sides read and write files."""

    browser: Browser
    page: Page
    agent: Agent
    web: Web
    folder: Path
    theirs: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)

    async def compare(
        self, name: str, theirs: Callable[[], Awaitable[Any]], ours: Callable[[], Awaitable[Any]]
    ) -> None:
        """Note the outcomes of both under that name."""
        assert name not in self.theirs, name
        self.theirs[name], self.ours[name] = await asyncio.gather(
            outcome(theirs()), outcome(ours())
        )

    async def ask(self, name: str, function: str, page: Page | None = None) -> None:
        """Compare what the function returns in both pages. ``page``: Playwright's, if another."""
        tab = page or self.page
        await self.compare(name, lambda: tab.evaluate(function), lambda: self.agent.run(function))

    async def both(self, name: str, theirs: Awaitable[Any], ours: Awaitable[Any], see: str) -> None:
        """Do it on both sides, then compare what the function ``see`` returns in the pages."""

        async def seen(act: Awaitable[Any], look: Callable[[str], Awaitable[Any]]) -> Any:
            done = await outcome(act)
            return REFUSED if done == REFUSED else await look(see)

        self.theirs[name] = await seen(theirs, self.page.evaluate)
        self.ours[name] = await seen(ours, self.agent.run)

    async def go(self, url: str) -> None:
        await asyncio.gather(self.page.goto(url), self.agent.go(url))

    @asynccontextmanager
    async def context(self, url: str | None = None, **options: Any) -> AsyncIterator[Page]:
        """A page of Playwright's in a context of its own."""
        context: BrowserContext = await self.browser.new_context(**options)
        try:
            page = await context.new_page()
            page.set_default_timeout(10_000)
            if url is not None:
                await page.goto(url)
            yield page
        finally:
            await context.close()


async def outcome(call: Awaitable[Any]) -> Any:
    """Return what the call returns, or that it was refused."""
    try:
        return await call
    except (Error, RoostError):
        return REFUSED


async def succeeded(call: Awaitable[Any]) -> bool:
    return bool(await outcome(call) != REFUSED)
