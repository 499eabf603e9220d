"""Agents and the person act in a real browser in random order: for the broker, a tab belongs to the
session whose group shows it.

Longer sequences run on the fake browser, in tests/broker.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from roost import ops
from tests.e2e.extension.own_house import OwnHouse
from tests.support.agent import Agent

pytestmark = pytest.mark.timeout(300)
STEPS = 10
SECONDS = 30.0
Strip = dict[str, list[str]]

MOVE = """async (id, title) => {
    const api = globalThis.browser ?? chrome;
    const [group] = title === null ? [] : await api.tabGroups.query({ title });
    if (group === undefined) await api.tabs.ungroup(id);
    else await api.tabs.group({ groupId: group.id, tabIds: [id] });
}"""
OPEN = """async (url, title) => {
    const api = globalThis.browser ?? chrome;
    const tab = await api.tabs.create({ url, active: false });
    const [group] = await api.tabGroups.query({ title });
    if (group !== undefined) await api.tabs.group({ groupId: group.id, tabIds: [tab.id] });
}"""
CLOSE = "(ids) => (globalThis.browser ?? chrome).tabs.remove(ids)"


class Story:
    def __init__(self, own: OwnHouse, agents: dict[str, Agent], die: random.Random) -> None:
        self.own, self.agents, self.die = own, agents, die

    async def shown(self) -> Strip:
        return _sorted((tab["group"], tab["url"]) for tab in await self.own.strip())

    async def owned(self) -> Strip:
        async with self.own.house.operator() as operator:
            sessions = (await operator.call(ops.Status())).sessions
        here = [session for session in sessions if session.browser == self.own.id]
        return _sorted((session.name, tab.url) for session in here for tab in session.tabs)

    async def agree(self, after: str) -> None:
        """Wait until the broker and the tab strip agree."""
        try:
            async with asyncio.timeout(SECONDS):
                while await self.owned() != await self.shown():
                    pass
        except TimeoutError:
            pytest.fail(f"after {after}: {await self.owned()} is not {await self.shown()}")

    async def tabs(self) -> list[dict[str, Any]]:
        return [tab for tab in await self.own.strip() if tab["group"] in self.agents]

    # --- what may happen -----------------------------------------------------------------------

    async def an_agent_opens_a_tab(self) -> None:
        name = self.die.choice(list(self.agents))
        await self.agents[name].open(self.own.web.page(f"Of {name}"))

    async def the_person_moves_a_tab(self) -> None:
        tabs = await self.tabs()
        if tabs:
            group = self.die.choice([*self.agents, None])
            await self.own.person(MOVE, self.die.choice(tabs)["id"], group)

    async def the_person_opens_a_tab(self) -> None:
        group = self.die.choice(list(self.agents))
        await self.own.person(OPEN, self.own.web.page("Theirs"), group)

    async def the_person_closes_a_tab(self) -> None:
        tabs = await self.tabs()
        if tabs:
            await self.own.person(CLOSE, [self.die.choice(tabs)["id"]])

    async def the_person_closes_a_group(self) -> None:
        tabs = await self.tabs()
        if tabs:
            group = self.die.choice(tabs)["group"]
            await self.own.person(CLOSE, [tab["id"] for tab in tabs if tab["group"] == group])

    async def it_restarts(self) -> None:
        await asyncio.to_thread(self.own.browser.quit)
        await self.own.start_again()


ACTS = [name for name in vars(Story) if name.startswith(("an_", "the_"))]


def _sorted(pairs: Any) -> Strip:
    """Return addresses by group. Tabs outside all groups do not count."""
    found: Strip = {}
    for group, url in pairs:
        if group is not None:
            found.setdefault(group, []).append(url)
    return {group: sorted(urls) for group, urls in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8])
async def test_ownership_in_the_broker_is_what_the_tab_strip_shows(
    mine: OwnHouse, seed: int
) -> None:
    async with mine.agent("Ann") as ann, mine.agent("Bob") as bob:
        story = Story(mine, {"Ann": ann, "Bob": bob}, random.Random(seed))
        acts = ["an_agent_opens_a_tab"] * 3 + [story.die.choice(ACTS) for _ in range(STEPS)]
        acts.insert(story.die.randrange(3, len(acts)), "it_restarts")
        for act in acts:
            await getattr(story, act)()
            await story.agree(after=act)
        assert await mine.active() == mine.pages[0], "the person's tab stayed in front"
        others = [tab for tab in await mine.strip() if tab["url"] not in mine.pages]
        await mine.person(CLOSE, [tab["id"] for tab in others if tab["url"].startswith("http")])
