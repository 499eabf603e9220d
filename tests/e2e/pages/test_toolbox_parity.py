"""The same questions to Playwright on a bare Chromium and to Roost have the same outcomes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import async_playwright

from roost import ops
from roost.local.browsers import find_browser
from tests.e2e.pages import parity_device, parity_input, parity_network
from tests.e2e.pages.parity_elements import LOCATORS, PAGE, READINGS, WAITS
from tests.e2e.pages.parity_stage import Stage, succeeded
from tests.support.house import House
from tests.support.local_web import Web


@pytest.mark.timeout(180)
async def test_the_toolbox_has_the_outcomes_of_playwright(
    houses: Callable[..., House], web: Web
) -> None:
    house = houses("chromium")
    async with async_playwright() as playwright, house.agent(web) as agent:
        path = find_browser("chromium")
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            page = await browser.new_page()
            page.set_default_timeout(10_000)
            stage = Stage(browser, page, agent, web, house.work)
            await _elements(stage)
            await parity_input.compare(stage)
            await parity_network.compare(stage)
            await parity_device.compare(stage)
        finally:
            await browser.close()
    differing = {
        name: {"Playwright": theirs, "Roost": stage.ours[name]}
        for name, theirs in stage.theirs.items()
        if stage.ours[name] != theirs
    }
    assert differing == {}
    assert len(stage.theirs) > 180


async def _elements(stage: Stage) -> None:
    page, agent = stage.page, stage.agent
    await stage.go(stage.web.page(PAGE))
    for find, target in LOCATORS:
        stage.theirs[target] = [await one.get_attribute("id") for one in await find(page).all()]
        count = (await agent.call(ops.Get(what="count", target=target))).value
        every = [f"{target} >> nth={at}" for at in range(int(str(count)))]
        asked = [ops.Get(what="attr", name="id", target=one) for one in every]
        stage.ours[target] = [(await agent.call(one)).value for one in asked]
    for ask, operation in READINGS:
        stage.theirs[repr(operation)] = await ask(page)
        stage.ours[repr(operation)] = (await agent.call(operation)).value
    for wait, operation in WAITS:
        stage.theirs[repr(operation)] = await succeeded(wait(page))
        stage.ours[repr(operation)] = await succeeded(agent.call(operation))
