from __future__ import annotations

from pathlib import Path

import pytest

from roost import ops
from roost.api.page_views import DownloadView
from roost.errors import BadRequest, TabGone
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of
from roost.toolsets.browser_session import (
    BrowserSession,
    SessionOptions,
    changed_downloads,
    made,
)


def session(house: FakeHouse, **more: str) -> BrowserSession:
    return BrowserSession(SessionOptions(home=house.home, **more))  # type: ignore[arg-type]


async def test_a_session_is_opened_by_the_first_call_and_ends_with_the_last(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        browser = session(house, name="ada")
        assert not house.state.sessions
        assert await browser.tabs() == []
        assert [row.name for row in house.state.sessions.values()] == ["ada"]
        await browser.aclose()
        assert not house.state.sessions
        await error_of(BadRequest, browser.tabs())


async def test_a_session_that_was_never_used_is_never_opened(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        await session(house).aclose()
        assert not house.state.sessions


async def test_two_toolsets_have_two_sessions_and_their_own_tabs(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = session(house), session(house)
        hers, his = await ada.new_tab("http://site.test/"), await bob.new_tab()
        assert [tab.tab for tab in await ada.tabs()] == [hers.tab]
        assert [tab.tab for tab in await bob.tabs()] == [his.tab]
        await error_of(TabGone, bob.tab(hers.tab))
        await ada.aclose()
        await bob.aclose()


async def test_one_tab_is_current_also_after_the_current_one_closed(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        browser = session(house)
        first, second = await browser.new_tab(), await browser.new_tab()
        assert [tab.current for tab in await browser.tabs()] == [False, True]
        house.browser.close_page(house.handle(second.tab))
        left = await browser.tabs()
        assert [(tab.tab, tab.current) for tab in left] == [(first.tab, True)]
        await browser.aclose()


async def test_points_are_those_of_the_last_picture_of_the_tab(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        browser = session(house)
        tab = (await browser.new_tab("http://site.test/")).tab
        assert browser.point(None, 100, 50) == (100, 50)
        browser._scales[tab] = 0.5
        assert browser.point(None, 100, 50) == (200, 100)
        assert browser.point("another", 100, 50) == (100, 50)
        view = await browser.zoom(None, (10, 20, 60, 45))
        assert (view.left, view.top, view.scale) == (20, 40, 4)
        await error_of(BadRequest, browser.zoom(None, (5, 5, 5, 9)))
        await browser.aclose()


def test_an_argument_that_the_table_forbids_is_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="seconds"):
        made(ops.HoldKey, key="a", seconds=31)


def test_a_download_is_told_once_in_each_state() -> None:
    running = DownloadView(name="a", state="running", url="http://x/a")
    done = DownloadView(name="a", state="done", url="http://x/a", path="/a", bytes=1)
    old = DownloadView(name="b", state="done", path="/b")
    seen = {id: one.state for id, one in changed_downloads({}, [old, running]).items()}
    assert list(seen.values()) == ["running"]
    assert changed_downloads(seen, [old, running]) == {}
    assert list(changed_downloads(seen, [old, done]).values()) == [done]
    assert len(changed_downloads({}, [done, running])) == 2, "two of one address are two"
