"""A named session keeps its jar and its tabs when the agent, the broker or the browser is
killed."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress

import pytest

from roost import ops
from roost.errors import BrowserLost
from roost.vocabulary import JarPolicy
from tests.support.agent import Agent
from tests.support.house import START_SECONDS, House
from tests.support.local_web import Web

STATE = "() => [document.cookie, localStorage.k, location.pathname]"
KEEP = '() => { document.cookie = "mine=1; max-age=600"; localStorage.setItem("k", "v"); }'


LOOKS, LOOK_AGAIN_SECONDS = 200, 0.1
TRIES = 50


async def _until_kept(house: House, *words: str) -> None:
    """Wait until the broker has backed up the jar, which it does a moment after an action."""
    for _ in range(LOOKS):
        kept = house.backups()
        if all(word.encode() in kept for word in words):
            return
        await asyncio.to_thread(threading.Event().wait, LOOK_AGAIN_SECONDS)
    raise AssertionError(f"not kept: {kept!r}")


async def _after_the_browser(agent: Agent, tab: str | None) -> object:
    """Calls that were running get ``BROWSER_LOST``; the next ones wait for the tab."""
    for _ in range(TRIES):
        with suppress(BrowserLost):
            evaluate = ops.Evaluate(function=STATE, tab=tab)
            return (await agent.call(evaluate, timeout=START_SECONDS)).value
    raise AssertionError("the browser did not come back")


@pytest.mark.timeout(240)
async def test_a_named_session_survives_agent_broker_and_browser(
    own_house: House, web: Web
) -> None:
    house = own_house
    page = web.page("<p>here", path="/here")
    source_text = "127.0.0.1\tFALSE\t/\tFALSE\t2000000000\tlogin\tof-the-profile\n"
    expected = ["login=of-the-profile; mine=1", "v", "/here"]
    (house.work / "cookies.txt").write_text(source_text)
    async with house.operator() as operator:
        source = str(house.work / "cookies.txt")
        await operator.call(ops.ProfileImport(source=source, name="work"))
    named = {"session": "shop", "jar": JarPolicy.CLONE, "profile": "work"}
    async with house.agent(web, **named) as agent:
        await agent.go(page)
        await agent.run(KEEP)
        tab = (await agent.tabs()).current

    async with house.agent(web, session="shop") as again:
        assert [one.tab for one in (await again.tabs()).tabs] == [tab]
        assert await again.run(STATE, tab=tab) == expected, "the agent went and came back"

        house.kill_broker()
        assert [one.tab for one in (await again.tabs()).tabs] == [tab]
        assert await again.run(STATE, tab=tab) == expected, "the broker was killed"

        await _until_kept(house, "of-the-profile", '"mine"', '"k"')
        os.kill(await house.browser_pid(), signal.SIGKILL)
        assert await _after_the_browser(again, tab) == expected, "the browser was killed"
        assert [one.tab for one in (await again.tabs()).tabs] == [tab]
