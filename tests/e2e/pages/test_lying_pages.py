"""Pages cannot forge their address, their title or what they store."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.drivers.base import FAILED_TITLE
from roost.errors import BrowserLost, NotFound
from tests.support.agent import Agent
from tests.support.house import START_SECONDS, House
from tests.support.local_web import Answer, Web, local_web

LOOKS, LOOK_AGAIN_SECONDS = 200, 0.1


def _liar(bank: str) -> str:
    """Return a script that replaces everything a page can replace, to look like the bank's page."""
    return f"""<script>
      const bank = {json.dumps(bank)}, claim = [bank, "Your Bank"];
      localStorage.setItem("mine", "REAL");
      const lie = function (resolve) {{ resolve?.(claim); return "lie"; }};
      Array.prototype.then = Object.prototype.then = Promise.prototype.then = lie;
      Object.entries = Object.keys = Array.from = () => [["token", "PLANTED"]];
      JSON.stringify = () => JSON.stringify.toString();
      Object.prototype.toJSON = String.prototype.toJSON = () => claim;
      Storage.prototype.getItem = Storage.prototype.key = () => "PLANTED";
      for (const [of, name] of [[Storage.prototype, "length"], [Document.prototype, "title"],
                                [Document.prototype, "URL"], [Document.prototype, "baseURI"],
                                [document, "title"], [document, "URL"], [window, "origin"]])
        Object.defineProperty(of, name, {{ get: () => bank, configurable: true }});
      window.URL = function () {{ return {{ href: bank, origin: bank }}; }};
    </script><base href="{bank}"><form name=title></form><img name=URL><img name=location>
    <button onclick="this.textContent = 'Hit'">Press</button>"""


async def _contents(agent: Agent) -> dict[str, Any]:
    """Return the session's whole storage, as ``browser_storage_state`` saves it."""
    saved = await agent.call(ops.StorageState(action="save"))
    text = await asyncio.to_thread(Path(saved.path).read_text, encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return {
        one["origin"]: {item["name"]: item["value"] for item in one["localStorage"]}
        for one in loaded["origins"]
        if one["localStorage"]
    }


async def _until_kept(house: House, word: str) -> bytes:
    """Return the broker's backups of all jars, once they contain that word."""
    kept = b""
    for _ in range(LOOKS):
        kept = house.backups()
        if word.encode() in kept:
            return kept
        await asyncio.to_thread(threading.Event().wait, LOOK_AGAIN_SECONDS)
    raise AssertionError(f"not kept: {kept!r}")


@pytest.mark.timeout(120)
async def test_a_page_cannot_forge_its_address_title_or_storage(own_house: House, web: Web) -> None:
    bank = web.there(web.page("<h1>Bank</h1>", title="The real bank"))
    lies = web.page(_liar(bank), title="Liar")
    async with own_house.agent(web) as agent:
        opened = await agent.go(lies)
        assert (opened.url, opened.title) == (lies, "Liar")
        clicked = await agent.click("text=Press")
        assert "Hit" in (clicked.snapshot or "")
        assert (clicked.url, clicked.title) == (lies, "Liar")
        assert (await agent.call(ops.Snapshot())).url == lies
        content = await agent.call(ops.GetContent())
        assert (content.url, content.title) == (lies, "Liar")
        (row,) = (await agent.tabs()).tabs
        assert (row.url, row.title) == (lies, "Liar")
        assert (await agent.call(ops.Reload())).url == lies

        expected = {web.base: {"mine": "REAL"}}
        assert await _contents(agent) == expected
        kept = await _until_kept(own_house, "REAL")
        assert b"PLANTED" not in kept

        os.kill(await own_house.browser_pid(), signal.SIGKILL)
        await agent.wait_until_restored("Press", opened.tab)
        (row,) = (await agent.tabs()).tabs
        assert row.url == lies, "the tab is restored where it really was"
        await agent.go(bank)
        assert await agent.run("() => ({...localStorage})") == {}, "nothing was planted"
        assert await _contents(agent) == expected


async def test_a_document_without_an_origin_stores_nothing_under_another_origin(
    house: House, web: Web
) -> None:
    """Such documents are sandboxed documents, blobs, blank pages that inherit an origin, and frames
    of other sites."""
    page = web.page("<script>localStorage.setItem('mine', 'REAL')</script>Plain")
    headers = {"Content-Security-Policy": "sandbox allow-scripts"}
    sandboxed = web.serve(Answer(b"<p>Sandboxed", headers=headers))
    framed = web.there(web.page("<script>localStorage.setItem('framed', 'THIRD-PARTY')</script>"))
    async with house.agent(web) as agent:
        await agent.go(sandboxed)
        assert await _contents(agent) == {}
        await agent.show(f"<iframe src='{framed}'></iframe>")
        assert web.other_site not in await _contents(agent), "a frame's storage is partitioned"
        await agent.go(page)
        expected = {web.base: {"mine": "REAL"}}
        await agent.run("() => { w = open('about:blank'); w.document.write('Inherits') }")
        assert await _contents(agent) == expected
        blob = "open(URL.createObjectURL(new Blob(['<p>Blob'], {type: 'text/html'})), '_self')"
        await agent.run(f"() => {{ {blob} }}")
        await agent.wait(text="Blob")
        assert await _contents(agent) == expected


async def test_an_address_is_shown_only_once_its_document_is_there(house: House, web: Web) -> None:
    """Otherwise a page could open the bank's slow address and show its own content meanwhile."""
    held = threading.Event()
    slow = web.there(web.serve(Answer(b"<title>Bank</title>Bank", held=held)))
    async with house.agent(web) as agent:
        first = await agent.show("<button>Go</button>")
        script = f"document.querySelector('button').onclick = () => {{ w = open('{slow}') }}"
        await agent.run(f"() => {{ {script} }}")
        clicked = await agent.click("button")
        assert clicked.opened is not None
        (popup,) = clicked.opened
        await agent.run("() => { w.document.body.textContent = 'Your password, please' }")
        row = next(row for row in (await agent.tabs()).tabs if row.tab == popup)
        assert row.url == "about:blank"
        await agent.run(f"() => {{ setTimeout(() => location = '{slow}') }}")
        row = next(row for row in (await agent.tabs()).tabs if row.tab == first.tab)
        assert row.url == first.url
        held.set()
        await agent.wait(text="Bank", tab=popup)
        row = next(row for row in (await agent.tabs()).tabs if row.tab == popup)
        assert row.url == slow


@pytest.mark.timeout(150)
async def test_a_tab_that_is_restored_while_its_site_is_down_keeps_its_address(
    own_house: House, web: Web
) -> None:
    async with own_house.agent(web) as agent:
        with local_web() as site:
            page = site.page("<h1>Shop</h1>", title="Shop")
            tab = (await agent.go(page)).tab
        for _ in range(2):
            os.kill(await own_house.browser_pid(), signal.SIGKILL)
            await _until_back(agent, tab)
            (row,) = (await agent.tabs()).tabs
            assert (row.tab, row.url, row.title) == (tab, page, FAILED_TITLE)


async def _until_back(agent: Agent, tab: str) -> None:
    """Wait until the tab is restored. Calls that were running get ``BROWSER_LOST``; the next one
    says why the site could not be loaded."""
    for _ in range(LOOKS):
        try:
            await agent.call(ops.Snapshot(tab=tab), timeout=START_SECONDS)
        except BrowserLost:
            continue
        except NotFound:
            return
        return
    raise AssertionError("the browser did not come back")
