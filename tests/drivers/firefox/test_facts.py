"""Facts about Firefox that the driver relies on (docs/design/browsers.md), each with its test."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from roost.drivers import events
from roost.drivers.base import (
    Input,
    InsertText,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Shot,
    Wheel,
)
from roost.drivers.events import (
    BrowserEnded,
    DialogOpened,
    RequestSent,
    TabNavigated,
    TabOpened,
)
from roost.errors import BadRequest, BrowserLost, TabCrashed
from roost.local.processes import identify, is_alive
from roost.testing.driver_rig import COOKIES, HREF, Reports
from roost.testing.waits import answer_of, error_of, started
from roost.vocabulary import JarPolicy, TabHandle
from tests.drivers.managed_harness import FirefoxUnderTest, ManagedHarness, managed_harness

pytestmark = pytest.mark.browser
CLICK: list[Input] = [MouseDown(), MouseUp()]
EXTENSION = {
    "manifest_version": 2,
    "name": "Facts",
    "version": "1",
    "permissions": ["<all_urls>", "tabs", "cookies", "tabGroups"],
    "background": {"scripts": ["background.js"]},
    "content_scripts": [{"matches": ["<all_urls>"], "js": ["content.js"]}],
}
BACKGROUND = """browser.runtime.onMessage.addListener(async (_, { tab }) => ({
  store: tab.cookieStoreId,
  picture: await browser.tabs.captureTab(tab.id),
  canGroup: typeof browser.tabGroups?.query === "function",
}));"""
CONTENT = """browser.runtime.sendMessage("who am I?").then(
  (seen) => { document.documentElement.dataset.seen = JSON.stringify(seen); });"""
SEEN = """async () => {
  const { dataset } = document.documentElement;
  while (!dataset.seen) await new Promise((look) => setTimeout(look, 5));
  return JSON.parse(dataset.seen);
}"""


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedHarness[FirefoxUnderTest]]:
    with managed_harness(tmp_path_factory.mktemp("home"), FirefoxUnderTest) as harness:
        yield harness


async def open_page(driver: FirefoxUnderTest, url: str, jar: str | None = None) -> TabHandle:
    tab = await driver.open_tab(jar or await driver.make_jar(JarPolicy.FRESH))
    await driver.page(tab).navigate(url)
    return tab


def session_asked_at(port: int) -> dict[str, Any]:
    """Return the answer that another client gets when it asks for a session."""
    with connect(f"ws://127.0.0.1:{port}/session") as stranger:
        stranger.send('{"id": 1, "method": "session.new", "params": {"capabilities": {}}}')
        answer: dict[str, Any] = json.loads(stranger.recv(timeout=5))
    return answer


async def put(driver: FirefoxUnderTest, tab: TabHandle, html: str) -> None:
    """Replace the body of the current page."""
    await driver.page(tab).evaluate(f"() => {{ document.body.innerHTML = {json.dumps(html)} }}")


async def test_no_other_client_gets_a_session_while_the_keeper_holds_it(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        assert session_asked_at(driver.port)["error"] == "session not created"


async def test_popups_without_an_opener_are_known_by_who_opened_them(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    reports = Reports()
    async with harness.guest(reports) as driver:
        jar = await driver.make_jar(JarPolicy.FRESH)
        opener = await open_page(driver, harness.url("/"), jar)
        sized = '"_blank", "noopener,width=300,height=200"'
        await driver.page(opener).evaluate(f"() => {{ window.open('/other', {sized}) }}")
        popup = await reports.first(TabOpened)
        assert (popup.opener, popup.jar) == (opener, jar)
        tree = await driver._browser().call("browsingContext.getTree")
        windows = {context["clientWindow"] for context in tree["contexts"]}
        assert len(windows) == 1, "a tab in the same window, so nobody's tab lands in a popup's"


async def test_opening_a_tab_uses_up_the_activation_of_a_click(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """So after a click that leaves the activation unused, Roost need not wait for tabs."""
    opens = {
        "<button>Nothing</button>": True,
        "<button onclick=\"open('/other', '', 'noopener')\">Script</button>": False,
        "<a href=/other target=_blank>Link</a>": False,
        "<form action=/other target=_blank><button>Form</button></form>": False,
        "<a id=a href=/other target=_blank></a><button onclick='a.click()'>Both</button>": False,
    }
    async with harness.guest(Reports()) as driver:
        for html, is_left in opens.items():
            tab = await open_page(driver, harness.url("/"))
            await put(driver, tab, f"<div style='zoom: 3'>{html}</div>")
            before = len(driver.tab_handles)
            answer = await driver.page(tab).act([MouseMove(30, 30), *CLICK], None, {})
            assert answer is not None
            assert answer["hasActivation"] is is_left, html
            assert len(driver.tab_handles) == before + (not is_left), "known when the click is over"


async def test_an_extension_tells_jars_apart_and_pictures_tabs_in_the_background(
    harness: ManagedHarness[FirefoxUnderTest], tmp_path: Path
) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(EXTENSION), encoding="utf-8")
    (tmp_path / "background.js").write_text(BACKGROUND, encoding="utf-8")
    (tmp_path / "content.js").write_text(CONTENT, encoding="utf-8")
    async with harness.guest(Reports()) as driver:
        bidi = driver._browser()
        data = {"type": "path", "path": str(tmp_path)}
        extension = (await bidi.call("webExtension.install", {"extensionData": data}))["extension"]
        try:
            jars = [await driver.make_jar(JarPolicy.FRESH) for _ in range(2)]
            stores = []
            for jar in (*jars, jars[0]):
                tab = await open_page(driver, harness.url("/"), jar)
                seen = await driver.page(tab).evaluate(SEEN)
                stores.append(seen["store"])
                assert seen["picture"].startswith("data:image/png")
                assert seen["canGroup"]
            first, second, again = stores
            assert first.startswith("firefox-container-")
            assert first == again != second
        finally:
            await bidi.call("webExtension.uninstall", {"extension": extension})


async def test_a_script_under_way_is_not_run_again_in_the_next_page(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """By default, Firefox repeats the script until it ends (``remote.retry-on-abort``)."""
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        function = (
            "async () => { window.runs = (window.runs ?? 0) + 1; await new Promise(() => {}) }"
        )
        call = await started(driver.page(tab).evaluate(function))
        await driver.page(tab).evaluate("() => { location.href = '/other' }")
        await error_of(BadRequest, call)
        assert await driver.page(tab).evaluate("() => window.runs ?? 0") == 0


async def test_the_wheel_scrolls_the_element_under_the_pointer_in_background_tabs(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """By default, Firefox sends such pages the event and scrolls nothing."""
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        long = "<div style='height: 9000px'></div>"
        box = "position: absolute; left: 0; top: 0; width: 90px; height: 90px; overflow: auto"
        await put(driver, tab, f"{long}<div id=d style='{box}'>{long}</div>")
        at = "() => [d.scrollTop, scrollY]"
        await driver.page(tab).act([Wheel(50, 50, 0, 60)], None, {})
        assert await driver.page(tab).evaluate(at) == [60, 0], "the innermost"
        await driver.page(tab).act([Wheel(200, 200, 0, 70)], None, {})
        assert await driver.page(tab).evaluate(at) == [60, 70]
        keep = "() => addEventListener('wheel', (e) => e.preventDefault(), { passive: false })"
        await driver.page(tab).evaluate(f"() => {{ ({keep})() }}")
        await driver.page(tab).act([Wheel(200, 200, 0, 70)], None, {})
        assert await driver.page(tab).evaluate(at) == [60, 70], "the page has kept it to itself"


async def test_input_reaches_new_elements_in_background_tabs(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """Firefox lays out a hidden page about once a second, and finds the wheel's target in the
    old layout."""
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        long = "<div style='height: 9000px'></div>"
        await put(driver, tab, long)
        for n in range(1, 11):
            box = f"position: absolute; left: 0; top: {9 * n}px; width: 90px; height: 90px"
            inner = f"<div id=d onclick='this.title = {n}' style='{box}; overflow: auto'>{long}"
            await put(driver, tab, f"{long}{inner}</div>")
            await driver.page(tab).act([Wheel(50, 95, 0, 60)], None, {})
            assert await driver.page(tab).evaluate("() => [d.scrollTop, scrollY]") == [60, 0]
            await put(driver, tab, f"{long}{inner}</div>")
            await driver.page(tab).act([MouseMove(50, 95), *CLICK], None, {})
            assert await driver.page(tab).evaluate("() => d.title") == str(n)


async def test_input_reaches_frames_of_other_sites_in_tabs_in_the_background(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        elsewhere = harness.url("/other").replace("127.0.0.1", "localhost")
        await put(
            driver, tab, f"<iframe src='{elsewhere}' style='border: 7px solid; margin: 30px'>"
        )
        while (await driver.page(tab).all_frames())[1].url != elsewhere:
            pass  # each look is a trip to the browser
        frame = (await driver.page(tab).all_frames())[1].id
        await driver.page(tab).evaluate(
            """async () => {
              while (document.readyState !== "complete") await new Promise((go) => setTimeout(go));
              document.body.innerHTML = "<input id=i style='position: absolute; left: 0; top: 0'>";
              for (const kind of ["click", "keydown", "input"])
                i.addEventListener(kind, (e) => document.title += ` ${kind} ${e.isTrusted}`);
            }""",
            frame=frame,
        )
        corner = await driver.page(tab).call_page(None, "frameOwner", {}, owner_of=frame)
        at = MouseMove(corner["x"] + 10, corner["y"] + 10)
        await driver.page(tab).act([at, *CLICK], None, {})
        await driver.page(tab).act([KeyDown("a"), KeyUp("a")], None, {})
        await driver.page(tab).act([InsertText("bc")], None, {})
        seen = await driver.page(tab).evaluate("() => [i.value, document.title]", frame=frame)
        assert seen[0] == "abc"
        assert seen[1].split(" ", 1)[1] == ("click true keydown true input true input true"), (
            "and everything is trusted"
        )


async def test_keys_operate_buttons_in_tabs_in_the_background(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        await put(driver, tab, "<button id=b>B</button><input type=checkbox id=c>")
        await driver.page(tab).evaluate(
            """() => {
              window.log = [];
              b.onclick = (event) => log.push(event.isTrusted);
              c.onkeydown = (event) => log.length > 1 && event.preventDefault();
              b.focus();
            }""",
        )
        await driver.page(tab).act([KeyDown("Enter"), KeyUp("Enter")], None, {})
        await driver.page(tab).act([KeyDown(" "), KeyUp(" ")], None, {})
        assert await driver.page(tab).evaluate("() => log") == [True, True]
        await driver.page(tab).evaluate("() => c.focus()")
        await driver.page(tab).act([KeyDown(" "), KeyUp(" ")], None, {})
        assert not await driver.page(tab).evaluate("() => c.checked"), (
            "the page took the key itself"
        )


async def test_tabs_in_the_background_have_frames_like_one_in_front(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """By default, Firefox doubles the time between two frames again and again: fifteen frames
    would take minutes."""
    frames = """async () => {
      for (let frame = 0; frame < 15; frame += 1) await new Promise(requestAnimationFrame);
      return document.visibilityState;
    }"""
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        assert await driver.page(tab).evaluate(frames) == "visible"
        await open_page(driver, harness.url("/"))
        assert await driver.page(tab).evaluate(frames) == "hidden"


async def test_a_picture_is_scaled_down_whatever_the_page_forbids(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        await driver.page(tab).evaluate(
            """() => {
              const rule = document.createElement("meta");
              rule.httpEquiv = "Content-Security-Policy";
              rule.content = "default-src 'none'";
              document.head.append(rule);
              HTMLCanvasElement.prototype.toDataURL = () => "data:,spoilt";
            }""",
        )
        whole = await driver.page(tab).capture(Shot(scale=1))
        half = await driver.page(tab).capture(Shot(scale=0.5))
        assert (half.width * 2, half.height * 2) == (whole.width, whole.height)


async def test_the_next_broker_knows_crashes_dialogs_and_popups_since_the_last(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        crashing = await open_page(driver, harness.url("/"))
        talking, opening = [await open_page(driver, harness.url("/")) for _ in range(2)]
        await driver.page(talking).evaluate("() => { setTimeout(() => confirm('Really?'), 300) }")
        await driver.page(opening).evaluate(
            "() => { setTimeout(() => window.open('/other', '', 'noopener'), 300) }"
        )
        pid = await driver.page_pid(crashing)
        driver.dies_like_its_broker()
        os.kill(pid, signal.SIGKILL)
        reports = Reports()
        heir = await harness.heir(reports)
        dialog = await reports.first(DialogOpened)
        assert (dialog.handle, dialog.message) == (talking, "Really?")
        popup = await reports.first(TabOpened)
        assert popup.opener == opening
        await heir.page(talking).answer_dialog(accept=True, text=None)
        await error_of(TabCrashed, heir.page(crashing).evaluate(HREF))
        assert (await heir.page(crashing).reload()).url == harness.url("/")


@pytest.fixture
def silent() -> Iterator[str]:
    """Return an address whose server accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


