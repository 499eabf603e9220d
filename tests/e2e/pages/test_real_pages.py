"""Pages written by others: Debian's python3-doc, and the task pages of the miniwob package."""

from __future__ import annotations

import re

from roost import ops
from tests.support.agent import Agent
from tests.support.house import House
from tests.support.local_web import Web


async def test_the_python_manual_can_be_read_searched_and_browsed(
    house: House, web: Web, python_doc: str
) -> None:
    async with house.agent(web) as agent:
        arrived = await agent.go(f"{python_doc}/library/functions.html")
        assert "Built-in Functions" in arrived.title
        read = await agent.call(ops.Snapshot())
        assert read.truncated
        assert len(read.snapshot) <= 20_000
        found = await agent.call(ops.Find(text="isinstance"))
        assert found.total > 1
        content = (await agent.call(ops.GetContent(format="markdown"))).text
        assert "Return the absolute value" in content
        await agent.click("a[href='#enumerate']")
        assert (await agent.tabs()).tabs[0].url.endswith("#enumerate")
        await agent.go(f"{python_doc}/index.html")
        done = await agent.click("text=Tutorial")
        assert "/tutorial/" in done.url
        await agent.call(ops.NavigateBack())
        picture = await agent.call(ops.TakeScreenshot(full_page=True, scale=0.2))
        assert picture.height > 100


async def test_the_manuals_own_search_finds_the_typed_text(
    house: House, web: Web, python_doc: str
) -> None:
    async with house.agent(web) as agent:
        await agent.go(f"{python_doc}/search.html")
        await agent.type("input[name=q]:not([aria-hidden])", "zipfile", submit=True)
        assert "q=zipfile" in (await agent.tabs()).tabs[0].url
        await agent.wait(text="zipfile")


async def begun(agent: Agent, miniwob: str, task: str) -> str:
    """Start the task, and return what it asks for."""
    await agent.go(f"{miniwob}/miniwob/{task}.html")
    await agent.run("() => { core.EPISODE_MAX_TIME = 1e9; core.startEpisodeReal() }")
    return str(await agent.run("() => document.querySelector('#query').innerText"))


async def reward(agent: Agent) -> float:
    found = await agent.run("() => WOB_RAW_REWARD_GLOBAL")
    assert isinstance(found, int | float)
    return found


async def test_task_pages_are_solved_by_reading_and_acting(
    house: House, web: Web, miniwob: str
) -> None:
    async with house.agent(web) as agent:
        await begun(agent, miniwob, "click-test")
        await agent.click("text=Click Me!")
        assert await reward(agent) > 0

        asked = await begun(agent, miniwob, "click-button")
        wanted = _quoted(asked)
        snapshot = await agent.snapshot()
        line = next(one for one in snapshot.splitlines() if f'button "{wanted}"' in one)
        await agent.click(_ref(line))
        assert await reward(agent) > 0

        asked = await begun(agent, miniwob, "enter-text")
        await agent.type("#tt", _quoted(asked))
        await agent.click("#subbtn")
        assert await reward(agent) > 0

        asked = await begun(agent, miniwob, "choose-list")
        wanted = asked.removeprefix("Select ").split(" from the list")[0]
        await agent.call(ops.SelectOption(target="#options", values=[wanted]))
        await agent.click("button")
        assert await reward(agent) > 0

        asked = await begun(agent, miniwob, "enter-password")
        password = _quoted(asked)
        await agent.type("#password", password)
        await agent.type("#verify", password)
        await agent.click("#subbtn")
        assert await reward(agent) > 0

        asked = await begun(agent, miniwob, "enter-date")
        month, day, year = re.findall(r"\d+", asked)[:3]
        await agent.fill("#tt", f"{year}-{month}-{day}")
        await agent.click("#subbtn")
        assert await reward(agent) > 0


def _quoted(asked: str) -> str:
    found = re.search(r'"([^"]+)"', asked)
    assert found is not None, asked
    return found.group(1)


def _ref(line: str) -> str:
    return line.split("[ref=")[1].split("]")[0]
