"""Pages nobody here wrote: Debian's python3-doc, and the task pages of the miniwob package."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from roost import ops
from tests.support.local_web import Web
from tests.support.pages_house import Agent, House


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Requests are no news."""


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Path], str]]:
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        handler = functools.partial(QuietHandler, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def python_doc(serve: Callable[[Path], str]) -> str:
    found = sorted(Path("/usr/share/doc").glob("python3*/html/library/functions.html"))
    if not found:
        pytest.skip("python3-doc is not installed: sudo apt install python3-doc")
    return serve(found[0].resolve().parents[1])


@pytest.fixture(scope="module")
def miniwob(serve: Callable[[Path], str]) -> str:
    package = importlib.util.find_spec("miniwob")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the miniwob package is not installed: pip install --no-deps miniwob")
    return serve(Path(next(iter(package.submodule_search_locations))) / "html")


async def test_the_python_manual_is_read_searched_and_walked(
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


async def test_the_manuals_own_search_finds_what_is_typed(
    house: House, web: Web, python_doc: str
) -> None:
    async with house.agent(web) as agent:
        await agent.go(f"{python_doc}/search.html")
        await agent.type("input[name=q]:not([aria-hidden])", "zipfile", submit=True)
        assert "q=zipfile" in (await agent.tabs()).tabs[0].url
        await agent.wait(text="zipfile")


async def begun(agent: Agent, miniwob: str, task: str) -> str:
    """The task, and what it asks for."""
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
