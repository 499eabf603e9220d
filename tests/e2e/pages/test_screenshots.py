"""Screenshots and PDFs are made in the background, once the page is ready."""

from __future__ import annotations

import base64
import struct
import threading
from typing import Any

from roost import ops
from roost.api.page_views import ScreenshotView
from roost.broker.work.readiness import READY_SECONDS
from roost.errors import BadRequest, Timeout
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Answer, Web

TALL = "<body style='margin:0'><div style='height:3000px;background:linear-gradient(red,blue)'>"


def size_of(picture: ScreenshotView) -> tuple[int, int]:
    """Return the picture's size, read from the file."""
    assert picture.data is not None
    data = base64.b64decode(picture.data)
    if data.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    height, width = struct.unpack(">HH", data[at + 5 : at + 9])
    return width, height


async def test_viewport_page_and_element_can_be_captured_at_any_scale(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            TALL + "<p id=e style='position:absolute;left:50px;top:2000px;width:200px;height:100px;"
            "margin:0;background:#0f0'>E</p></div>"
        )
        for operation, size in (
            (ops.TakeScreenshot(), (640, 360)),
            (ops.TakeScreenshot(scale="css", type="png"), (1280, 720)),
            (ops.TakeScreenshot(scale=2), (2560, 1440)),
            (ops.TakeScreenshot(full_page=True), (640, 1500)),
            (ops.TakeScreenshot(target="#e", scale=1, type="png"), (200, 100)),
        ):
            picture = await agent.call(operation)
            assert (picture.width, picture.height) == size == size_of(picture)
        small = await agent.call(ops.TakeScreenshot(scale=1, quality=5))
        large = await agent.call(ops.TakeScreenshot(scale=1, quality=95))
        assert len(small.data or "") < len(large.data or "")
        error = await refused(BadRequest, agent.call(ops.TakeScreenshot(scale=5)))
        assert error.details["field"] == "scale"


async def test_a_picture_is_left_out_if_it_looks_like_the_agents_last_one(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<h1 style='width:200px;height:80px;background:#0f0'>Same</h1><p>Other</p>"
        )

        async def is_shown(**options: Any) -> bool:
            shot = ops.TakeScreenshot(if_changed=True, type="png", **options)
            picture = await agent.call(shot)
            assert picture.unchanged is (True if picture.data is None else None)
            return picture.data is not None

        assert await is_shown()
        assert not await is_shown()
        # A picture of another kind is compared with the last one of its kind.
        assert await is_shown(target="h1")
        assert await is_shown(scale=1)
        await agent.run("() => { document.querySelector('p').style.background = 'red' }")
        assert await is_shown()
        assert not await is_shown()
        assert not await is_shown(target="h1")
        # A picture that the agent takes in any case is its last one, too.
        await agent.run("() => { document.querySelector('p').style.background = 'blue' }")
        assert (await agent.call(ops.TakeScreenshot(type="png"))).data is not None
        assert not await is_shown()
        # Another agent has not seen it.
        async with house.agent(web, session=agent.session) as other:
            tab = (await agent.tabs()).tabs[0].tab
            picture = await other.call(ops.TakeScreenshot(if_changed=True, type="png", tab=tab))
            assert picture.data is not None


async def test_the_timeline_reports_how_the_page_became_ready(house: House, web: Web) -> None:
    style = web.serve(Answer(b"p { color: red }", kind="text/css"))
    async with house.guest(web) as agent:
        await agent.show(f"<link rel=stylesheet href='{style}'><p>Text</p>")
        picture = await agent.call(ops.TakeScreenshot())
        assert picture.readiness is not None
        events = [one.event for one in picture.readiness.timeline]
        assert events == ["start", "critical_idle", "visual_idle", "render_settled"]
        times = [one.t for one in picture.readiness.timeline]
        assert times == sorted(times)
        assert not picture.readiness.timed_out


