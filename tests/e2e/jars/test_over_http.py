"""A script that uses only HTTP opens a session in a real browser, works in it and reads its
events."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

from roost.testing.waits import answer_of, started
from roost.vocabulary import LEASE_SECONDS
from tests.e2e.jars.ways_to_look import caller_in, person
from tests.frontends.http.http_callers import Caller
from tests.support.agent import WAIT_SECONDS
from tests.support.house import House
from tests.support.local_web import Web

JPEG = b"\xff\xd8\xff"
PAGE = """<h1>Cart</h1><button onclick="fetch('%s', {method: 'POST'});
document.querySelector('h1').textContent = 'Bought'; console.error('no stock')">Buy</button>"""


async def _events(caller: Caller, opened: asyncio.Event, *kinds: str) -> list[Any]:
    """Read the session's events until all these kinds have come."""
    told: list[Any] = []
    headers = {"authorization": f"Bearer {caller.token}"}
    path = f"/session/{caller.session}/events"
    async with asyncio.timeout(WAIT_SECONDS):
        async with caller.client.stream("GET", path, headers=headers) as stream:
            async for line in stream.aiter_lines():
                opened.set()
                if line.startswith("data: "):
                    told.append(json.loads(line.removeprefix("data: ")))
                if set(kinds) <= {one["kind"] for one in told}:
                    break
    return told


async def test_a_script_over_http_gets_events_of_its_own_session_only(
    house: House, web: Web
) -> None:
    bought = web.serve(b"yes")
    url = web.page(PAGE % bought, title="Shop")
    async with person(house) as operator:
        shop = await caller_in(operator, "shop", name="Shop")
        elsewhere = await caller_in(operator, "elsewhere")
        listens = asyncio.Event()
        wanted = ("tab_opened", "tab_navigated", "console_error")
        hearing = await started(_events(shop, listens, *wanted))
        await answer_of(listens.wait())

        await elsewhere.tool("browser_navigate", url=web.page("<p>elsewhere"))
        cart, named = {"name": "cart", "url": url}, {"X-DevBrowser-Session": "shop"}
        page = await operator.ask("POST", "/pages", json=cart, headers=named)
        again = await shop.ask("POST", "/pages", json={"name": "cart"})
        assert (page["tabId"], page["sessionId"], page["url"]) == (again["tabId"], "shop", url)
        tab = page["tabId"]
        await shop.tool("browser_tabs", action="select", tab=tab)

        snapshot = (await shop.tool("browser_snapshot"))["snapshot"]
        assert 'button "Buy"' in snapshot
        await shop.tool("browser_click", target="text=Buy")
        assert "Bought" in (await shop.tool("browser_get_content", format="text"))["text"]
        shot = await shop.tool("browser_take_screenshot")
        assert base64.b64decode(shot["data"]).startswith(JPEG)

        await shop.tool("browser_navigate", url=web.page("<p>thank you"))
        told = await hearing
        assert {one["session"] for one in told} == {"shop"}
        assert {one["data"]["tab"] for one in told} == {tab}
        assert [one["data"]["text"] for one in told if one["kind"] == "console_error"] == [
            "no stock"
        ]
        beat = await shop.ask("POST", "/session/shop/heartbeat")
        assert beat["expiresInMs"] >= LEASE_SECONDS * 1000

        gone = await shop.ask("DELETE", "/session/shop")
        assert gone == {"disposed": "shop", "tabsClosed": 1}
        assert await shop.refused("GET", "/session/shop/tabs") == (401, "UNAUTHORIZED")
        assert len((await elsewhere.ask("GET", "/session/elsewhere/tabs"))["tabs"]) == 1
        await elsewhere.ask("DELETE", "/session/elsewhere")
    assert [request.method for request in web.requested(bought)] == ["POST"]
