"""Claudezilla's tools in a real browser. The original promised this and did not do it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from roost.client.client import Client
from roost.errors import BadRequest, NotActionable, Timeout
from roost.frontends.mcp.claudezilla.names import firefox_names
from roost.frontends.mcp.toolset import Reply
from tests.support.agent import TRUSTED, refused
from tests.support.house import House
from tests.support.local_web import Web

SECONDS = 50.0
"""The first call starts the browser; nothing waits this long in a run that passes."""

FORM = (
    TRUSTED
    + """
<h1>Sign in</h1>
<form onsubmit="event.preventDefault(); out.textContent = 'sent ' + mail.value">
  <label>Mail <input id=mail></label>
  <label>Secret <input id=pw type=password value=hunter2></label>
  <button id=go>Go</button> <button id=no disabled>Never</button>
</form>
<p id=out></p><a href="#far">Far</a><div style="height:3000px"></div><p id=far>The end</p>
"""
)


class Zilla:
    """An agent with Claudezilla's tools."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.tools = firefox_names()

    async def reply(self, tool: str, **arguments: Any) -> Reply:
        async with asyncio.timeout(SECONDS):
            return await self.tools.call(self.client, f"firefox_{tool}", arguments)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        said = (await self.reply(tool, **arguments)).text.splitlines()
        answer: dict[str, Any] = json.loads(said[1] if said[0].startswith("<page") else said[0])
        return answer


@asynccontextmanager
async def zilla(house: House, web: Web, body: str = FORM) -> AsyncIterator[Zilla]:
    async with house.agent(web) as agent:
        ready = Zilla(agent.client)
        await ready.call("create_window", url=web.page(body, title="Form"))
        yield ready


