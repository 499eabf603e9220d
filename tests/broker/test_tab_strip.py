"""After any sequence of actions and restarts, each tab belongs to the session whose group shows
it."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roost.api import operations as ops
from roost.api.door import Admission
from roost.core.rows import TabState
from roost.drivers.events import (
    PersonAnswered,
)
from roost.drivers.fake import GroupedBrowser, GroupedDriver
from roost.errors import RoostError
from roost.local.lineage import description
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import SECONDS, until
from roost.vocabulary import BrowserId, TabHandle

T = TypeVar("T")
FAKE = BrowserId("fake")
POOL = 4


class Story:
    """A sequence of houses in one folder, on one browser that a person uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.browser = GroupedBrowser()
        self.agents: list[Admission] = []
        self.visits = 0
        self.house: FakeHouse
        self._open = AsyncExitStack()

    async def begin(self) -> None:
        house = fake_house(self.folder, browser=self.browser, has_person=True, pool=POOL)
        self.house = await self._open.enter_async_context(house)
        await self.house.broker.browsers[FAKE].ready()
        here = description(os.getpid())
        self.browser.say(PersonAnswered(f"{here}, called “tester”", True))

    async def end(self) -> None:
        await self._open.aclose()

    async def settled(self) -> None:
        """Wait until all pending work is done."""
        await until(lambda: not len(self.house.broker.tasks))

    def check(self) -> None:
        state = self.house.state
        owned = {
            tab.handle: state.sessions[tab.session].group
            for tab in state.tabs.values()
            if tab.handle is not None and tab.session is not None
        }
        assert owned == self.browser.strip
        assert all(tab.state is not TabState.LOST for tab in state.tabs.values())
        tabs = sum(tab.holds_slot for tab in state.tabs.values())
        assert state.pool(FAKE).held == tabs, "the person's own tabs do not count"

    # --- what may happen -----------------------------------------------------------------------

    def group(self, pick: int) -> str | None:
        groups = [session.group for session in self.house.state.sessions.values()]
        return one_of([*groups, None], pick)

    async def an_agent_comes(self, one: int, other: int) -> None:
        self.agents.append(self.house.admit())

    async def an_agent_leaves(self, one: int, other: int) -> None:
        agent = one_of(self.agents, one)
        if agent is not None:
            self.agents.remove(agent)
            self.house.door.leave(agent, goodbye=True)

    async def an_agent_opens_a_tab(self, one: int, other: int) -> None:
        agent = one_of(self.agents, one)
        if agent is not None:
            self.visits += 1
            url = f"https://site.test/{other % 3}"
            with suppress(RoostError):
                await agent.api.call(ops.Tabs(action="new", url=url))

    async def an_agent_closes_a_tab(self, one: int, other: int) -> None:
        agent = one_of(self.agents, one)
        if agent is not None:
            with suppress(RoostError):
                await agent.api.call(ops.Close())

    async def a_page_opens_a_popup(self, one: int, other: int) -> None:
        page = one_of(list(self.browser.strip), one)
        if page is not None:
            jar = self.browser.pages[page].jar
            self.browser.open_page(jar, opener=page, url="https://site.test/popup")

    async def the_person_moves_a_tab(self, one: int, other: int) -> None:
        """Move a tab of a group or of the person."""
        page = one_of(list(self.browser.pages), one)
        if page is not None:
            self.browser.move(page, self.group(other))

    async def the_person_opens_a_tab(self, one: int, other: int) -> None:
        group = self.group(one)
        if group is None:
            self.browser.open_page("default", url="https://own.test/")
        else:
            self.browser.open_in(group, url=f"https://own.test/{other % 3}")

    async def the_person_closes_a_tab(self, one: int, other: int) -> None:
        page = one_of(list(self.browser.pages), one)
        if page is not None:
            self.browser.close_page(page)

    async def the_person_closes_a_group(self, one: int, other: int) -> None:
        group = one_of(sorted(set(self.browser.strip.values())), one)
        if group is not None:
            self.browser.close_group(group)

    async def the_browser_comes_back(self, one: int, other: int) -> None:
        driver = self.house.driver
        assert isinstance(driver, GroupedDriver)
        driver.lose(new_ids=bool(one % 2))
        for page in list(self.browser.strip)[: other % 3]:  # not everything comes back
            lost = self.browser.pages.pop(page)
            del self.browser.strip[TabHandle(lost.handle)]
        await self.house.broker.browsers[FAKE].ready()

    async def the_broker_comes_back(self, one: int, other: int) -> None:
        """Start a new broker, after the person did something while none was running."""
        await self.end()
        self.agents = []
        page = one_of(list(self.browser.strip), one)
        if page is not None:
            self.browser.strip[page] = one_of(sorted(self.browser.strip.values()), other) or ""
        await self.begin()


ACTS = [name for name in vars(Story) if name.startswith(("a_", "an_", "the_"))]


BEGINNING = [
    ("an_agent_comes", 0, 0),
    ("an_agent_comes", 0, 0),
    ("an_agent_opens_a_tab", 0, 0),
    ("an_agent_opens_a_tab", 1, 1),
]


def one_of(items: list[T], pick: int) -> T | None:
    return items[pick % len(items)] if items else None


async def played(acts: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        story = Story(Path(folder))
        await story.begin()
        try:
            for name, one, other in [*BEGINNING, *acts]:
                async with asyncio.timeout(SECONDS):
                    await getattr(story, name)(one, other)
                    await story.settled()
                story.check()
        finally:
            await story.end()


PICK = st.integers(0, 11)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
@given(st.lists(st.tuples(st.sampled_from(ACTS), PICK, PICK), min_size=10, max_size=30))
def test_ownership_in_the_broker_is_what_the_tab_strip_shows(
    acts: list[tuple[str, int, int]],
) -> None:
    asyncio.run(played(acts))