async def test_a_screenshot_does_not_wait_for_requests_of_the_previous_page(
    house: House, web: Web
) -> None:
    never = threading.Event()
    slow = web.serve(Answer(b"", kind="image/png", held=never))
    endless = web.serve(Answer(b"<p>begun", endless=b"<p>more"))
    async with house.guest(web) as agent:
        worker = "new Worker(URL.createObjectURL(new Blob(['']))); document.title = 'Works'"
        await agent.show(f"<img src='{slow}'><script>{worker}</script>")
        left = await agent.call(ops.NetworkRequests(filter=slow))
        assert [one.error for one in left.requests] == [None]
        await refused(Timeout, agent.call(ops.Navigate(url=endless), timeout=1.5))
        await agent.show("<p>Next</p>")
        picture = await agent.call(ops.TakeScreenshot())
        assert picture.readiness is not None
        assert not picture.readiness.timed_out
    never.set()


async def test_badges_are_drawn_on_request_and_removed_afterwards(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        secret = "<input type=password value=hunter2>"
        await agent.show(f"<button>One</button>{secret}<a href='/x'>L</a>")
        before = await agent.run("() => document.documentElement.outerHTML")
        picture = await agent.call(ops.TakeScreenshot(annotate=True))
        assert picture.labels is not None
        assert [label.role for label in picture.labels] == ["button", "textbox", "link"]
        assert "hunter2" not in str(picture.labels)
        assert await agent.run("() => document.documentElement.outerHTML") == before
        await agent.click(picture.labels[0].ref)


async def test_files_are_written_into_the_agents_folders_only(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show("<h1>Print me</h1>")
        picture = await agent.call(ops.TakeScreenshot(filename="shots/one.jpg"))
        path = house.work / "shots" / "one.jpg"
        assert picture.path == str(path)
        assert picture.data is None
        assert path.read_bytes().startswith(b"\xff\xd8")
        saved = await agent.call(ops.PdfSave())
        pdf = agent.files / f"{saved.tab}.pdf"
        assert saved.path == str(pdf)
        assert pdf.read_bytes().startswith(b"%PDF")
        assert saved.bytes == len(pdf.read_bytes())
        for name in ("/etc/roost.jpg", "../../out.jpg", str(house.home.token)):
            for operation in (ops.TakeScreenshot(filename=name), ops.PdfSave(filename=name)):
                error = await refused(BadRequest, agent.call(operation))
                assert error.details["field"] == "filename"


async def test_a_tab_hidden_by_another_tab_is_captured_at_once(house: House, web: Web) -> None:
    """Chromium draws no frames in a hidden tab, so a screenshot would wait for one forever."""
    async with house.guest(web) as agent:
        popup = web.page("Popup")
        first = await agent.show(f"<a href='{popup}' target=_blank>Go</a>")
        done = await agent.click("text=Go")
        assert done.opened
        for operation in (
            ops.TakeScreenshot(tab=first.tab),
            ops.TakeScreenshot(tab=first.tab, scale=1, type="png"),
            ops.TakeScreenshot(tab=first.tab, full_page=True),
            ops.TakeScreenshot(tab=done.opened[0]),
        ):
            picture = await agent.call(operation)
            assert picture.data
            assert picture.readiness is not None
            assert not picture.readiness.timed_out


async def test_a_page_that_never_stops_loading_is_captured_before_the_timeout(
    house: House, web: Web
) -> None:
    """The image hangs, and the page begins new requests forever."""
    hangs = web.serve(Answer(held=threading.Event()))
    quick = web.serve(b"x")
    async with house.guest(web) as agent:
        await agent.show(
            f"<img src='{hangs}'><script>const poll = () => fetch('{quick}').finally(poll);"
            "poll(); poll(); poll();</script>"
        )
        for _ in range(2):
            picture = await agent.call(ops.TakeScreenshot())
            assert picture.readiness is not None
            assert picture.readiness.timed_out
            assert picture.readiness.wait_ms < READY_SECONDS * 1000 - 1000