async def test_navigation_answers_with_the_new_page(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        url = web.page("<p>second", title="Second")
        went = await it.call("navigate", url=url)
        assert (went["url"], went["title"], went["status"]) == (url, "Second", 200)


async def test_input_is_trusted_also_in_a_background_tab(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        await it.call("create_window", url=web.page("<p>in front"))
        first = (await it.call("get_tabs"))["tabs"][0]["tabId"]
        typed = await it.call("type", selector="#mail", text="a@b.c", tabId=first)
        assert typed == {"selector": "#mail", "typed": True, "currentValue": "a@b.c"}
        more = await it.call("type", selector="#mail", text="om", clear=False, tabId=first)
        assert more["currentValue"] == "a@b.com"
        pressed = await it.call("press_key", key="Enter", selector="#mail", tabId=first)
        assert (pressed["targetTag"], pressed["modifiers"]["ctrlKey"]) == ("INPUT", False)
        sent = await it.call("get_content", selector="#out", tabId=first)
        assert (sent["text"], sent["tagName"]) == ("sent a@b.com", "P")
        clicked = await it.call("click", selector="#go", tabId=first)
        assert (clicked["clicked"], clicked["tagName"], clicked["text"]) == (True, "BUTTON", "Go")
        log = await it.call("evaluate", expression="window.log", tabId=first)
        assert ["click", True] in log["result"]
        assert all(is_trusted for _, is_trusted in log["result"])


async def test_a_disabled_button_is_not_reported_clicked(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        await refused(NotActionable, it.call("click", selector="#no", timeout=3000))


async def test_no_tool_returns_a_password(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        said = [
            (await it.reply("type", selector="#pw", text="s3cr3t")).text,
            (await it.reply("get_element", selector="#pw")).text,
            (await it.reply("get_page_state")).text,
            (await it.reply("get_accessibility_snapshot")).text,
            (await it.reply("screenshot", annotate=True)).text,
        ]
        assert not [text for text in said if "hunter2" in text or "s3cr3t" in text]


async def test_limits_of_the_page_state_are_honoured(house: House, web: Web) -> None:
    links = "".join(f"<a href='#{n}'>Link {n}</a> " for n in range(150))
    async with zilla(house, web, f"<h1>Many</h1>{links}") as it:
        few = await it.call("get_page_state", maxLinks=3)
        assert [link["text"] for link in few["links"]] == ["Link 0", "Link 1", "Link 2"]
        assert few["counts"]["links"] == {"shown": 3, "total": 150}
        assert len((await it.call("get_page_state"))["links"]) == 50
        assert len((await it.call("get_page_state", maxLinks=140))["links"]) == 140
        before = await it.call("get_page_state")
        await it.call("evaluate", expression="document.querySelector('h1').textContent = 'New'")
        changed = await it.call(
            "diff_page_state", before=before, after=await it.call("get_page_state")
        )
        assert changed["headings"]["changed"][0]["after"]["text"] == "New"


async def test_the_snapshots_refs_can_be_acted_on(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        seen = await it.call("get_accessibility_snapshot", maxDepth=20)
        nodes = list(_flat(seen["tree"]))
        assert seen["nodeCount"] == len(nodes)
        button = next(node for node in nodes if node.get("name") == "Go")
        assert (await it.call("click", selector=button["ref"]))["id"] == "go"
        few = await it.call("get_accessibility_snapshot", maxNodes=2)
        assert (few["nodeCount"], few["truncated"]) == (2, True)


def _flat(nodes: list[dict[str, Any]]) -> Any:
    for node in nodes:
        yield node
        yield from _flat(node.get("children", []))


async def test_element_scroll_and_wait_tools_work(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        about = await it.call("get_element", selector="#go")
        assert (about["tagName"], about["visible"], about["attributes"]["id"]) == (
            "BUTTON", True, "go",
        )  # fmt: skip
        assert (await it.call("scroll"))["position"] == {"x": 0, "y": 0}
        moved = await it.call("scroll", selector="#far")
        assert (moved["scrolledTo"], moved["noEffect"]) == ("#far", False)
        assert moved["position"]["y"] > 500
        assert (await it.call("scroll", x=0, y=0))["position"]["y"] == 0
        await it.call("evaluate", expression="setTimeout(() => out.textContent = 'late', 50)")
        waited = await it.call("wait_for", text="late", timeout=9000)
        assert (waited["found"], waited["matched"]) == (True, "late")
        assert (await it.call("wait_for", selector="#go"))["visible"]
        await refused(Timeout, it.call("wait_for", selector="#never", timeout=200))


async def test_console_and_network_tools_return_the_pages_own_records(
    house: House, web: Web
) -> None:
    body = "<script>console.error('oh', 'no'); fetch('/x?token=abc')</script>"
    async with zilla(house, web, body) as it:
        logs = await it.call("get_console", level="error")
        assert "oh no" in [log["message"] for log in logs["logs"]]
        assert (logs["captureEnabled"], logs["filtered"]) == (True, len(logs["logs"]))
        shown = await it.call("get_network")
        assert {request["tabId"] for request in shown["requests"]} == {
            (await it.call("get_tabs"))["tabs"][0]["tabId"]
        }
        assert "abc" not in json.dumps(shown)


async def test_scripts_run_in_the_page_and_promises_are_awaited(house: House, web: Web) -> None:
    async with zilla(house, web, "<script>window.mine = 42</script>") as it:
        assert await it.call("evaluate", expression="mine") == {
            "expression": "mine", "result": 42, "type": "number",
        }  # fmt: skip
        later = await it.call("evaluate", expression="Promise.resolve([1]) // later")
        assert (later["result"], later["type"]) == ([1], "object")
        thrown = it.call("evaluate", expression="nothing.here")
        assert "nothing" in str((await refused(BadRequest, thrown)).page_said)


async def test_a_screenshot_reports_the_pages_readiness(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        reply = await it.reply("screenshot", purpose="quick-glance")
        (image,) = reply.images
        assert image.mime_type == "image/jpeg"
        told = await it.call("screenshot", skipReadiness=True, format="png", scale=0.25)
        assert told["mimeType"] == "image/png"
        assert "data" not in told
        assert told["readiness"]["timeline"][0]["event"] == "start"
        small = json.loads(reply.text.splitlines()[1])
        large = await it.call("screenshot", purpose="full-detail")
        assert small["width"] * 3 < large["width"]


async def test_each_tab_has_its_own_size(house: House, web: Web) -> None:
    async with zilla(house, web) as it:
        done = await it.call("set_viewport", device="iphone-14")
        assert done["viewport"] == {"width": 390, "height": 844}
        size = await it.call("evaluate", expression="[innerWidth, innerHeight]")
        assert size["result"] == [390, 844]
        resized = await it.call("resize_window", width=800, height=600)
        assert (resized["width"], resized["height"]) == (800, 600)


async def test_cookie_banners_are_handled_on_request_and_after_navigation(
    house: House, web: Web
) -> None:
    banner = """<div id=b role=dialog aria-label="Cookie consent">We use cookies
    <button onclick="b.remove()">Reject all</button><button>Accept all</button></div>"""
    async with zilla(house, web, banner) as it:
        asked = await it.call("handle_consent")
        assert (asked["found"], asked["clicked"]) == (True, True)
        assert (await it.call("handle_consent"))["found"] is False
        await it.call("set_config", handleConsent=True)
        went = await it.call("navigate", url=web.page(banner))
        assert went["consent"]["clicked"]
