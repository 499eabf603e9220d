from __future__ import annotations

import asyncio
import errno
import os
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.core import events as ev
from roost.core.rows import TabState
from roost.drivers.fake import FakeBrowser, FakeResponse
from roost.errors import Interrupted, TabGone, Unauthorized
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import answer_of, error_of, started, turn, until
from roost.vocabulary import GRACE_SECONDS, RESTART_GRACE_SECONDS, SessionId, TabHandle
from roost.wire.hello import ClientKind

URL = "https://site.test/"


async def test_a_new_broker_goes_on_with_the_browser_the_last_one_left(tmp_path: Path) -> None:
    browser = FakeBrowser()
    async with fake_house(tmp_path, browser=browser) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        await agent.api.call(ops.Evaluate(function='() => document.cookie = "who=me"'))
        handle = house.handle(tab)
    stray, orphan = browser.open_page("default"), browser.new_jar()

    async with fake_house(tmp_path, browser=browser) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        assert again.agent == agent.agent
        view = await again.api.call(ops.Evaluate(function="() => document.cookie"))
        assert (view.tab, view.value) == (tab, "who=me")
        assert house.handle(tab) == handle
        # What no row knows belongs to nobody and goes.
        await until(lambda: set(browser.pages) == {handle})
        await until(lambda: orphan not in browser.jars)
        assert stray.handle not in browser.pages


