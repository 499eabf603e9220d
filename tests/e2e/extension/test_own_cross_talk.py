"""Eight agents and three tabs of the person in one window: no operation reaches a tab of another
session, and the person's selected tab stays selected."""

from __future__ import annotations

import asyncio
import os
import random
import re

import pytest

from roost import ops
from tests.e2e.extension.own_house import OwnHouse
from tests.support.agent import Agent

AGENTS = 8
OPERATIONS = 2000 if os.environ.get("ROOST_SOAK") else 12
"""Of each agent."""
PATIENCE_SECONDS = 60.0
MARK = re.compile(r"mark-\d+")
PAGE = """
<h1>{mark}</h1><label>Field <input value={mark}></label>
<button onclick="console.log('{mark}'); out.textContent = '{mark} ' + ++n">Press {mark}</button>
<p id=out>{mark} 0</p><script>n = 0; window.name = '{mark}'</script>
"""


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_no_operation_reaches_a_tab_that_is_not_its_sessions(mine: OwnHouse) -> None:
    """The test has its own loop, without the usual time limit."""
    asyncio.run(_all_at_once(mine))


async def _all_at_once(own: OwnHouse) -> None:
    before = await _persons_tabs(own)
    await own.browser.watch_front()
    async with asyncio.TaskGroup() as group:
        for number in range(AGENTS):
            group.create_task(_work(own, f"mark-{number}"))
    assert await own.browser.came_to_front() == []
    assert await _persons_tabs(own) == before, "where and as they were, and untouched"


async def _persons_tabs(own: OwnHouse) -> dict[str, tuple[str, bool]]:
    strip = [tab for tab in await own.strip() if tab["url"] in own.pages]
    assert len(strip) == len(own.pages)
    return {tab["url"]: (tab["title"], tab["active"]) for tab in strip}


async def _work(own: OwnHouse, mark: str) -> None:
    chance = random.Random(mark)
    url = own.web.page(PAGE.format(mark=mark), title=mark, path=f"/own-{mark}")
    async with own.agent(mark) as agent:
        agent.patience = PATIENCE_SECONDS
        await agent.go(url)
        pressed = 0
        for _ in range(OPERATIONS):
            doing = chance.choice(ACTIONS)
            pressed += doing is _press
            said = await doing(agent, mark)
            assert set(MARK.findall(said)) == {mark}, (doing, said)
        assert await agent.run("() => n") == pressed, "no press of anybody else's arrived here"


async def _press(agent: Agent, mark: str) -> str:
    return (await agent.click("button")).model_dump_json()


async def _type(agent: Agent, mark: str) -> str:
    return (await agent.type("input", mark + " typed")).model_dump_json()


async def _read(agent: Agent, mark: str) -> str:
    return await agent.snapshot()


async def _evaluate(agent: Agent, mark: str) -> str:
    return str(await agent.run("() => [window.name, document.title, location.href]"))


async def _console(agent: Agent, mark: str) -> str:
    return (await agent.call(ops.ConsoleMessages())).model_dump_json() + mark


async def _picture(agent: Agent, mark: str) -> str:
    picture = await agent.call(ops.TakeScreenshot(annotate=True, scale=0.1))
    return str(picture.labels)


async def _tabs(agent: Agent, mark: str) -> str:
    return (await agent.tabs()).model_dump_json()


ACTIONS = [_press, _press, _type, _read, _evaluate, _console, _picture, _tabs]
