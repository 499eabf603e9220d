"""Difficult pages: the call gets the right error within its deadline, and the next call works."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from roost import ops
from roost.errors import BadRequest, NotFound, TabCrashed, Timeout
from tests.support.agent import TRUSTED, refused
from tests.support.house import House
from tests.support.local_web import Web

SABOTAGE = """<script>
  Array.prototype.map = Array.prototype.push = Array.prototype.filter = () => { throw 1 };
  Array.from = Object.entries = () => { throw 1 };
  JSON.stringify = JSON.parse = () => "owned";
  Element.prototype.click = Element.prototype.querySelectorAll = () => { throw 1 };
  Element.prototype.getBoundingClientRect = () => ({x: -1, y: -1, width: 0, height: 0});
  document.querySelector = document.querySelectorAll = () => { throw 1 };
  window.Promise = window.MutationObserver = window.requestAnimationFrame = null;
  window.setTimeout = () => { throw 1 };
  window.hits = 0;
</script>
<h1>Sabotaged</h1><button onclick="hits++; this.textContent = 'Hit'">Press</button><input id=i>
"""


async def test_pages_that_overwrite_built_ins_can_be_read_and_used(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(SABOTAGE)
        assert "Sabotaged" in await agent.snapshot()
        done = await agent.click("text=Press")
        assert "Hit" in (done.snapshot or "")
        await agent.type("#i", "typed")
        assert await agent.run("() => document.getElementById('i').value") == "typed"
        assert await agent.run("() => hits") == 1
        assert (await agent.call(ops.TakeScreenshot())).data
        assert "Sabotaged" in (await agent.call(ops.GetContent(format="markdown"))).text


async def test_forms_that_shadow_their_own_properties_are_read(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<form><input name=childNodes><input name=getAttribute><input name=nodeType>"
            "<input name=parentNode><button name=tagName>Send</button></form>"
        )
        assert "Send" in await agent.snapshot()


@pytest.mark.parametrize("how", ["at once", "after a click"])
async def test_a_frozen_page_is_a_timeout_for_its_own_tab_alone(
    house: House, web: Web, how: str
) -> None:
    async with house.agent(web) as agent:
        first = await agent.show("<button onclick='for (;;);'>Freeze</button>")
        other = await agent.open(web.page("<button id=b>Other</button>"))
        endless = ops.Evaluate(function="() => { for (;;); }", tab=first.tab)
        click = ops.Click(target="button", tab=first.tab)
        frozen = agent.client.call(endless if how == "at once" else click, timeout=1)
        await refused(Timeout, frozen)
        await refused(Timeout, agent.call(ops.Snapshot(tab=first.tab), timeout=1))
        await agent.click("#b", tab=other)
        assert "Other" in await agent.snapshot(tab=other)
        again = await agent.go(web.page("Thawed", title="Thawed"), tab=first.tab)
        assert again.title == "Thawed", "the tab can be led away"


async def test_a_page_of_fifty_thousand_nodes_can_be_read_and_used(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show(
            """<script>document.body.innerHTML = Array.from({length: 25000},
            (_, n) => `<div><button>B${n}</button></div>`).join("")</script>"""
        )
        read = await agent.call(ops.Snapshot())
        assert read.truncated
        assert len(read.snapshot) <= 20_000
        done = await agent.click("text=B24999", snapshot="none")
        assert "B24999" in done.did or "button" in done.did
        assert (await agent.call(ops.Find(text="B24998"))).total == 1


@pytest.mark.parametrize("target", ["div[", "::", "a:nonsense(", "#" + "x" * 1001, "", " "])
async def test_invalid_selectors_are_bad_requests(house: House, web: Web, target: str) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Page</p>")
        operation = ops.Click.model_construct(target=target, snapshot="none")
        error = await refused(BadRequest, agent.call(operation, timeout=2))
        assert error.details["field"] == "target"
        assert await agent.run("() => 1") == 1


@pytest.mark.parametrize("target", ["e999", "@e999", "ref=e999", "f7e1"])
async def test_refs_that_were_never_issued_are_stale(house: House, web: Web, target: str) -> None:
    async with house.agent(web) as agent:
        await agent.show("<p>Page</p>")
        with pytest.raises(Exception, match="STALE_REF"):
            await agent.click(target)


async def test_popups_in_a_row_are_stopped_and_the_page_stays_usable(
    house: House, web: Web
) -> None:
    async with house.agent(web) as agent:
        await agent.show(
            "<button onclick=\"for (let n = 0; n < 30; n++) window.open('about:blank')\">B</button>"
        )
        await agent.click("button", snapshot="none")
        await agent.run("() => 1")
        assert len((await agent.tabs()).tabs) < 30
        assert await agent.run("() => 1 + 1") == 2


async def test_endless_console_and_requests_are_bounded(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show("<script>for (let n = 0; n < 3000; n++) console.log('line ' + n)</script>")
        said = await agent.call(ops.ConsoleMessages(limit=500))
        assert said.total <= 500
        assert said.messages[-1].text == "line 2999"


async def test_lone_surrogates_do_no_harm(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<button>B</button><script>document.title = 'x\\ud800y'</script>")
        await agent.run("() => { document.body.append('\\udc00 tail') }")
        await agent.snapshot()
        await agent.click("button")
        assert (await agent.tabs()).tabs[0].title


async def test_a_killed_renderer_crashes_only_its_own_tab(own_house: House, web: Web) -> None:
    async with own_house.agent(web) as agent:
        first = await agent.go(web.there(web.page("<h1>Victim</h1>", title="Victim")))
        other = await agent.open(web.page("<h1>Witness</h1>"))
        # So that its process can be told from the others.
        await agent.run("() => { ballast = new Uint8Array(15e7).fill(1) }", tab=first.tab)
        hanging = asyncio.get_running_loop().create_task(
            agent.run("() => new Promise(() => {})", tab=first.tab)
        )
        await agent.run("() => 1", tab=other)
        os.kill(await own_house.largest_renderer(), signal.SIGKILL)
        await refused(TabCrashed, hanging)
        await refused(TabCrashed, agent.call(ops.Snapshot(tab=first.tab)))
        await refused(TabCrashed, agent.click("h1", tab=first.tab))
        assert "Witness" in await agent.snapshot(tab=other)
        rows = {tab.tab: tab for tab in (await agent.tabs()).tabs}
        assert rows[first.tab].state == "crashed"
        again = await agent.call(ops.Reload(tab=first.tab))
        assert again.title == "Victim"
        assert "Victim" in await agent.snapshot(tab=first.tab)


async def test_a_hundred_clicks_in_a_hidden_tab_all_arrive_and_are_trusted(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        hidden = await agent.show(TRUSTED + "<button>Count</button>")
        await agent.open(web.page("In front"))
        for _ in range(100):
            await agent.click("button", tab=hidden.tab, snapshot="none")
        log = await agent.run("() => log.filter(([kind]) => kind === 'click')", tab=hidden.tab)
        assert log == [["click", True]] * 100


async def test_a_missing_element_is_not_found(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Page</p>")
        await refused(NotFound, agent.call(ops.Click(target="#missing"), timeout=1))
        await refused(NotFound, agent.call(ops.Hover(target="text=missing"), timeout=1))
