"""Visits of an unseen page to origins (roost.drivers.storage_visitor), with a scripted page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from roost.drivers import storage_visitor
from roost.drivers.base import OriginStorage
from roost.drivers.storage_visitor import Items, read_storage, write_storage
from roost.errors import BrowserLost, TabCrashed, TabGone

Visit = Callable[[str], Awaitable[Items | None]]
ORIGINS = ["http://a.test", "http://b.test", "http://c.test"]
STORAGE = [OriginStorage(origin, (("k", "v"),)) for origin in ORIGINS]


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


class Browser:
    """A browser whose pages behave at each origin as the test says; by default the script runs."""

    def __init__(self) -> None:
        self.opened = self.open_now = 0
        self.visited: list[str] = []
        self.at: dict[str, list[BaseException | None]] = {}
        """What becomes of each visit to an origin; None hangs."""
        self.unopened: list[BaseException | None] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Browser]:
        self.opened += 1
        if self.unopened:
            await self._fails(self.unopened.pop(0))
        self.open_now += 1
        try:
            yield self
        finally:
            self.open_now -= 1

    async def run(self, origin: str, expression: str) -> Items | None:
        self.visited.append(origin)
        if self.at.get(origin):
            await self._fails(self.at[origin].pop(0))
        return [[["k", "v"]], ""]

    async def _fails(self, error: BaseException | None) -> None:
        if error is None:
            await for_ever()
        else:
            raise error


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_visitor, "VISIT_SECONDS", 0.02)


@pytest.mark.parametrize("failure", [TabCrashed("died"), TabGone("closed"), None])
async def test_a_page_that_does_not_survive_a_visit_is_replaced_and_nothing_is_missed(
    failure: BaseException | None,
) -> None:
    browser = Browser()
    browser.at[ORIGINS[1]] = [failure]
    browser.unopened = [failure]

    assert await write_storage(browser.open, STORAGE) == []
    assert sorted(set(browser.visited)) == ORIGINS
    assert browser.visited.count(ORIGINS[0]) == 1, "what was put in is not put in twice"
    assert (browser.opened, browser.open_now) == (3, 0)


async def test_an_origin_that_no_page_survives_keeps_none_of_the_others_out() -> None:
    browser = Browser()
    browser.at[ORIGINS[0]] = [TabCrashed("died")] * 10

    assert await write_storage(browser.open, STORAGE) == STORAGE[:1]
    assert await read_storage(browser.open, ORIGINS) == STORAGE[1:]
    assert browser.visited.count(ORIGINS[0]) == 2 * storage_visitor.TRIES


async def test_a_browser_whose_pages_never_open_is_given_up() -> None:
    browser = Browser()
    browser.unopened = [TabCrashed("died")] * 10

    assert await write_storage(browser.open, STORAGE) == STORAGE
    assert browser.opened == storage_visitor.TRIES


async def test_all_visits_together_have_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_visitor, "VISIT_SECONDS", 60.0)
    monkeypatch.setattr(storage_visitor, "VISITS_SECONDS", 0.02)
    browser = Browser()
    browser.at[ORIGINS[1]] = [None]

    assert await write_storage(browser.open, STORAGE) == STORAGE[1:]
    assert browser.open_now == 0


async def test_a_browser_that_ends_is_told() -> None:
    browser = Browser()
    browser.at[ORIGINS[1]] = [BrowserLost("gone")]

    with pytest.raises(BrowserLost):
        await write_storage(browser.open, STORAGE)
