"""What the panel shows the person, when it is updated, and what it omits."""

from __future__ import annotations

from pathlib import Path

from roost.api import operations as ops
from roost.api.door import Admission
from roost.broker.work.panels import composed
from roost.drivers.events import (
    PersonSaid,
)
from roost.drivers.panel import Panel, PanelLoop, PanelPool, PanelTab
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import turn
from roost.vocabulary import BrowserId

URL = "https://site.test/"


async def tab_of(agent: Admission) -> str:
    return (await agent.api.call(ops.Navigate(url=URL))).tab


async def shown(house: FakeHouse) -> Panel:
    await turn()
    assert house.person.panel is not None
    return house.person.panel


async def test_an_empty_house_is_shown_as_soon_as_it_is_built(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        assert await shown(house) == Panel(pool=PanelPool(0, 12))


async def test_sessions_tabs_pool_and_loops_are_shown(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await tab_of(agent)
        await agent.api.call(ops.LoopStart(prompt="go on", max_iterations=3))
        house.person.say(PersonSaid("pause", house.group_of(agent)))
        panel = await shown(house)
        (group,) = panel.groups
        assert (group.key, group.name, group.paused) == (house.group_of(agent), "tester", True)
        assert group.tabs == (PanelTab("site.test/", URL),)
        assert group.loop == PanelLoop(0, 3)
        assert panel.pool == PanelPool(1, 12)


async def test_secrets_in_addresses_are_not_shown(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await agent.api.call(ops.Navigate(url="https://site.test/?token=t0psecret"))
        assert "t0psecret" not in str(await shown(house))


async def test_a_waiting_session_is_shown(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True, pool=1) as house:
        ada, bob = await house.welcome(), house.admit()
        await tab_of(ada)
        await bob.api.call(ops.TabSpaceRequest())
        panel = await shown(house)
        assert [group.waits for group in panel.groups] == [False, True]


async def test_many_changes_in_one_turn_are_shown_once(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await shown(house)
        panels: list[Panel] = []
        house.driver.show = panels.append  # type: ignore[attr-defined]
        for _ in range(5):
            house.admit()
        await turn()
        assert [len(panel.groups) for panel in panels] == [5]


async def test_what_changes_nothing_for_the_person_is_not_shown_again(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await tab_of(agent)
        before = await shown(house)
        await agent.api.call(ops.Evaluate(function="() => 1"))
        assert await shown(house) is before


async def test_a_session_that_ended_is_shown_no_more_and_its_group_is_forgotten(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        agent = await house.welcome()
        await tab_of(agent)
        group = house.group_of(agent)
        assert group in house.person.groups
        house.door.leave(agent, goodbye=True)
        assert (await shown(house)).groups == ()
        assert group not in house.person.groups


async def test_other_browsers_are_not_shown_to_the_person(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        await tab_of(await house.welcome())
        assert composed(house.broker, BrowserId("chromium")) == Panel(pool=PanelPool(0, 12))


async def test_no_text_has_a_secret_of_the_person(tmp_path: Path) -> None:
    async with fake_house(tmp_path, has_person=True) as house:
        house.broker.redactor.register("mail", "c4nary-value")
        agent = await house.welcome()
        await agent.api.call(ops.Navigate(url="https://site.test/c4nary-value"))
        (group,) = (await shown(house)).groups
        (tab,) = group.tabs
        assert "c4nary" not in str(tab)
        assert "[secret mail]" in tab.title
        assert "[secret mail]" in tab.url
