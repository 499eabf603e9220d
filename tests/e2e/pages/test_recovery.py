"""Broker, browser and keeper are killed, and agents continue with their pages."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading

import pytest

from roost import ops
from roost.errors import BrowserLost, DialogOpen, Interrupted, NotFound
from roost.local.home import socket_path
from roost.testing.waits import until
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Answer, Web, guarded


def _refs(snapshot: str) -> list[str]:
    return re.findall(r"\[ref=(\w+)\]", snapshot)


async def test_pages_keep_their_state_when_the_broker_is_killed(own_house: House, web: Web) -> None:
    inner = web.there(web.page("<button onclick=\"this.textContent = 'Hit'\">Inner</button>"))
    async with own_house.agent(web) as agent:
        await agent.show(f"<input id=i><button>B</button><iframe src='{inner}'></iframe>")
        await agent.type("#i", "half-filled")
        before = await agent.snapshot()
        own_house.kill_broker()
        after = await agent.snapshot()
        assert await agent.run("() => i.value") == "half-filled"
        assert _refs(after) == _refs(before), "the same elements, frames included"
        framed = next(ref for ref in _refs(after) if ref.startswith("f") and "Inner" in next(
            line for line in after.splitlines() if f"[ref={ref}]" in line))  # fmt: skip
        await agent.click(framed)
        assert "Hit" in await agent.snapshot()
        await agent.show("<p>New</p><button>C</button>")
        assert not set(_refs(await agent.snapshot())) & set(_refs(before)), "never given again"


async def test_pages_keep_their_state_when_the_brokers_files_are_removed(
    own_house: House, web: Web
) -> None:
    async with own_house.agent(web) as agent:
        await agent.show("<input id=i>")
        await agent.type("#i", "half-filled")
        broker, files = own_house.broker, (own_house.home.endpoint, socket_path(own_house.home))
        for file in files:
            os.unlink(file)
        await until(lambda: all(map(os.path.lexists, files)))
        async with own_house.agent(web) as newcomer:
            await newcomer.show("<p>Here</p>")
        assert await agent.run("() => i.value") == "half-filled"
        assert own_house.broker == broker


LONG_ADDRESSES = """<script>
  const isMade = location.search === '?made';
  if (isMade) history.replaceState(0, '', '#' + 'a'.repeat(9e5));
  const made = [];
  const open = (kind) => {
    const frame = document.createElement('iframe');
    if (kind === 'frame') { frame.src = '?made'; document.body.append(frame); }
    made.push(kind === 'frame' ? frame.contentWindow : window.open('?made'));
  };
  const areLong = () => made.every((one) => one.location.href.length > 9e5);
