"""Pages that try to reach the dashboard, and a browser that dies under it."""

from __future__ import annotations

import json
import os
import signal
from urllib.parse import urlsplit

from playwright.async_api import expect

from roost import ops
from roost.errors import UrlBlocked
from tests.e2e.dashboard.conftest import dashboard, login
from tests.e2e.dashboard.test_wall import GREEN, RED, tile, until_corner
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Web

SOCKET = """address => new Promise(done => {
    const socket = new WebSocket(address.replace("http", "ws") + "live");
    socket.onopen = () => socket.send(JSON.stringify({code: CODE}));
    socket.onmessage = event => done(String(event.data));
    socket.onclose = () => done("closed");
})"""


async def tried(agent: Agent, address: str, code: str) -> list[object]:
    """Return what the agent's page gets from that address: by a request, and by a WebSocket."""
    socket = SOCKET.replace("CODE", json.dumps(code))
    fetching = "fetch(address).then(reply => reply.text(), () => 'no')"
    found: list[object] = await agent.run(
        f"() => {{ const address = {json.dumps(address)};"
        f" return Promise.all([{fetching}, ({socket})(address)]) }}"
    )
    return found


async def test_a_page_does_not_reach_the_dashboard_by_a_name_of_its_own(
    house: House, web: Web
) -> None:
    address, code = await login(house)
    rebound = address.replace("127.0.0.1", "rebound.localhost")
    async with house.agent(web) as agent:
        await agent.show("<p>Hello")
        assert await tried(agent, rebound, code) == ["no", "closed"]
        # A navigation needs no permission to read. The server then refuses the name.
        await agent.run(f"() => {{ location.href = {json.dumps(f'{rebound}#code={code}')} }}")
        await agent.wait(text="not an address of this server")
    async with dashboard(house) as page:  # nothing was spoilt
        await expect(page.locator("#counts")).to_contain_text("session")


async def test_a_page_does_not_reach_the_dashboard_through_its_own_proxy(
    house: House, web: Web
) -> None:
    address, code = await login(house)
    async with house.agent(web, allow=("127.0.0.1", "localhost")) as agent:
        await agent.show("<p>Hello")
        await refused(UrlBlocked, agent.go(address))
        assert await tried(agent, address, code) == ["no", "closed"]
        secret = f"{address}#code={code}"
        await agent.run(f"() => {{ location.href = {json.dumps(secret)} }}")
        await agent.wait(text="Roost")
        assert "Sessions" not in await agent.snapshot()
        assert "Filter" not in await agent.snapshot()


async def test_an_agent_reads_no_login_from_the_file_that_opens_the_dashboard(
    house: House, web: Web
) -> None:
    house.says("dashboard", "--no-open")
    file = house.home.path / "dashboard.html"
    assert file.stat().st_mode & 0o077 == 0
    async with house.agent(web) as agent:
        await refused(UrlBlocked, agent.go(file.as_uri()))


async def test_no_page_shows_the_dashboard_inside_itself(hurt_house: House, web: Web) -> None:
    async with dashboard(hurt_house) as page:
        address = urlsplit(page.url)._replace(fragment="").geturl()
        await page.goto(web.page(f"<iframe src={address}></iframe>"))
        (frame,) = page.frames[1:]
        await frame.wait_for_load_state("load")
        assert await frame.locator("#wall").count() == 0


async def test_a_tile_says_that_its_browser_died_and_comes_back(
    hurt_house: House, web: Web
) -> None:
    async with dashboard(hurt_house) as page, hurt_house.agent(web, name="Survivor") as agent:
        await agent.show(RED)
        shown = tile(page, "Survivor")
        await until_corner(shown.locator("canvas"), 255, 0)
        async with hurt_house.operator() as operator:
            (browser,) = (await operator.call(ops.Status())).browsers
        assert browser.pid is not None
        # Note every state that the tile shows: the browser may be back within a moment.
        await shown.locator(".state").evaluate(
            """state => { window.states = []; new MutationObserver(() =>
                states.push(state.textContent)).observe(state, {childList: true, subtree: true,
                characterData: true}) }"""
        )
        os.kill(browser.pid, signal.SIGKILL)
        await page.wait_for_function("() => states.includes('Browser is coming back')")
        await agent.run(GREEN)
        await until_corner(shown.locator("canvas"), 0, 128)
