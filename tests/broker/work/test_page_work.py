"""A call that opens a tab and fails leaves no tab that its caller does not know."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.drivers.fake import FakeBrowser
from roost.drivers.fake.browser import FakeResponse
from roost.errors import NotFound, Timeout
from roost.testing.house import fake_house
from roost.testing.waits import error_of, until

URL = "https://site.test/"
STALLS, DEAD = "https://stalls.test/", "https://dead.test/"


def _web(url: str) -> FakeResponse:
    if url == DEAD:
        raise NotFound("The page cannot be opened: no server is there.")
    return FakeResponse(stalls=url == STALLS)


@pytest.mark.parametrize(("url", "error"), [(STALLS, Timeout), (DEAD, NotFound)])
@pytest.mark.parametrize("kind", ["tab", "named page"])
async def test_a_new_tab_whose_page_does_not_come_is_closed(
    tmp_path: Path, url: str, error: type[NotFound | Timeout], kind: str
) -> None:
    async with fake_house(tmp_path, browser=FakeBrowser(_web)) as house:
        agent = house.admit()
        first = await agent.api.call(ops.Navigate(url=URL))
        new = ops.Tabs(action="new", url=url) if kind == "tab" else ops.PageOpen(name="p", url=url)
        await error_of(error, agent.api.call(new, timeout=0.1))
        listed = await agent.api.call(ops.Tabs(action="list"))
        assert [(row.tab, row.current) for row in listed.tabs] == [(first.tab, True)]
        await until(lambda: len(house.browser.pages) == 1)


async def test_a_new_tab_whose_call_was_cancelled_is_closed(tmp_path: Path) -> None:
    async with fake_house(tmp_path, browser=FakeBrowser(_web)) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        call = agent.api.call(ops.Tabs(action="new", url=STALLS))
        calling = asyncio.get_running_loop().create_task(call)
        await until(lambda: len(house.browser.pages) == 2)
        calling.cancel()
        await asyncio.wait({calling})
        assert len((await agent.api.call(ops.Tabs(action="list"))).tabs) == 1
        await until(lambda: len(house.browser.pages) == 1)


@pytest.mark.parametrize(("url", "error"), [(STALLS, Timeout), (DEAD, NotFound)])
async def test_a_first_tab_stays_and_is_named_in_the_error(
    tmp_path: Path, url: str, error: type[NotFound | Timeout]
) -> None:
    async with fake_house(tmp_path, browser=FakeBrowser(_web)) as house:
        agent = house.admit()
        refusal = await error_of(error, agent.api.call(ops.Navigate(url=url), timeout=0.1))
        listed = await agent.api.call(ops.Tabs(action="list"))
        assert refusal.details["tab"] == listed.current
        again = await error_of(error, agent.api.call(ops.Navigate(url=url), timeout=0.1))
        assert "tab" not in again.details, "the second call opened none"
