"""Twelve sessions work at the same time. Every answer carries only its own session's mark."""

from __future__ import annotations

import asyncio
import os
import random
import re

import pytest

from roost import ops
from tests.support.agent import Agent
from tests.support.house import House
from tests.support.local_web import Web

SESSIONS = 12
OPERATIONS = 10_000 if os.environ.get("ROOST_SOAK") else 150
PATIENCE_SECONDS = 60.0
"""Twelve browsers' worth of work at once; on a busy machine a single call may take its time."""
MARK = re.compile(r"mark-\d+")
PAGE = """
<h1>{mark}</h1><label>Field <input value={mark}></label>
<button onclick="console.log('{mark}'); out.textContent = '{mark} ' + ++n">Press {mark}</button>
<p id=out>{mark} 0</p><script>n = 0; document.cookie = 'mark={mark}'</script>
<iframe srcdoc="<p>{mark} inside</p>"></iframe>
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_answer_contains_another_sessions_mark(house: House, web: Web) -> None:
    """Run 150 operations; ``make soak`` runs 10,000. The test has its own loop, without the usual
    time limit."""
    asyncio.run(_all_at_once(house, web))


async def _all_at_once(house: House, web: Web) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(SESSIONS):
            group.create_task(_work(house, web, f"mark-{number}", OPERATIONS // SESSIONS))


async def _work(house: House, web: Web, mark: str, times: int) -> None:
    chance = random.Random(mark)
    url = web.page(PAGE.format(mark=mark), title=mark, path=f"/{mark}")
    async with house.agent(web) as agent:
        agent.patience = PATIENCE_SECONDS
        await agent.go(url)
        pressed = 0
        for _ in range(times):
            doing = chance.choice(ACTIONS)
            if doing is _press:
                pressed += 1
            elif doing is _reload:
                pressed = 0
            said = await doing(agent, mark)
            assert set(MARK.findall(said)) == {mark}, (doing, said)
        assert await agent.run("() => n") == pressed, "no press of anybody else's arrived here"


async def _press(agent: Agent, mark: str) -> str:
    done = await agent.click("button")
    return done.model_dump_json()


async def _type(agent: Agent, mark: str) -> str:
    return (await agent.type("input", mark + " typed")).model_dump_json()


async def _read(agent: Agent, mark: str) -> str:
    return await agent.snapshot()


async def _find(agent: Agent, mark: str) -> str:
    return (await agent.call(ops.Find(regex=r"mark-\d+"))).model_dump_json()


async def _evaluate(agent: Agent, mark: str) -> str:
    return str(await agent.run("() => [document.cookie, document.title, location.href]"))


async def _console(agent: Agent, mark: str) -> str:
    return (await agent.call(ops.ConsoleMessages())).model_dump_json() + mark


async def _network(agent: Agent, mark: str) -> str:
    return (await agent.call(ops.NetworkRequests())).model_dump_json()


async def _picture(agent: Agent, mark: str) -> str:
    picture = await agent.call(ops.TakeScreenshot(annotate=True, scale=0.1))
    return str(picture.labels)


async def _reload(agent: Agent, mark: str) -> str:
    return (await agent.call(ops.Reload())).model_dump_json()


async def _tabs(agent: Agent, mark: str) -> str:
    return (await agent.tabs()).model_dump_json()


async def _content(agent: Agent, mark: str) -> str:
    return (await agent.call(ops.GetContent(format="markdown"))).model_dump_json()


ACTIONS = [
    _press, _press, _type, _read, _read, _find, _evaluate, _console, _network, _picture, _reload,
    _tabs, _content,
]  # fmt: skip
