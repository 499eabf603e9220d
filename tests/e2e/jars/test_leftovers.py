"""After sessions were opened, disposed, cloned and killed in a real browser, nothing is left in it.

The long sequences run on the fake browser (tests/broker/browser/test_jar_sequences.py).
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from contextlib import suppress

import pytest

from roost import ops
from roost.api.operations import Answers
from roost.api.views import View
from roost.drivers.base import RunningBrowser
from roost.errors import RoostError
from roost.local.processes import identify, wait_until_gone
from roost.testing.waits import started
from roost.vocabulary import JarPolicy
from tests.drivers.managed_harness import ChromiumUnderTest, FirefoxUnderTest
from tests.support.agent import WAIT_SECONDS, Agent
from tests.support.house import START_SECONDS, House
from tests.support.local_web import Web

SEED, ROUNDS, NAMES, SITES = 6, 8, 4, 50
DRIVERS: dict[str, type[ChromiumUnderTest | FirefoxUnderTest]] = {
    "chromium": ChromiumUnderTest,
    "firefox": FirefoxUnderTest,
}


async def _imported(house: House) -> None:
    source = house.work / "cookies.txt"
    lines = [f"s{n}.example\tFALSE\t/\tFALSE\t0\tc\t1" for n in range(SITES)]
    source.write_text("\n".join(lines))
    async with house.operator() as operator:
        order = ops.ProfileImport(source=str(source), name="work", any_agent=True)
        await operator.call(order)


async def _played(agent: Agent, url: str, dice: random.Random) -> None:
    """Make overlapping calls, each of which gets an answer or a typed error."""
    calls: list[asyncio.Task[View]] = []
    for _ in range(ROUNDS):
        name = f"n{dice.randrange(NAMES)}"
        operation: Answers[View] = dice.choice(
            [
                ops.SessionOpen(session=name, jar=JarPolicy.CLONE, profile="work", url=url),
                ops.SessionOpen(session=name, jar=JarPolicy.CLONE, profile="work"),
                ops.Tabs(action="new", session=name),
                ops.SessionDispose(session=name),
            ]
        )
        calls.append(await started(agent.client.call(operation, timeout=START_SECONDS)))
        if dice.random() < 0.3:
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    for answer in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(answer, RoostError) or not isinstance(answer, BaseException), answer


async def _ended(house: House) -> None:
    """Dispose all sessions as the person."""
    async with house.operator() as operator:
        for session in (await operator.call(ops.SessionList())).sessions:
            await operator.call(ops.SessionDispose(session=session.id))
        await operator.call(ops.BrowserStart(), timeout=START_SECONDS)
        assert (await operator.call(ops.Status())).sessions == []


async def _found(house: House) -> RunningBrowser:
    """Return what the browser has, as the driver of the next broker finds it."""
    house.kill_broker()
    driver = DRIVERS[house.browser](house.home)
    try:
        found = await driver.start(lambda event: None)
        await driver.stop()
    finally:
        # It names this process as the broker, which the house would end.
        house.home.endpoint.unlink(missing_ok=True)
    return found


@pytest.mark.timeout(240)
async def test_nothing_is_left_in_the_browser(own_house: House, web: Web) -> None:
    house, page, dice = own_house, web.page("<p>here"), random.Random(SEED)
    await _imported(house)
    for _ in range(3):
        async with house.agent(web) as one, house.agent(web) as two:
            await asyncio.gather(_played(one, page, dice), _played(two, page, dice))
    async with house.agent(web) as last:
        clone = ops.SessionOpen(session="n", jar=JarPolicy.CLONE, profile="work", url=page)
        under_way = await started(last.client.call(clone))
        await last.tabs()
        house.kill_broker()
        with suppress(RoostError):
            await under_way
        await last.tabs()  # the next broker is there
    await _ended(house)
    found = await _found(house)

    assert (found.resumed, found.jars, found.tabs) == (True, frozenset(), frozenset())


@pytest.mark.timeout(240)
async def test_a_recorded_jar_that_the_browser_lost_is_made_again_and_removed_at_the_end(
    own_house: House, web: Web
) -> None:
    """The broker dies, and then its browser, before the next broker looks."""
    house, page = own_house, web.page("<p>here")
    await _imported(house)
    named = {"session": "kept", "jar": JarPolicy.CLONE, "profile": "work"}
    async with house.agent(web, **named) as agent:
        await agent.go(page)
        browser = identify(await house.browser_pid())
        assert browser is not None
        house.kill_broker()
        os.kill(browser.pid, signal.SIGKILL)
        assert wait_until_gone(browser, WAIT_SECONDS)
        async with asyncio.timeout(START_SECONDS):
            await agent.wait_until_restored("here")
        cookies = (await agent.call(ops.Cookies())).cookies
        assert len([one for one in cookies if one.domain.endswith(".example")]) == SITES
    await _ended(house)
    found = await _found(house)

    assert (found.resumed, found.jars, found.tabs) == (True, frozenset(), frozenset())
