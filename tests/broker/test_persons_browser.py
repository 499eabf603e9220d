"""A person's own browser, from an agent's call to the tab strip: the person is asked and
decides."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.door import Admission
from roost.api.views import SessionView
from roost.drivers.base import Report, RunningBrowser
from roost.drivers.events import (
    PersonAnswered,
    PersonSaid,
    TabMoved,
)
from roost.errors import BrowserLost, JarUnavailable, Paused, SessionGone, TabGone, Unauthorized
from roost.testing.house import FakeHouse, fake_house
from roost.testing.scene import next_notice
from roost.testing.waits import answer_of, error_of, started, turn, until
from roost.vocabulary import BrowserId, TabId
from roost.wire.hello import ClientKind

FAKE = BrowserId("fake")
URL = "https://site.test/"
NEVER = ops.Evaluate(function="() => new Promise(() => {})")
HREF = ops.Evaluate(function="() => location.href")


async def tab_of(agent: Admission) -> str:
    return (await agent.api.call(ops.Navigate(url=URL))).tab


async def tabs_of(api: BrokerApi) -> list[str]:
    return [tab.tab for tab in (await api.call(ops.Tabs(action="list"))).tabs]


# --- asked once ----------------------------------------------------------------------------------


async def test_calls_of_many_agents_wait_for_one_answer_and_touch_nothing_before(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await house.broker.browsers[FAKE].ready()
        agents = [house.admit() for _ in range(4)]
        calls = [await started(agent.api.call(ops.Navigate(url=URL))) for agent in agents]
        for call in calls:
            refusal = await error_of(Paused, call)
            assert "popup" in refusal.hint
        await turn()
        assert house.person.panel is not None
        label = house.label_of(agents[0])
        assert label.endswith(", called “tester”")
        assert house.person.panel.questions == (label,), "one program, one question"
        assert house.person.pages == {}
        house.person.say(PersonAnswered(label, True))
        for agent in agents:
            await tab_of(agent)
        await turn()
        panel = house.person.panel
        assert [(one.name, one.allow) for one in panel.answers] == [(label, True)]
        assert not panel.questions


async def test_an_agent_can_wait_for_the_persons_answer(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = house.admit()
        await house.broker.browsers[FAKE].ready()
        await error_of(Paused, agent.api.call(ops.Navigate(url=URL)))
        waiting = await started(agent.api.call(ops.SessionList(wait_seconds=60)))
        await turn()
        assert not waiting.done()
        house.person.say(PersonAnswered(house.label_of(agent), False))
        await answer_of(waiting)
        refusal = await error_of(Unauthorized, agent.api.call(ops.Navigate(url=URL)))
        assert "popup" in refusal.hint


async def test_another_program_of_the_same_name_is_asked_about_anew(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await tab_of(await house.welcome())
        another = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE)
        other = house.admit(pid=another.pid)
        await error_of(Paused, other.api.call(ops.Navigate(url=URL)))
        await another.communicate(b"")
        renamed = house.admit(replace(house.hello(), name="another name"))
        await tab_of(renamed)


async def test_an_answer_outlives_the_broker(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await house.welcome()
    async with fake_house(tmp_path, has_person=True) as house:
        await tab_of(house.admit())


async def test_cookies_of_the_persons_browser_are_refused_before_the_answer(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = house.admit()
        await house.broker.browsers[FAKE].ready()
        house.person.open_in(house.group_of(agent), url=URL)
        await error_of(Paused, agent.api.call(ops.Cookies(action="list")))


async def test_the_operators_own_calls_need_no_consent(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        operator = house.admit(house.hello(ClientKind.CLI)).api
        session = await operator.call(ops.SessionOpen(session="mine", url=URL))
        assert len(session.tabs) == 1


# --- the tab strip -------------------------------------------------------------------------------


async def test_a_session_is_a_group_with_its_name_and_colour(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        tab = await tab_of(agent)
        key = house.person.strip[house.handle(tab)]
        session = house.state.sessions[house.state.agents[agent.agent].own_session]
        group = house.person.groups[key]
        assert (group.title, group.color) == (session.name, session.color)


async def test_a_call_under_way_on_a_tab_that_is_moved_is_answered_with_what_happened(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        ada, bob = await house.welcome(), house.admit()
        tab, _ = await tab_of(ada), await tab_of(bob)
        handle = house.handle(tab)
        call = await started(ada.api.call(NEVER))
        await turn()
        house.person.move(handle, None)
        refusal = await error_of(TabGone, call)
        assert "person moved" in refusal.message
        assert handle in house.person.pages, "the page stays open"


async def test_a_tab_moved_between_groups_serves_the_new_session_and_no_longer_the_old(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        ada, bob = await house.welcome(), house.admit()
        first, _ = await tab_of(ada), await tab_of(bob)
        with ada.api.watch() as told_ada, bob.api.watch() as told_bob:
            house.person.move(house.handle(first), house.group_of(bob))
            assert (await next_notice(told_ada, "tab_moved")).data["tab"] == first
            mine = (await next_notice(told_bob, "tab_moved")).data["tab"]
        assert mine in await tabs_of(bob.api)
        assert await tabs_of(ada.api) == []
        await error_of(TabGone, ada.api.call(HREF))
        await error_of(TabGone, ada.api.call(ops.Evaluate(function="() => 1", tab=mine)))
        assert (await bob.api.call(ops.Evaluate(function="() => 1", tab=mine))).value == 1


async def test_a_tab_moved_before_its_opening_was_heard_of_is_where_the_person_put_it(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        ada, bob = await house.welcome(), house.admit()
        await tab_of(bob)
        opening = house.driver.open_tab

        async def moved_at_once(jar, group=None):  # type: ignore[no-untyped-def]
            handle = await opening(jar, group)
            house.person.strip[handle] = house.group_of(bob)
            assert house.person.report is not None
            house.person.report(TabMoved(handle, house.group_of(bob)))
            return handle

        house.driver.open_tab = moved_at_once  # type: ignore[method-assign]
        await error_of(TabGone, ada.api.call(ops.Navigate(url=URL)))
        assert len(await tabs_of(bob.api)) == 2
        assert await tabs_of(ada.api) == []


async def test_closing_the_group_ends_the_session_and_the_agent_goes_on_in_a_fresh_group(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await tab_of(agent)
        was = house.group_of(agent)
        with agent.api.watch() as told:
            house.person.close_group(was)
            assert "group" in (await next_notice(told, "session_ended")).data["why"]
        assert "Open a page" in (await error_of(SessionGone, agent.api.call(HREF))).hint
        tab = await tab_of(agent)
        assert house.person.strip[house.handle(tab)] not in (was, None)


async def test_a_tab_the_person_opens_in_the_group_is_listed_and_not_current(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        tab = await tab_of(agent)
        house.person.open_in(house.group_of(agent), url="https://site.test/theirs")
        view = await agent.api.call(ops.Tabs(action="list"))
        assert [(one.url, one.current) for one in view.tabs] == [
            (URL, True),
            ("https://site.test/theirs", False),
        ]
        assert view.current == tab


async def test_no_operation_reaches_a_tab_of_the_persons_own(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await tab_of(agent)
        own = house.person.open_page("default", url="https://bank.test/")
        assert len(house.state.tabs) == 1
        operator = house.admit(house.hello(ClientKind.CLI)).api
        status = await operator.call(ops.Status())
        assert own.url not in str(status)
        assert status.browsers[0].tabs == 1, "the person's tabs do not count"


# --- pause, resume, end --------------------------------------------------------------------------


async def test_the_person_pauses_and_resumes_where_they_see_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await tab_of(agent)
        house.person.say(PersonSaid("pause"))
        await error_of(Paused, agent.api.call(HREF))
        waiting = await started(agent.api.call(ops.SessionList(wait_seconds=60)))
        house.person.say(PersonSaid("resume", house.group_of(agent)))
        await answer_of(waiting)
        await agent.api.call(HREF)
        house.person.say(PersonSaid("end", house.group_of(agent)))
        await error_of(SessionGone, agent.api.call(HREF))
        await until(lambda: not house.person.strip)


# --- out of sight --------------------------------------------------------------------------------


async def test_a_disconnected_browser_is_an_error_at_once_and_its_tabs_are_found_again(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        tab = await tab_of(agent)
        call = await started(agent.api.call(NEVER))
        await turn()
        for new_ids in (True, False):
            house.driver.failing = BrowserLost("It is closed.")
            house.driver.lose(new_ids=new_ids)  # type: ignore[attr-defined]
            await error_of(BrowserLost, call)
            await error_of(BrowserLost, agent.api.call(HREF))
            house.driver.failing = None
            opened = house.driver.asked
            assert (await agent.api.call(HREF)).value == URL
            assert house.driver.asked == opened, "its tab was not opened twice"
            assert list(house.person.strip) == [house.handle(tab)]
            call = await started(agent.api.call(NEVER))
            await turn()
        call.cancel()
        await asyncio.wait({call})


async def test_tabs_that_the_browser_did_not_bring_back_are_opened_again_in_their_group(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        tab = await tab_of(agent)
        house.driver.kill()
        assert (await agent.api.call(HREF)).value == URL
        assert house.person.strip == {house.handle(tab): house.group_of(agent)}


async def test_a_moved_tabs_cookies_stay_with_the_jar_it_came_from(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        bob = await house.welcome()
        session = await bob.api.call(ops.SessionOpen(session="apart", jar="fresh", url=URL))  # type: ignore[arg-type]
        await tab_of(bob)
        apart = session.tabs[0].tab
        house.person.move(house.broker.handle(TabId(apart)), house.group_of(bob))
        (moved,) = [tab for tab in await tabs_of(bob.api) if tab != apart][-1:]
        await error_of(JarUnavailable, bob.api.call(ops.Cookies(action="list", tab=moved)))


# --- which browser is mine -----------------------------------------------------------------------


async def test_mine_is_the_persons_browser_that_is_linked(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        refusal = await error_of(BrowserLost, _opened(house, browser="mine"))
        assert "roost install extension" in refusal.hint
        await house.broker.browsers[FAKE].ready()
        assert (await _opened(house, browser="mine")).browser == FAKE


async def test_mine_is_the_browser_of_a_named_session_that_is_there_already(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await _opened(house, browser="fake")
        assert (await _opened(house, browser="mine")).browser == FAKE, "linked or not"


async def test_an_agent_that_wants_mine_is_admitted_before_the_browser_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_not_linked(report: Report) -> RunningBrowser:
        raise BrowserLost("Your own browser is not linked.", hint="Start it.")

    async with fake_house(tmp_path, has_person=True) as house:
        await house.welcome()
        with monkeypatch.context() as until_it_links:
            until_it_links.setattr(house.driver, "start", is_not_linked)
            house.driver.kill()
            agent = house.admit(replace(house.hello(), browser="mine"))
            assert (await agent.api.call(ops.SessionList())).sessions[0].browser == FAKE
            refusal = await error_of(BrowserLost, agent.api.call(ops.Navigate(url=URL)))
            assert refusal.hint == "Start it."
        assert (await agent.api.call(ops.Navigate(url=URL))).url == URL


async def test_while_the_persons_browser_is_not_connected_an_agent_gets_browser_lost(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = house.admit(replace(house.hello(), browser="mine"))
        await error_of(BrowserLost, agent.api.call(ops.Navigate(url=URL)))
        await house.broker.browsers[FAKE].ready()
        await error_of(Paused, agent.api.call(ops.Navigate(url=URL)))


async def test_an_agent_that_wants_mine_is_refused_if_there_is_no_personal_browser(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        with pytest.raises(BrowserLost):
            house.admit(replace(house.hello(), browser="mine"))


async def test_a_session_names_its_group_once_it_has_a_tab(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        (before,) = (await agent.api.call(ops.SessionList())).sessions
        await tab_of(agent)
        (after,) = (await agent.api.call(ops.SessionList())).sessions
        assert (before.group, after.group) == (None, house.group_of(agent))


async def _opened(house: FakeHouse, browser: str) -> SessionView:
    operator = house.admit(house.hello(ClientKind.CLI)).api
    return await operator.call(ops.SessionOpen(session="work", browser=browser))


async def test_a_session_opened_again_without_a_browser_is_found_where_it_is(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await house.broker.browsers[FAKE].ready()
        agent = house.admit(replace(house.hello(), browser="mine"))
        first = await agent.api.call(ops.SessionOpen(session="apart", browser="fake"))
        again = await agent.api.call(ops.SessionOpen(session="apart"))
        assert (again.id, again.browser) == (first.id, FAKE)