</script><p>Page"""


@pytest.mark.parametrize("kind", ["frame", "popup"])
async def test_pages_with_long_addresses_survive_a_killed_broker(
    own_house: House, web: Web, kind: str
) -> None:
    """The next broker asks the browser for all tabs and frames, and the answer contains every
    address."""
    async with own_house.agent(web) as victim, own_house.agent(web) as hostile:
        await victim.show("<input id=i>")
        await victim.type("#i", "half-filled")
        await hostile.show(LONG_ADDRESSES)
        for _ in range(5):
            await hostile.run(f"() => open('{kind}')")
        while not await hostile.run("() => areLong()"):
            pass
        own_house.kill_broker()
        assert "half-filled" in await victim.snapshot()
        async with own_house.agent(web) as newcomer:
            await newcomer.show("<p>Here</p>")


async def test_the_next_broker_finds_an_open_dialog(own_house: House, web: Web) -> None:
    async with own_house.agent(web) as agent:
        asks = "out.textContent = confirm('Sure?')"
        await agent.show(f'<button onclick="{asks}">B</button><p id=out>')
        done = await agent.click("button")
        assert done.dialog is not None
        own_house.kill_broker()
        error = await refused(DialogOpen, agent.call(ops.Snapshot()))
        assert error.page_said == "Sure?"
        await agent.answer(True)
        assert await agent.run("() => out.textContent") == "true"


async def test_a_popup_that_opens_without_a_broker_belongs_to_its_openers_session(
    own_house: House, web: Web
) -> None:
    goal = web.page("<h1>Popup</h1>")
    asked = threading.Event()
    start = web.serve(Answer(b"1", held=asked))
    async with own_house.agent(web) as agent:
        await agent.show(
            f"<script>fetch('{start}').then(() => window.open('{goal}'))</script><p>Opener</p>"
        )
        await agent.wait(text="Opener")
        own_house.kill_broker()
        asked.set()
        # A call that needs the browser: after several killed brokers, the keeper would otherwise
        # wait before it connects to the next one.
        await agent.snapshot()
        while len(tabs := (await agent.tabs()).tabs) < 2:
            pass
        popup = tabs[-1].tab
        await agent.wait(text="Popup", tab=popup)
        assert await agent.run("() => window.opener !== null", tab=popup)


async def test_the_next_broker_continues_a_request_made_without_a_broker(
    own_house: House, web: Web
) -> None:
    """Until a broker continues them, Chromium holds requests to a server with a known password, and
    Firefox holds requests that need a password."""
    asked = threading.Event()
    start = web.serve(guarded("ada:secret", Answer(b"1", held=asked)))
    wanted = web.serve(guarded("another:one", Answer(b"2")))
    then = "({ status }) => out.textContent = `Came ${status}`"
    script = f"fetch('{start}').then(() => fetch('{wanted}')).then({then})"
    page = Answer(f"<p id=out></p><script>{script}</script>".encode())
    url = web.serve(guarded("ada:secret", page))
    async with own_house.agent(web) as agent:
        await agent.go(url.replace("http://", "http://ada:secret@"))
        while not web.requested(start):
            await agent.call(ops.Ping())
        own_house.kill_broker()
        asked.set()
        await agent.wait(text="Came 401")


async def test_the_next_broker_gives_files_to_a_field_that_asked_for_them(
    own_house: House, web: Web
) -> None:
    (own_house.work / "a.txt").write_text("alpha", encoding="utf-8")
    async with own_house.agent(web) as agent:
        await agent.show("<input id=i type=file hidden><button onclick='i.click()'>Choose</button>")
        assert (await agent.click("button")).chooser is not None
        own_house.kill_broker()
        await agent.tabs()
        done = await agent.call(ops.FileUpload(paths=["a.txt"]))
        assert done.chooser is None
        assert await agent.run("() => i.files[0].text()") == "alpha"
        own_house.kill_broker()
        await agent.tabs()
        await refused(NotFound, agent.call(ops.FileUpload(paths=["a.txt"])))


async def test_a_page_that_was_loading_continues_after_a_broker_restart(
    own_house: House, web: Web
) -> None:
    may_answer = threading.Event()
    slow = web.serve(Answer(b"<title>Slow</title><h1>Arrived</h1>", held=may_answer))
    async with own_house.agent(web) as agent:
        await agent.show("<p>Start</p>")
        going = asyncio.get_running_loop().create_task(agent.go(slow))
        while not web.requested(slow):
            await agent.call(ops.Ping())
        own_house.kill_broker()
        await refused(Interrupted, going)
        may_answer.set()
        await agent.wait(text="Arrived")
        assert (await agent.tabs()).tabs[0].url == slow


async def test_a_killed_browser_is_restarted_with_its_tabs(own_house: House, web: Web) -> None:
    async with own_house.agent(web) as agent, own_house.agent(web) as other:
        url = web.page("<h1>One</h1>", title="One")
        first = await agent.go(url)
        second = await agent.open(web.page("<h1>Two</h1>"))
        await other.show("<h1>Other</h1>")
        hanging = asyncio.get_running_loop().create_task(
            agent.run("() => new Promise(() => {})", tab=first.tab)
        )
        await agent.run("() => 1", tab=second)
        os.kill(await own_house.browser_pid(), signal.SIGKILL)
        await refused(BrowserLost, hanging)
        for who, tab, text in (
            (agent, first.tab, "One"),
            (agent, second, "Two"),
            (other, None, "Other"),
        ):
            await who.wait_until_restored(text, tab)
        assert (await agent.tabs()).tabs[0].url == url


async def test_a_killed_keeper_ends_its_browser_and_both_are_restarted(
    own_house: House, web: Web
) -> None:
    async with own_house.agent(web) as agent:
        await agent.show("<h1>Here</h1>")
        browser = await own_house.browser_pid()
        keeper = int(_parent_of(browser))
        os.kill(keeper, signal.SIGKILL)
        await agent.wait_until_restored("Here")
        assert await own_house.browser_pid() != browser


def _parent_of(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()[1]


@pytest.mark.parametrize("times", [3])
async def test_agents_continue_although_the_broker_is_killed_repeatedly(
    own_house: House, web: Web, times: int
) -> None:
    async with own_house.agent(web) as agent:
        await agent.show("<button onclick='n = (window.n || 0) + 1'>B</button>")
        for count in range(1, times + 1):
            own_house.kill_broker()
            await agent.snapshot()
            await agent.click("button", snapshot="none")
            assert await agent.run("() => n") == count
