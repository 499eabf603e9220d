"""A reply contains the result: what the action's requests brought, and the page after a
navigation."""

from __future__ import annotations

import threading

from roost import ops
from roost.errors import DialogOpen
from tests.support.house import House
from tests.support.local_web import Answer, Request, Respond, Web


def slow(web: Web, body: bytes, after_ms: int = 300) -> tuple[str, str]:
    """Return an address that answers late, and a script that defines ``later()``.

    ``later()`` loads a picture after a while, when a click has long settled. Only then does the
    server answer the address.
    """
    ticked = threading.Event()

    def tick(request: Request) -> Answer:
        ticked.set()
        return Answer(b"", 204)

    picture = web.serve(tick)
    load = f"new Image().src = '{picture}'"
    script = f"<script>const later = () => setTimeout(() => {{ {load} }}, {after_ms})</script>"
    return web.serve(Answer(body, kind="text/plain", held=ticked)), script


async def test_a_click_waits_for_the_answer_to_its_request(house: House, web: Web) -> None:
    save, later = slow(web, b"Saved as 7")
    async with house.guest(web) as agent:
        await agent.show(
            f"""{later}<p id=out></p><p id=log></p><button onclick='save()'>Go</button><script>
            async function save() {{
              out.textContent = "Saving…"; log.textContent = "Pressed once"; later();
              out.textContent = await (await fetch("{save}", {{ method: "POST" }})).text();
            }}</script>"""
        )
        await agent.snapshot()
        done = await agent.click("text=Go")
        assert "Saved as 7" in (done.snapshot or "")
        assert "Pressed once" in (done.snapshot or ""), "what changed at once is not lost"
        assert "Saving…" not in (done.snapshot or "")
        assert done.under_way is None


async def test_a_click_on_an_unread_page_shows_the_page_after_the_answer(
    house: House, web: Web
) -> None:
    save, later = slow(web, b"Saved as 8")
    async with house.guest(web) as agent:
        await agent.show(
            f"""{later}<p id=out></p><p>Unread</p><button onclick='save()'>Go</button><script>
            function save() {{
              const asked = new XMLHttpRequest(); later();
              asked.onload = () => {{ out.textContent = asked.responseText }};
              asked.open("GET", "{save}"); asked.send();
            }}</script>"""
        )
        done = await agent.click("text=Go")
        assert "Saved as 8" in (done.snapshot or "")
        assert "Unread" in (done.snapshot or "")


async def test_a_click_also_waits_for_follow_up_requests(house: House, web: Web) -> None:
    save, later = slow(web, b"ok")
    load = web.serve(Answer(b"Three items", kind="text/plain"))
    async with house.guest(web) as agent:
        await agent.show(
            f"""{later}<p id=out></p><button onclick='save()'>Go</button><script>
            async function save() {{
              later(); await fetch("{save}", {{ method: "POST" }});
              out.textContent = await (await fetch("{load}")).text();
            }}</script>"""
        )
        await agent.snapshot()
        done = await agent.click("text=Go")
        assert "Three items" in (done.snapshot or "")


async def test_a_redirect_by_script_after_the_answer_is_followed(house: House, web: Web) -> None:
    save, later = slow(web, b"ok")
    goal = web.page("<h1>Order 12</h1>", title="Thanks")
    async with house.guest(web) as agent:
        await agent.show(
            f"""{later}<button onclick='save()'>Buy</button><script>
            async function save() {{
              later(); await fetch("{save}", {{ method: "POST" }});
              setTimeout(() => {{ location = "{goal}" }}, 10);
            }}</script>"""
        )
        await agent.snapshot()
        done = await agent.click("text=Buy")
        assert (done.url, done.title) == (goal, "Thanks")
        assert "Order 12" in (done.snapshot or "")


async def test_a_request_that_does_not_end_is_named_in_the_reply(house: House, web: Web) -> None:
    hangs = web.serve(Answer(b"", held=threading.Event()))
    async with house.guest(web) as agent:
        await agent.show(
            f"""<button onclick='fetch("{hangs}?token=secret", {{ method: "POST" }})'>Go</button>"""
        )
        done = await agent.click("text=Go")
        assert done.under_way is not None
        assert [one.partition("?")[0] for one in done.under_way] == [f"POST {hangs}"]
        assert "secret" not in str(done.under_way)


def renewed(never: threading.Event) -> Respond:
    """Serve a long poll: the first answer comes when the page sends a beacon, the next one
    never."""
    released = threading.Event()

    def respond(request: Request) -> Answer:
        if "release" in request.path:
            released.set()
            return Answer(b"", 204)
        return Answer(b"news", held=never if released.is_set() else released)

    return respond


