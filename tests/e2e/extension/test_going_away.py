"""The extension is reloaded or disabled, a window closes, the browser quits: agents are told at
once, and continue when it is back."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from roost import ops
from roost.daemon.wiring import MINE_FIREFOX
from roost.errors import BrowserLost, TabGone
from roost.local.hosts import running_hosts
from roost.vocabulary import JarPolicy
from tests.e2e.extension.own_house import STRIP, OwnHouse
from tests.support.agent import Agent, refused
from tests.support.own_browser import OwnChromium

pytestmark = pytest.mark.timeout(240)
MOVE_OUT = """async (title) => {
    const api = globalThis.browser ?? chrome;
    const [group] = await api.tabGroups.query({ title });
    const other = await api.windows.create({ url: "about:blank", focused: false });
    await api.tabGroups.move(group.id, { windowId: other.id, index: -1 });
    return other.id;
}"""
PLACES = """async () => {
    const api = globalThis.browser ?? chrome;
    const groups = new Map((await api.tabGroups.query({})).map(({ id, title }) => [id, title]));
    const tabs = (await api.tabs.query({})).filter(({ groupId }) => groups.has(groupId));
    return tabs.map(({ groupId, cookieStoreId }) => [groups.get(groupId), cookieStoreId ?? ""]);
}"""
ASLEEP = """async () => {
    const tabs = await (globalThis.browser ?? chrome).tabs.query({ discarded: true });
    return tabs.filter(({ groupId }) => groupId !== -1).length;
}"""
CLOSE_TABS = "(ids) => (globalThis.browser ?? chrome).tabs.remove(ids)"
CLOSE_WINDOW = "(id) => (globalThis.browser ?? chrome).windows.remove(id)"


async def _until_lost(agent: Agent) -> BrowserLost:
    async with asyncio.timeout(20):
        while True:
            try:
                await agent.snapshot()
            except BrowserLost as lost:
                return lost


async def test_a_reloaded_extension_finds_its_tabs_unchanged(mine: OwnHouse) -> None:
    """An update reloads the extension in the same way."""
    async with mine.agent("Reload") as agent:
        await agent.show("<h1>Still here</h1><input id=i>", title="Reload")
        await agent.type("#i", "half-written")
        before = running_hosts(mine.house.home, mine.id)
        await mine.browser.reload_extension()
        async with asyncio.timeout(20):
            while running_hosts(mine.house.home, mine.id) in ([], before):
                with suppress(BrowserLost):
                    await agent.snapshot()
        await agent.wait_until_restored("Still here")
        assert await agent.run("() => i.value") == "half-written"
        strip = await mine.strip()
        assert [tab["group"] for tab in strip if tab["title"] == "Reload"] == ["Reload"]


async def test_disabling_the_extension_is_noticed_at_once_and_enabling_it_reconnects(
    mine: OwnHouse,
) -> None:
    async with mine.agent("Reload") as agent:
        await agent.show("<h1>Still here</h1><input id=i>", title="Off")
        await agent.type("#i", "half-written")
        await mine.browser.switch_extension(on=False)
        assert (await _until_lost(agent)).hint
        await mine.browser.switch_extension(on=True)
        await agent.wait_until_restored("Still here")
        assert await agent.run("() => i.value") == "half-written"


async def test_uninstalling_the_extension_is_noticed_at_once_and_a_new_one_connects(
    mine: OwnHouse,
) -> None:
    """The new extension does not know the old one's tabs, so they are the person's."""
    async with mine.agent("Reload") as agent:
        old = await agent.go(mine.web.page("<h1>Still here</h1>", title="Uninstalled"))
        await mine.browser.uninstall_extension()
        assert await _until_lost(agent), "the call under way; the next one is told what to do"
        assert "roost install extension" in ((await _until_lost(agent)).hint or "")
        await mine.browser.install_extension()
        await mine.settle()
        await agent.wait_until_restored("Still here")
        both = [tab for tab in await mine.strip() if tab["url"] == old.url]
        assert [tab["group"] for tab in both] == ["Reload", "Reload"]
    strip = await mine.strip_when(lambda strip: len([t for t in strip if t["url"] == old.url]) == 1)
    await mine.person(CLOSE_TABS, [tab["id"] for tab in strip if tab["url"] == old.url])


async def test_closing_a_window_with_a_group_does_not_end_the_session(mine: OwnHouse) -> None:
    async with mine.agent("Other") as agent:
        await agent.show("<h1>There</h1>", title="There")
        session = (await agent.call(ops.SessionList())).sessions[0].id
        await mine.person(CLOSE_WINDOW, await mine.person(MOVE_OUT, "Other"))
        await mine.strip_when(lambda strip: all(tab["group"] is None for tab in strip))
        async with asyncio.timeout(20):
            while (await agent.tabs()).tabs:
                pass
        await refused(TabGone, agent.snapshot())
        await agent.open(mine.web.page("<h1>Here</h1>", title="Here"))
        assert [one.id for one in (await agent.call(ops.SessionList())).sessions] == [session]
        await mine.strip_when(
            lambda strip: ("Here", "Other") in {(tab["title"], tab["group"]) for tab in strip}
        )


async def _places(mine: OwnHouse) -> list[tuple[str, str]]:
    """Return the group's title of each tab in a group, and in Firefox the tab's container."""
    return sorted((group, container) for group, container in await mine.person(PLACES))


async def test_a_quitting_browser_is_reported_at_once_and_its_tabs_come_back(
    mine: OwnHouse,
) -> None:
    """Firefox loads a restored tab only when it is used. There, the second agent has a jar of its
    own, at the same address. Tabs of a session that ended meanwhile are closed."""
    policy = JarPolicy.FRESH if mine.id == MINE_FIREFOX else JarPolicy.SHARED
    page = mine.web.page("<h1>Back again</h1>", title="Quit")
    before_that = mine.web.page("<h1>Before that</h1>", title="Before")
    async with mine.agent("Quit") as agent, mine.agent("Ann", jar=policy) as other:
        for one, name in ((agent, "Quit"), (other, "Ann")):
            await one.go(before_that)
            await one.go(page)
            await one.run(f"() => {{ document.cookie = 'of-{name}=1; max-age=3600' }}")
        before = await _places(mine)
        cookies = [await one.run("() => document.cookie") for one in (agent, other)]
        async with mine.agent("Ends") as ends:
            await ends.go(page)
            await asyncio.to_thread(mine.browser.quit)
            lost = await _until_lost(agent)
            assert lost.hint
            (session,) = (await ends.call(ops.SessionList())).sessions
            await ends.call(ops.SessionDispose(session=session.id))
        await mine.start_again()
        groups = {None, "Quit", "Ann"}
        await mine.strip_when(lambda strip: {tab["group"] for tab in strip} == groups)
        assert await mine.person(ASLEEP) == (len(before) if mine.id == MINE_FIREFOX else 0)
        for one in (agent, other):
            await one.wait_until_restored("Back again")
        assert await _places(mine) == before, "each in its group and its jar"
        assert [await one.run("() => document.cookie") for one in (agent, other)] == cookies
        assert (await agent.call(ops.NavigateBack())).title == "Before"
        await other.open(page)
        assert set(await _places(mine)) == set(before), "the next tab, too"
        assert await mine.active() == mine.pages[0]


async def test_a_second_profile_is_refused_until_the_first_has_quit(
    own: OwnHouse, tmp_path: Path
) -> None:
    """A link is never taken away. In the original, the browser that connected last took all
    links."""
    second = OwnChromium(own.house.home, tmp_path, own.browser.display)
    async with own.agent("Ann") as agent:
        await agent.show("<h1>Where it was</h1><input id=i>", title="Ann's")
        await agent.type("#i", "half-written")
        second.start()
        try:
            async with asyncio.timeout(60):
                while "another profile of it, is linked" not in (said := await _popup(second)):
                    pass
            assert "Quit that one" in said
            assert await agent.run("() => i.value") == "half-written"
            assert len(running_hosts(own.house.home, own.id)) == 2
            await asyncio.to_thread(own.browser.quit)
            await agent.wait_until_restored("Where it was")
            assert [tab["group"] for tab in await second.person(STRIP) if tab["group"]] == ["Ann"]
            async with asyncio.timeout(60):
                while "tabs in use" not in await _popup(second):
                    pass
        finally:
            second.kill()
            await own.start_again()


async def _popup(browser: OwnChromium) -> str:
    return str(await browser.popup("() => document.body.innerText"))