async def test_a_tab_whose_process_dies_before_its_first_page_comes_has_crashed(
    harness: ManagedHarness[FirefoxUnderTest], silent: str
) -> None:
    async with harness.guest(reports := Reports()) as driver:
        tab = await driver.open_tab(await driver.make_jar(JarPolicy.FRESH))
        pid = await driver.page_pid(tab)
        going = await started(driver.page(tab).navigate(silent))
        await reports.first(RequestSent)
        os.kill(pid, signal.SIGKILL)
        assert (await reports.first(events.TabCrashed)).handle == tab
        with suppress(TabCrashed):  # Firefox may tell first that the request ended
            await answer_of(going)
        await error_of(TabCrashed, driver.page(tab).evaluate(HREF))


async def test_the_next_broker_finds_a_popup_that_its_opener_wrote_into_alive(
    harness: ManagedHarness[FirefoxUnderTest], silent: str
) -> None:
    async with harness.guest(reports := Reports()) as driver:
        tab = await open_page(driver, harness.url("/"))
        write = f"() => {{ window.open('{silent}').document.write('<p>Written') }}"
        await driver.page(tab).evaluate(write)
        popup = (await reports.first(TabOpened)).handle
        written = "() => document.body.textContent"
        assert await driver.page(popup).evaluate(written) == "Written"
        driver.dies_like_its_broker()
        heir = await harness.heir(Reports())
        assert await heir.page(popup).evaluate(written) == "Written"