async def test_a_new_broker_brings_tabs_back_to_a_new_browser(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tabs = [(await agent.api.call(ops.Tabs(action="new", url=f"{URL}{n}"))) for n in range(3)]

    async with fake_house(tmp_path) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        for number, tab in enumerate(tabs):
            href = ops.Evaluate(function="() => location.href", tab=tab.opened)
            assert (await again.api.call(href)).value == f"{URL}{number}"
        assert len(house.browser.pages) == len(house.state.tabs) == 3
        # Ids are not used twice, not even across a restart.
        assert (await again.api.call(ops.Tabs(action="new"))).opened == "t4"


async def test_a_tab_whose_opening_was_cut_short_is_not_there_after_a_restart(
    tmp_path: Path,
) -> None:
    browser = FakeBrowser()
    async with fake_house(tmp_path, browser=browser) as house:
        agent = house.admit()
        house.driver.may_open.clear()
        call = await started(agent.api.call(ops.Tabs(action="new")))
        await until(lambda: house.driver.asked == 1)
    await asyncio.wait({call})
    browser.new_page("default")  # the page came, and nobody was there to hear of it

    async with fake_house(tmp_path, browser=browser) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        assert (await again.api.call(ops.Tabs(action="list"))).tabs == []
        opened = await again.api.call(ops.Tabs(action="new"))
        await until(lambda: set(browser.pages) == {house.handle(opened.opened or "")})


async def test_an_agent_that_does_not_reconnect_to_a_new_broker_ends_after_the_grace(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        gone, back = house.admit(), house.admit()
        for agent in (gone, back):
            await agent.api.call(ops.Navigate(url=URL))
        clock = house.clock
    clock.advance(3600)  # the broker was away for an hour: that is held against nobody

    async with fake_house(tmp_path, clock=clock) as house:
        again = house.admit(replace(house.hello(), resume=back.welcome.secret))
        clock.advance(RESTART_GRACE_SECONDS)
        assert list(house.state.agents) == [back.agent]
        assert len(house.state.sessions) == len(house.state.tabs) == 1
        with pytest.raises(Unauthorized):
            house.admit(replace(house.hello(), resume=gone.welcome.secret))
        await again.api.call(ops.Evaluate(function="() => 1"))


async def test_the_broker_has_one_timer_for_the_cores_next_deadline(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        first, second = house.admit(), house.admit()
        house.door.leave(first, goodbye=False)
        house.clock.advance(5)
        house.door.leave(second, goodbye=False)
        house.clock.advance(5)
        assert list(house.state.agents) == [second.agent]
        house.clock.advance(5)
        assert not house.state.agents
        assert house.broker._timer is None


async def test_the_files_of_an_ended_session_are_removed(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        folder = house.home.files / str(agent.welcome.session)
        make_file(folder / "download.txt")
        house.door.leave(agent, goodbye=True)
        assert not folder_exists(folder)
        assert folder_exists(house.home.files)


def make_file(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("x", encoding="utf-8")


def folder_exists(path: Path) -> bool:
    return path.exists()


async def test_events_of_pages_that_are_gone_change_nothing(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        before = dict(house.state.tabs)
        browser = house.state.settings.default_browser
        for event in (
            ev.TabClosed(browser, TabHandle("gone")),
            ev.TabNavigated(browser, TabHandle("gone"), "http://x.test/", "x"),
            ev.TabCrashed(browser, TabHandle("gone")),
        ):
            house.broker.hear(event)
        assert house.state.tabs == before


async def test_a_title_with_a_lone_surrogate_is_stored(tmp_path: Path) -> None:
    """Pages make halves of surrogate pairs; neither JSON text nor the journal can hold them."""
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        house.browser.web = lambda url: FakeResponse(title="half \ud83d of it")
        assert (await agent.api.call(ops.Navigate(url=URL))).title == "half ? of it"
        view = await agent.api.call(ops.Tabs(action="list"))
        assert [(row.tab, row.title) for row in view.tabs] == [(tab, "half ? of it")]


async def test_the_persons_own_tab_counts_in_the_pool_and_belongs_to_no_session(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent, operator = house.admit(), house.admit(house.hello(ClientKind.CLI))
        await agent.api.call(ops.Navigate(url=URL))
        page = house.browser.open_page("default", url="https://mail.test/")
        tab = house.state.tab_with(house.state.settings.default_browser, page.handle)
        assert tab is not None
        assert tab.session is None
        assert (await agent.api.call(ops.Tabs(action="list"))).tab_pool == "2/12"
        await error_of(TabGone, agent.api.call(ops.Evaluate(function="() => 1", tab=tab.id)))
        assert (await operator.api.call(ops.Evaluate(function="() => 1", tab=tab.id))).value == 1


async def test_closing_a_tab_that_is_still_opening_closes_its_page(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        house.driver.may_open.clear()
        call = await started(agent.api.call(ops.Tabs(action="new")))
        await until(lambda: house.driver.asked == 1)
        await agent.api.call(ops.Close(tab="t1"))
        house.driver.may_open.set()
        await error_of(TabGone, call)
        await until(lambda: not house.browser.pages)
        assert not house.state.tabs


async def test_stopping_the_broker_answers_running_calls(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        house: FakeHouse = await stack.enter_async_context(fake_house(tmp_path))
        client = await house.client()
        await client.call(ops.Navigate(url=URL))
        never = ops.Evaluate(function="() => new Promise(() => {})")
        call = await started(client.call(never))
        await client.call(ops.Ping())
        await stack.aclose()
        await error_of(Interrupted, call)
        await client.aclose()


async def test_a_paused_session_is_not_parked_for_a_waiter(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        operator = house.admit(house.hello(ClientKind.CLI))
        await operator.api.call(ops.SessionOpen(session="kept", url=URL))
        await operator.api.call(ops.SessionPause(session="kept"))
        agent = house.admit()
        assert not (await agent.api.call(ops.TabSpaceRequest())).you_have_reservation
        waiting = await started(agent.api.call(ops.TabSpaceStatus(wait_seconds=20)))
        await turn()
        await operator.api.call(ops.SessionResume(session="kept"))
        assert (await answer_of(waiting)).you_have_reservation
        tab = house.state.tabs_in(SessionId("kept"))[0]
        assert tab.state is TabState.PARKED


async def test_an_effect_that_fails_keeps_no_other_from_being_performed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit trail once raised in the middle of a session's end, and its pages stayed."""
    async with fake_house(tmp_path) as house:
        agent, other = house.admit(), house.admit()
        for one in (agent, other):
            await one.api.call(ops.Navigate(url=URL))

        def broken(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patched:
            patched.setattr(house.broker.audit, "write", broken)
            house.door.leave(agent, goodbye=True)
        await until(lambda: len(house.browser.pages) == len(house.state.tabs) == 1)
        await until(lambda: len(house.state.jars) == 1)
        house.door.leave(other, goodbye=False)
        house.clock.advance(GRACE_SECONDS)  # the timer was set all the same
        assert not house.state.agents


async def test_a_journal_that_was_removed_is_written_again_with_everything(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        remove_journal(house)
        house.broker.keep_files()
        await agent.api.call(ops.Tabs(action="new", url=URL))

    async with fake_house(tmp_path) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        view = await again.api.call(ops.Tabs(action="list"))
        assert [row.tab for row in view.tabs] == [tab, "t2"]


def remove_journal(house: FakeHouse) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{house.home.journal}{suffix}").unlink()
