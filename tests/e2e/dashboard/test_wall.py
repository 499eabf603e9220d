"""The dashboard in a real browser, beside real sessions in both browsers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from roost import ops
from roost.errors import Paused, UrlBlocked
from tests.e2e.dashboard.conftest import dashboard, login
from tests.support.agent import WAIT_SECONDS, refused
from tests.support.house import House
from tests.support.local_web import Web

RED = "<style>html { background: rgb(255, 0, 0) }</style>"
GREEN = "() => { document.documentElement.style.background = 'rgb(0, 128, 0)' }"
CORNER = """canvas => Array.from(canvas.getContext("2d").getImageData(
    canvas.width - 3, canvas.height - 3, 1, 1).data)"""
"""Reads the colour of a pixel in the picture's corner."""


SENT = """window.wishes = [];
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
    const said = JSON.parse(data);
    if (said.films) wishes.push(said.films);
    window.socket = this;
    send.call(this, data);
};
window.hide = isHidden => {
    Object.defineProperty(document, "hidden", {get: () => isHidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
};"""
"""Notes the socket and the films that the page asks for. Hides the page as a tab in front does."""


def tile(page: Page, name: str) -> Locator:
    return page.locator(".tile", has=page.get_by_role("heading", name=name, exact=True))


async def until_corner(picture: Locator, red: int, green: int) -> None:
    """Wait until the picture shows about that colour."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            found = await picture.evaluate(CORNER)
            if abs(found[0] - red) < 40 and abs(found[1] - green) < 40:
                return
            await picture.page.evaluate("() => new Promise(requestAnimationFrame)")


async def test_the_wall_shows_each_session_live(house: House, web: Web) -> None:
    async with dashboard(house) as page, house.agent(web, name="Painter") as agent:
        async with house.agent(web, name="Reader") as reader:
            await agent.show(RED, title="Paint")
            await reader.show("<p>Hello", title="Book")
            await expect(tile(page, "Reader").locator(".title")).to_have_text("Book")
            painter = tile(page, "Painter")
            await expect(painter.locator(".title")).to_have_text("Paint")
            await until_corner(painter.locator("canvas"), 255, 0)
            await agent.run(GREEN)
            await until_corner(painter.locator("canvas"), 0, 128)
        await expect(tile(page, "Reader")).to_have_count(0)


async def test_the_large_view_follows_the_page(house: House, web: Web) -> None:
    async with dashboard(house) as page, house.agent(web, name="Painter") as agent:
        await agent.show(RED)
        await tile(page, "Painter").locator(".look").click()
        picture = page.locator("#large-picture canvas")
        await until_corner(picture, 255, 0)
        await agent.run(GREEN)
        await until_corner(picture, 0, 128)
        await page.get_by_role("button", name="Close the large view").click()
        await expect(page.locator("#large")).to_be_hidden()


async def test_the_person_pauses_a_session_and_gives_it_back(house: House, web: Web) -> None:
    async with dashboard(house) as page, house.agent(web, name="Walker") as agent:
        await agent.show("<p>Hello")
        await page.get_by_role("button", name="Pause Walker", exact=True).click()
        await expect(tile(page, "Walker").locator(".state")).to_have_text("You have it")
        await refused(Paused, agent.call(ops.Snapshot()))
        await page.get_by_role("button", name="Give back Walker", exact=True).click()
        await expect(tile(page, "Walker").locator(".state")).not_to_have_text("You have it")
        assert "Hello" in await agent.snapshot()


async def test_markup_in_titles_and_names_stays_text(house: House, web: Web) -> None:
    markup = "<img src=x onerror=alert(1)>"
    async with dashboard(house) as page, house.agent(web, name=markup) as agent:
        await agent.show(
            f"<script>document.title = '{markup}'; console.log('{markup}');"
            f" location.hash = '{markup}'</script>"
        )
        await agent.call(ops.Snapshot())
        await expect(tile(page, markup).locator(".title")).to_have_text(markup)
        await expect(tile(page, markup).locator(".address")).to_contain_text("onerror")
        await tile(page, markup).locator(".look").click()
        await page.get_by_role("button", name="Console").click()
        await expect(page.locator("#large-details .said")).to_contain_text(markup)
        assert await page.locator("img").count() == 0


async def test_a_dashboard_in_the_background_asks_for_no_pictures(
    house: House, web: Web, tmp_path: Path
) -> None:
    script = tmp_path / "sent.js"
    script.write_text(SENT, encoding="utf-8")
    async with dashboard(house, script=script) as page, house.agent(web, name="Seen") as agent:
        await agent.show(RED)
        await until_corner(tile(page, "Seen").locator("canvas"), 255, 0)
        for is_hidden in (True, False):
            await page.evaluate("isHidden => hide(isHidden)", is_hidden)
            wanted = f"() => wishes.at(-1).length {'==' if is_hidden else '>'} 0"
            await page.wait_for_function(wanted)


async def test_a_tile_says_why_it_has_no_picture_until_the_next_one(
    house: House, web: Web, tmp_path: Path
) -> None:
    script = tmp_path / "sent.js"
    script.write_text(SENT, encoding="utf-8")
    # Read at once what the tile says, before the next picture comes.
    miss = """(said, why) => { for (const {number} of wishes.at(-1))
        socket.onmessage({data: JSON.stringify({missed: number, why})});
        return [said.textContent, said.previousElementSibling.className] }"""
    async with dashboard(house, script=script) as page, house.agent(web, name="Shy") as agent:
        await agent.show(RED)
        shown = tile(page, "Shy")
        await until_corner(shown.locator("canvas"), 255, 0)
        why = "The <b>page</b> crashed."
        said = await shown.locator(".missing").evaluate(miss, why)
        assert said == [why, "picture drawn old"]
        await agent.run(GREEN)
        await until_corner(shown.locator("canvas"), 0, 128)
        await expect(shown.locator(".missing")).to_be_empty()


async def test_agents_do_not_notice_a_viewer(house: House, web: Web) -> None:
    async with house.agent(web, name="Watched") as agent:
        await agent.show(
            "<script>window.log = []; for (const kind of ['focus', 'blur', 'resize'])"
            " addEventListener(kind, event => log.push(event.type), true);"
            " document.addEventListener('visibilitychange', () => log.push('visibility'))</script>"
        )
        # Firefox focuses a page while an agent works in it, so a call alone may leave something.
        look = "() => [document.hasFocus(), document.visibilityState, log.splice(0)]"
        await agent.run(look)
        alone = await agent.run(look)
        async with dashboard(house) as page:
            await tile(page, "Watched").locator(".look").click()
            await expect(page.locator("#large-picture canvas.drawn")).to_be_visible()
        assert await agent.run(look) == alone


async def test_agents_cannot_open_the_dashboard(house: House, web: Web) -> None:
    address, code = await login(house)
    async with house.agent(web) as agent:
        await refused(UrlBlocked, agent.go(address))
        await agent.show("<p>Hello")
        socket = address.replace("http", "ws") + "live"
        tried = await agent.run(
            f"""() => new Promise(done => {{
                const socket = new WebSocket({json.dumps(socket)});
                socket.onopen = () => socket.send({json.dumps(json.dumps({"code": code}))});
                socket.onmessage = event => done(String(event.data));
                socket.onclose = () => done("closed");
            }})"""
        )
        assert tried == "closed"
        assert await agent.run(f"() => fetch({address!r}).then(() => 'read', () => 'no')") == "no"
        # A page can still go there by itself. The dashboard then refuses the browser, not the code.
        await agent.run(f"() => {{ location.href = {f'{address}#code={code}'!r} }}")
        await agent.wait(text="a browser that agents use")
    async with dashboard(house) as page:
        await expect(page.locator("#counts")).to_contain_text("session")


async def test_the_page_comes_back_after_the_broker_was_killed(hurt_house: House, web: Web) -> None:
    async with dashboard(hurt_house) as page, hurt_house.agent(web, name="Survivor") as agent:
        await agent.show(RED)
        await until_corner(tile(page, "Survivor").locator("canvas"), 255, 0)
        hurt_house.kill_broker()
        await expect(page.locator("#message")).to_be_visible()
        await agent.run(GREEN)
        await expect(page.locator("#message")).to_be_hidden(timeout=WAIT_SECONDS * 1000)
        await until_corner(tile(page, "Survivor").locator("canvas"), 0, 128)


async def test_the_wall_shows_twelve_sessions_live(house: House, web: Web) -> None:
    names = [f"wall-{number}" for number in range(12)]
    async with house.operator() as person:
        opened = await asyncio.gather(
            *(person.call(ops.SessionOpen(session=name, url=web.page(RED))) for name in names)
        )
        tabs = [one.tabs[0].tab for one in opened]
        try:
            size = {"width": 1920, "height": 1400}
            async with dashboard(house, viewport=size) as page:
                canvases = [tile(page, name).locator("canvas") for name in names]
                for canvas in canvases:
                    await until_corner(canvas, 255, 0)
                for tab in tabs:
                    await person.call(ops.Evaluate(function=GREEN, tab=tab))
                for canvas in canvases:
                    await until_corner(canvas, 0, 128)
        finally:
            for name in names:
                await person.call(ops.SessionDispose(session=name))
