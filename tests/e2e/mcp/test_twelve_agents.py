"""Twelve MCP clients with one broker and one Chromium: started at once, then one is killed, then
the broker."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from roost import ops
from roost.api.views import StatusView
from roost.local.processes import wait_until_gone
from roost.testing.waits import started
from tests.e2e.mcp.mcp_clients import SECONDS, Client, client, code_of
from tests.support.house import House, house_of
from tests.support.local_web import Web

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(240)]
AGENTS = 12
STORY_SECONDS = 200.0
FORM = "<h1>Page of agent {0}</h1><label>Note <input></label>"
NOTE = "() => document.querySelector('input').value"
NEVER = "() => new Promise(() => {})"


class Story:
    """The agents and what they do together, and an observer."""

    def __init__(self, house: House, web: Web) -> None:
        self.house = house
        self.web = web
        self.all_here = asyncio.Barrier(AGENTS + 1)
        self.victim_is_gone = asyncio.Event()
        self.others_ready = asyncio.Barrier(AGENTS)
        self.broker_is_dead = asyncio.Event()
        self.all_compared = asyncio.Barrier(AGENTS - 1)
        self.pids: dict[int, int] = {}

    async def agent(self, number: int) -> None:
        async with client(self.house.home) as me:
            await self._first_page(me, number)
            self.pids[number] = await me.pid()
            await self.all_here.wait()
            if number == 0:
                await self.victim_is_gone.wait()  # its shim is killed under it
                return
            await self._work_while_another_dies(me, number)
            await self._work_while_the_broker_dies(me, number)

    async def _first_page(self, me: Client, number: int) -> None:
        await me.text("browser_navigate", url=self.web.page(FORM.format(number)))
        snapshot = await me.text("browser_snapshot")
        assert f'heading "Page of agent {number}"' in snapshot
        assert snapshot.count("Page of agent") == 1
        await me.text("browser_type", target="input", text=f"note {number}")

    async def _work_while_another_dies(self, me: Client, number: int) -> None:
        while not self.victim_is_gone.is_set():
            assert f"Page of agent {number}" in await me.text("browser_snapshot")

    async def _work_while_the_broker_dies(self, me: Client, number: int) -> None:
        acting = await started(me.call("browser_evaluate", function=NEVER))
        tabs = await me.unmarked("browser_tabs", action="list")
        waiting = await started(me.text("browser_wait_for", time=2))
        await self.others_ready.wait()
        interrupted = await acting
        assert code_of(interrupted) == "INTERRUPTED"
        await waiting
        await self.broker_is_dead.wait()
        # The same tab, the same page, what was half filled in still there.
        assert await me.unmarked("browser_tabs", action="list") == tabs
        await self.all_compared.wait()  # the list counts the tabs of all agents that are still here
        assert f"note {number}" in await me.text("browser_evaluate", function=NOTE)
        changed = await me.text("browser_type", target="input", text=f"again {number}")
        assert f"again {number}" in changed

    async def watch(self) -> None:
        await self.all_here.wait()
        before = await self._status()
        assert len(before.sessions) == len(before.agents) == AGENTS
        assert {agent.pid for agent in before.agents} == set(self.pids.values())
        (browser,) = before.browsers
        assert browser.tabs == AGENTS

        (victim,) = [agent for agent in before.agents if agent.pid == self.pids[0]]
        after = await self._killed(victim.session)
        assert {session.id for session in after.sessions} == {
            session.id for session in before.sessions
        } - {victim.session}
        assert after.browsers[0].tabs == AGENTS - 1
        self.victim_is_gone.set()

        await self.others_ready.wait()
        broker = self.house.broker
        os.kill(broker.pid, signal.SIGKILL)
        assert await asyncio.to_thread(wait_until_gone, broker, SECONDS)
        self.broker_is_dead.set()

    async def _killed(self, session: str) -> StatusView:
        """Kill the victim's shim with kill -9. Return the status once its session has ended."""
        async with asyncio.timeout(SECONDS), self.house.operator() as operator:
            with operator.watch(session) as notices:
                await operator.call(ops.Ping())  # now it is watched
                os.kill(self.pids[0], signal.SIGKILL)
                async for notice in notices:
                    if notice.kind == "session_ended":
                        break
            return await operator.call(ops.Status())

    async def _status(self) -> StatusView:
        async with self.house.operator() as operator:
            return await operator.call(ops.Status())


async def _told(house: House, web: Web) -> None:
    story = Story(house, web)
    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for number in range(AGENTS):
            group.create_task(story.agent(number), name=f"agent {number}")
        await story.watch()


def test_twelve_agents_share_one_browser_and_outlive_each_other_and_the_broker(web: Web) -> None:
    with house_of("chromium", pool=AGENTS) as house:
        assert not house.home.endpoint.exists()
        asyncio.run(_told(house, web))
