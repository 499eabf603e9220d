"""Behaviour that also holds in browsers with a window on a screen (Xvfb)."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from roost import ops
from roost.errors import NotFound, Unauthorized
from tests.support.agent import TRUSTED, WAIT_SECONDS, refused
from tests.support.house import House, house_of
from tests.support.local_web import Answer, Web


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    xvfb = shutil.which("Xvfb")
    if xvfb is None:
        pytest.fail("Xvfb is not installed: sudo apt install xvfb")
    reads, writes = os.pipe()
    # It picks a free display and says which, once it is ready.
    command = [xvfb, "-displayfd", str(writes), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[writes], stderr=subprocess.DEVNULL)
    os.close(writes)
    try:
        with os.fdopen(reads) as said:
            yield f":{said.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def headed(browser_kind: str, display: str) -> Iterator[House]:
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = display
    try:
        with house_of(browser_kind, headless=False) as house:
            house.start()
            yield house
    finally:
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before


async def test_the_browser_really_has_a_window(headed: House, web: Web) -> None:
    async with headed.agent(web) as agent, headed.operator() as operator:
        await agent.show("Here")
        status = await operator.call(ops.Status())
        assert [browser.headless for browser in status.browsers] == [False]


async def test_hidden_tabs_accept_input_and_can_be_captured(headed: House, web: Web) -> None:
    """Headed Chromium drops input to hidden tabs unless focus is emulated in each of them."""
    async with headed.agent(web) as agent:
        hidden = await agent.show(TRUSTED + "<button>B</button><input id=i>")
        await agent.open(web.page("In front"))
        for _ in range(20):
            await agent.click("button", tab=hidden.tab, snapshot="none")
        await agent.type("#i", "typed", slowly=True, tab=hidden.tab)
        log = await agent.run("() => log", tab=hidden.tab)
        assert log.count(["click", True]) == 20
        assert log.count(["keydown", True]) == 5
        assert await agent.run("() => i.value", tab=hidden.tab) == "typed"
        picture = await agent.call(ops.TakeScreenshot(tab=hidden.tab))
        assert picture.data
        assert picture.readiness is not None
        assert not picture.readiness.timed_out


async def test_popups_dialogs_drags_and_downloads_work_in_a_headed_browser(
    headed: House, web: Web
) -> None:
    goal = web.page("<h1>Popup</h1>")
    async with headed.agent(web) as agent:
        first = await agent.show(
            f"<a href='{goal}'>Go</a><button onclick=\"alert('Hi')\">Alert</button>"
            "<a id=d download=d.txt>D</a><script>d.href = URL.createObjectURL(new Blob(['x']))"
            "</script><input id=r type=range min=0 max=100 value=0 "
            "style='position:absolute;left:0;top:200px;width:400px;height:20px;margin:0'>"
        )
        done = await agent.click("text=Go", modifiers=["Control"])
        assert done.opened is not None
        await agent.wait(text="Popup", tab=done.opened[0])
        shown = await agent.click("text=Alert", tab=first.tab)
        assert shown.dialog is not None
        await agent.answer(True)
        saved = await agent.click("#d")
        assert saved.downloads == [str(agent.files / "downloads" / "d.txt")]
        await agent.call(ops.MouseDragXy(start_x=8, start_y=210, end_x=200, end_y=210))
        assert 40 <= int(await agent.run("() => r.value")) <= 60


async def test_resizing_changes_one_tab_only(headed: House, web: Web) -> None:
    async with headed.agent(web) as agent:
        first = await agent.show("First")
        other = await agent.open(web.page("Other"))
        size = "() => [innerWidth, innerHeight]"
        before = await agent.run(size, tab=other)
        await agent.call(ops.Resize(width=500, height=400, tab=first.tab))
        assert await agent.run(size, tab=first.tab) == [500, 400]
        assert await agent.run(size, tab=other) == before


def windows(display: str) -> str:
    """Return the titles of the windows on that screen. A browser's title names the tab in front."""
    listing = shutil.which("xwininfo")
    if listing is None:
        pytest.skip("xwininfo is not installed: sudo apt install x11-utils")
    command = [listing, "-display", display, "-root", "-tree"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


async def test_no_operation_brings_a_tab_to_the_front(
    headed: House, web: Web, display: str
) -> None:
    """In Firefox, the tab in front is the blank first tab, which belongs to no session."""
    is_first_in_front = headed.browser == "chromium"
    async with headed.agent(web) as agent:
        front = await agent.show("<button>B</button>", title="Front tab")
        behind = await agent.open(web.page("<input id=i><button>B</button>", title="Behind tab"))
        assert ("Front tab" in windows(display)) is is_first_in_front
        await agent.click("button", tab=behind)
        await agent.type("#i", "typed", tab=behind, submit=True)
        await agent.press("a", tab=behind)
        await agent.run("() => { window.focus(); i.focus() }", tab=behind)
        await agent.call(ops.TakeScreenshot(tab=behind, full_page=True))
        await agent.call(ops.Tabs(action="select", tab=behind))
        await agent.go(web.page("<p>Next</p>", title="Behind next"), tab=behind)
        await agent.call(ops.Reload(tab=behind))
        shown = windows(display)
        assert ("Front tab" in shown) is is_first_in_front
        assert "Behind" not in shown
        await agent.call(ops.Close(tab=front.tab))
        while is_first_in_front and "Behind next" not in windows(display):
            await agent.call(ops.Ping())  # titles do tell which tab is in front


def top_window(display: str) -> str:
    """Return the title of the topmost browser window. ``xwininfo`` lists it first."""
    titles = re.findall(r'"(.*(?:Chromium|Firefox).*)": \(', windows(display))
    shown = [title for title in titles if " - " in title or " — " in title]
    return shown[0] if shown else ""


async def test_the_person_gets_the_right_window_and_tab_to_the_front(
    headed: House, web: Web, display: str
) -> None:
    async with (
        headed.agent(web, name="ada") as ada,
        headed.agent(web, name="bob") as bob,
        headed.operator() as operator,
        asyncio.timeout(WAIT_SECONDS),
    ):
        await ada.show("A", title="Page of ada")
        await ada.open(web.page("Second", title="Second of ada"))
        await bob.show("B", title="Page of bob")
        for agent, title in ((ada, "Second of ada"), (bob, "Page of bob"), (ada, "Second of ada")):
            shown = await operator.call(ops.SessionFront(session=agent.session))
            assert shown.session == agent.session
            while title not in top_window(display):
                await operator.call(ops.Ping())
        first = (await ada.tabs()).tabs[0].tab
        await ada.run("() => 1", tab=first)
        assert (await operator.call(ops.SessionFront(session=ada.session))).tab == first
        while "Page of ada" not in top_window(display):
            await operator.call(ops.Ping())


async def test_an_agent_does_not_take_the_persons_focus(headed: House, web: Web) -> None:
    async with headed.agent(web) as agent:
        await agent.show("A")
        await refused(Unauthorized, agent.call(ops.SessionFront()))


async def test_no_window_asks_the_person_for_a_password(
    headed: House, web: Web, display: str
) -> None:
    guarded = web.serve(Answer(b"No", 401, headers={"WWW-Authenticate": 'Basic realm="r"'}))
    async with headed.agent(web) as agent:
        await agent.show(f"<img src='{guarded}'>")
        before = windows(display).count('": (')
        assert await agent.run(f"() => fetch('{guarded}').then((r) => r.status)") == 401
        await refused(NotFound, agent.go(guarded))
        await refused(NotFound, agent.go(guarded.replace("http://", "http://ada:wrong@")))
        assert windows(display).count('": (') == before
