"""One broker runs a Chromium and a Firefox at the same time. A session names its browser."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from roost import ops
from roost.errors import Unsupported
from tests.support.agent import refused
from tests.support.house import START_SECONDS, House, house_of
from tests.support.local_web import Web

AGENT = "() => navigator.userAgent.match(/Firefox|Chrome/)[0]"


@pytest.fixture(scope="module")
def both() -> Iterator[House]:
    """Start a Roost with Chromium as its default. Firefox starts when it is first used."""
    with house_of("chromium") as house:
        house.start()
        house.start_browser("firefox")
        yield house


def roost(house: House, *arguments: str) -> Any:
    """Run the command as a person does, and return its answer."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "roost", *arguments, "--json", "--operator"],
        env={"PATH": os.environ["PATH"], "ROOST_HOME": str(house.home.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def test_an_agent_chooses_the_browser_of_its_session(both: House, web: Web) -> None:
    async with both.agent(web) as first, both.agent(web, browser="firefox") as second:
        await first.show("<h1>First</h1>")
        await second.show("<h1>Second</h1>")
        assert (await first.run(AGENT), await second.run(AGENT)) == ("Chrome", "Firefox")
        await first.run("() => { document.cookie = 'who=first' }")
        assert await second.run("() => document.cookie") == ""
        assert "Second" in await second.snapshot()


async def test_the_command_line_opens_sessions_in_either_browser(both: House, web: Web) -> None:
    page = web.page("<h1>By hand</h1>", title="By hand")
    for browser in ("firefox", "chromium"):
        options = ["--session", f"in-{browser}", "--browser", browser, "--url", page]
        opened = roost(both, "session", "open", *options)
        assert (opened["browser"], opened["tabs"][0]["url"]) == (browser, page)
    status = roost(both, "status")
    assert {browser["kind"] for browser in status["browsers"]} == {"chromium", "firefox"}
    assert all(browser["tabs"] >= 1 for browser in status["browsers"])
    for browser in ("firefox", "chromium"):
        roost(both, "session", "dispose", f"in-{browser}")


async def test_only_its_own_sessions_notice_that_a_browser_died(both: House, web: Web) -> None:
    async with both.agent(web) as first, both.agent(web, browser="firefox") as second:
        await first.show("<input id=i>")
        await first.type("#i", "still here")
        await second.show("<h1>Comes back</h1>")
        os.kill(await both.browser_pid("firefox"), signal.SIGKILL)
        assert await first.run("() => i.value") == "still here"
        await second.wait_until_restored("Comes back")
        assert await second.run(AGENT) == "Firefox"


async def test_an_unknown_browser_is_refused(both: House, web: Web) -> None:
    async with both.agent(web) as agent:
        await refused(Unsupported, agent.call(ops.SessionOpen(browser="netscape")))