async def test_a_tab_that_a_killed_broker_was_opening_is_closed(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    async with harness.guest(Reports()) as driver:
        jar = await driver.make_jar(JarPolicy.FRESH)
        opening = await started(driver.open_tab(jar))
        reports = Reports()
        heir = await harness.heir(reports)
        await error_of(BrowserLost, opening)
        tab = await heir.open_tab(jar)
        assert list(heir.tab_handles) == [tab]
        assert not [event for event in reports.events if isinstance(event, TabOpened)]


async def test_a_tab_can_leave_a_frozen_page_and_keeps_its_handle(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    reports = Reports()
    async with harness.guest(reports) as driver:
        tab = await open_page(driver, harness.url("/"))
        call = await started(driver.page(tab).evaluate("() => { for (;;); }"))
        arrival = await driver.page(tab).navigate(harness.url("/other"))
        assert arrival.title == "Other"
        await reports.first(TabNavigated, lambda event: event.url == harness.url("/other"))
        call.cancel()
        heir = await harness.heir(Reports())
        assert await heir.page(tab).evaluate(HREF) == harness.url("/other")


async def test_the_next_firefox_has_no_jars_of_a_killed_one(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """Firefox stores user contexts on disk. Without help they would come back without names,
    under their old numbers, with everything stored in them."""
    reports = Reports()
    async with harness.guest(reports) as driver:
        tab = await open_page(driver, harness.url("/"))
        await driver.page(tab).evaluate("() => document.cookie = 'who=before; max-age=6000'")
        await driver.page(tab).evaluate("() => localStorage.setItem('who', 'before')")
        os.kill(driver.browser_pid, signal.SIGKILL)
        await reports.first(BrowserEnded)
        again = await driver.start(Reports())
        assert again.jars == frozenset()
        tab = await open_page(driver, harness.url("/"))
        assert await driver.page(tab).evaluate(COOKIES) == ""
        assert await driver.page(tab).evaluate("() => localStorage.getItem('who')") is None


async def test_a_firefox_whose_keeper_died_is_ended_before_the_next_starts(
    harness: ManagedHarness[FirefoxUnderTest],
) -> None:
    """Firefox gives out its one session only once, so the browser is useless without its keeper."""
    reports = Reports()
    async with harness.guest(reports) as driver:
        orphan = identify(driver.browser_pid)
        assert orphan is not None
        os.kill(driver.keeper_pid, signal.SIGKILL)
        await reports.first(BrowserEnded)
        again = await driver.start(Reports())
        assert not again.resumed
        assert not is_alive(orphan)