async def test_streams_beacons_pictures_and_renewed_long_polls_are_not_waited_for(
    house: House, web: Web
) -> None:
    never = threading.Event()
    stream = web.serve(Answer(endless=b": hi\n\n", kind="text/event-stream"))
    beacon, picture = (web.serve(Answer(b"", held=never)) for _ in range(2))
    long_poll = web.serve(renewed(never))
    async with house.guest(web) as agent:
        await agent.show(
            f"""<button onclick='start()'>Go</button><p id=out></p><script>
            const poll = async () => {{ await fetch("{long_poll}"); poll(); }};
            poll();
            function start() {{
              new EventSource("{stream}"); navigator.sendBeacon("{beacon}", "x");
              new Image().src = "{picture}"; navigator.sendBeacon("{long_poll}?release");
              fetch("{stream}"); out.textContent = "Gone";
            }}</script>"""
        )
        await agent.snapshot()
        done = await agent.click("text=Go")
        assert "Gone" in (done.snapshot or "")
        assert done.under_way is None


async def test_a_poll_that_ran_before_the_click_is_not_waited_for(house: House, web: Web) -> None:
    never = threading.Event()
    asked: list[Request] = []

    def poll(request: Request) -> Answer:
        asked.append(request)
        return Answer(b"", held=never if len(asked) > 3 else None)

    url = web.serve(poll)
    async with house.guest(web) as agent:
        await agent.show(
            f"""<p id=out>0</p><button onclick='fetch("{url}?now")'>Go</button><script>
            let count = 0;
            const timer = setInterval(async () => {{
              await fetch("{url}?" + count); out.textContent = ++count;
              if (count === 3) clearInterval(timer);
            }}, 100);</script>"""
        )
        await agent.wait(text="3")
        done = await agent.click("text=Go")
        assert done.under_way is None
        while len(asked) <= 3:  # the click sends its request, maybe after its reply
            await agent.call(ops.Ping())


async def test_a_navigation_shows_the_page_if_it_is_asked_to(house: House, web: Web) -> None:
    first = web.page("<h1>First</h1><a href='/x'>Link</a>")
    second = web.page("<h1>Second</h1>")
    async with house.guest(web) as agent:
        silent = await agent.go(first)
        assert (silent.snapshot, silent.changes) == (None, None), "none is the default in Python"
        shown = await agent.go(first, snapshot="diff")
        assert 'heading "First"' in (shown.snapshot or "")
        await agent.go(second)
        back = await agent.call(ops.NavigateBack(snapshot="diff"))
        assert 'heading "First"' in (back.snapshot or "")
        forward = await agent.call(ops.NavigateForward(snapshot="full"))
        assert 'heading "Second"' in (forward.snapshot or "")
        again = await agent.call(ops.Reload(snapshot="diff"))
        assert 'heading "Second"' in (again.snapshot or "")


async def test_the_page_after_a_navigation_is_bounded_and_says_how_to_go_on(
    house: House, web: Web
) -> None:
    long = web.page("".join(f"<p><a href='/{n}'>Item number {n}</a></p>" for n in range(1000)))
    async with house.guest(web) as agent:
        shown = await agent.go(long, snapshot="diff")
        assert shown.snapshot is not None
        assert len(shown.snapshot) <= 4200
        assert "after=" in shown.snapshot


async def test_a_wait_returns_the_page_that_it_waited_for(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p id=a>Old</p><script>go = () => { a.textContent = 'New' }</script>")
        await agent.snapshot()
        await agent.run("() => { setTimeout(go, 50) }")
        waited = await agent.wait(text="New", snapshot="diff")
        assert "New" in (waited.snapshot or "")
        assert waited.changes is not None


async def test_selecting_and_opening_a_tab_shows_its_page(house: House, web: Web) -> None:
    one, two = web.page("<h1>One</h1>"), web.page("<h1>Two</h1>")
    async with house.agent(web) as agent:
        first = (await agent.go(one)).tab
        opened = await agent.call(ops.Tabs(action="new", url=two, snapshot="diff"))
        assert 'heading "Two"' in (opened.snapshot or "")
        selected = await agent.call(ops.Tabs(action="select", tab=first, snapshot="diff"))
        assert 'heading "One"' in (selected.snapshot or "")


async def test_a_dialog_that_opens_after_the_arrival_leaves_out_the_snapshot(
    house: House, web: Web
) -> None:
    page = web.page("<script src='/later.js'></script>")
    web.serve(Answer(b"setTimeout(() => alert('Now'), 100)", kind="text/javascript"), "/later.js")
    async with house.agent(web) as agent:
        await agent.go("about:blank")
        try:
            shown = await agent.go(page, snapshot="diff")
        except DialogOpen:
            pass  # the dialog opened before the page had loaded
        else:
            assert shown.snapshot is None
        await agent.answer(True)


async def test_a_single_page_application_is_shown_once_it_has_drawn_something(
    house: House, web: Web
) -> None:
    data, later = slow(web, b"Inbox (3)", after_ms=600)
    script = web.serve(
        Answer(
            f"""fetch("{data}").then((got) => got.text()).then((text) => {{
              document.body.innerHTML = "<h1>" + text + "</h1><button>Compose</button>";
            }}); later();""".encode(),
            kind="text/javascript",
        )
    )
    page = web.page(f"{later}<div id=app>Loading…</div><script src='{script}'></script>")
    async with house.guest(web) as agent:
        shown = await agent.go(page, snapshot="diff")
        assert "Inbox (3)" in (shown.snapshot or "")
