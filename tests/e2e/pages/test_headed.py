"""With windows on a screen (Xvfb's): what the headless tests show holds there too."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from roost import ops
from roost.errors import NotFound
from tests.support.local_web import Answer, Web
from tests.support.pages_house import TRUSTED, House, house_of, refused


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


async def test_hidden_tabs_take_clicks_keys_and_give_pictures(headed: House, web: Web) -> None:
    """Headed Chromium drops input to hidden tabs, unless told that each has the focus."""
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


async def test_popups_dialogs_drags_and_downloads(headed: House, web: Web) -> None:
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


async def test_resizing_is_each_tabs_own(headed: House, web: Web) -> None:
    async with headed.agent(web) as agent:
        first = await agent.show("First")
        other = await agent.open(web.page("Other"))
        size = "() => [innerWidth, innerHeight]"
        before = await agent.run(size, tab=other)
        await agent.call(ops.Resize(width=500, height=400, tab=first.tab))
        assert await agent.run(size, tab=first.tab) == [500, 400]
        assert await agent.run(size, tab=other) == before


def windows(display: str) -> str:
    """The windows on that screen, by their titles: a browser's says which tab is in front."""
    listing = shutil.which("xwininfo")
    if listing is None:
        pytest.skip("xwininfo is not installed: sudo apt install x11-utils")
    command = [listing, "-display", display, "-root", "-tree"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


async def test_nothing_brings_a_tab_to_the_front(headed: House, web: Web, display: str) -> None:
    """In Firefox the one in front is the blank tab that is nobody's."""
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
