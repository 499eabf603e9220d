"""Navigation returns the final address and status, whatever the server does."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost import ops
from roost.errors import BadRequest, NotFound, Timeout, UrlBlocked
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Answer, Web, dead_server, guarded, local_web, self_signed


async def test_redirects_end_at_the_real_address_with_its_status(house: House, web: Web) -> None:
    goal = web.page("Goal", title="Goal")
    once = web.serve(Answer(status=302, headers={"Location": goal}))
    twice = web.serve(Answer(status=301, headers={"Location": once}))
    async with house.guest(web) as agent:
        arrived = await agent.go(twice)
        assert (arrived.url, arrived.status, arrived.title) == (goal, 200, "Goal")
        missing = await agent.go(web.base + "/missing")
        assert missing.status == 404


async def test_a_status_without_content_leaves_the_tab_where_it_was(house: House, web: Web) -> None:
    nothing = web.serve(Answer(status=204))
    async with house.guest(web) as agent:
        page = await agent.show(f"<a href='{nothing}'>Go</a>", title="Here")
        assert (await agent.click("text=Go")).url == page.url
        arrived = await agent.go(nothing)
        assert (arrived.url, arrived.status) == (page.url, 204)


async def test_back_forward_and_reload_return_the_resulting_page(house: House, web: Web) -> None:
    visits = iter(range(10))
    one = web.serve(lambda _: Answer(f"<title>One</title>{next(visits)}".encode()))
    two = web.page("Two", title="Two")
    async with house.guest(web) as agent:
        await agent.go(one)
        await agent.go(two)
        back = await agent.call(ops.NavigateBack())
        assert (back.url, back.title) == (one, "One")
        forward = await agent.call(ops.NavigateForward())
        assert (forward.url, forward.title) == (two, "Two")
        await refused(NotFound, agent.call(ops.NavigateForward()))
        await agent.call(ops.NavigateBack())
        before = await agent.run("() => document.body.textContent")
        again = await agent.call(ops.Reload())
        assert (again.url, again.status) == (one, 200)
        assert await agent.run("() => document.body.textContent") != before


async def test_a_page_restored_from_the_back_forward_cache_keeps_its_state(
    house: House, web: Web
) -> None:
    one = web.serve(Answer(b"<title>One</title><input>", headers={"Cache-Control": "max-age=60"}))
    two = web.page("Two")
    async with house.guest(web) as agent:
        await agent.go(one)
        await agent.type("input", "kept")
        await agent.go(two)
        back = await agent.call(ops.NavigateBack())
        assert back.url == one
        assert "One" in (await agent.tabs()).tabs[0].title
        await agent.type("input", "still works")
        assert await agent.run("() => document.querySelector('input').value") == "still works"


async def test_navigations_within_a_document_are_followed(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        page = await agent.show(
            "<a href='#part'>Part</a><p id=part>P</p>"
            "<button onclick=\"history.pushState({}, '', '/pushed')\">Push</button>"
        )
        assert (await agent.click("text=Part")).url == f"{page.url}#part"
        assert (await agent.click("text=Push")).url == f"{web.base}/pushed"
        back = await agent.call(ops.NavigateBack())
        assert back.url == f"{page.url}#part"
        again = await agent.go(f"{page.url}#other")
        assert again.url == f"{page.url}#other"
        assert (await agent.click("text=Push")).url == f"{web.base}/pushed"


async def test_redirects_by_script_and_meta_refresh_are_followed(house: House, web: Web) -> None:
    goal = web.page("<h1>Goal</h1>", title="Goal")
    async with house.guest(web) as agent:
        await agent.show(f"<meta http-equiv=refresh content='0;url={goal}'>")
        await agent.wait(url=goal)
        await agent.wait(text="Goal")
        await agent.show(f"<script>location.replace('{goal}')</script>")
        await agent.wait(text="Goal")
        assert (await agent.tabs()).tabs[0].url == goal


async def test_waiting_continues_across_navigations(house: House, web: Web) -> None:
    last = web.page("<h1>Arrived</h1>")
    middle = web.page(f"<script>setTimeout(() => location = '{last}', 50)</script>Middle")
    async with house.guest(web) as agent:
        await agent.show(f"<script>setTimeout(() => location = '{middle}', 50)</script>Start")
        done = await agent.wait(text="Arrived")
        assert done.url == last
        await agent.wait(selector="h1")
        await agent.wait(text_gone="Start")
        await refused(Timeout, agent.wait(text="Nowhere", timeout=0.2))
        waited = await agent.wait(time=0.01)
        assert waited.waited_ms >= 10


async def test_slow_subresources_do_not_block_the_answer(house: House, web: Web) -> None:
    never = threading.Event()
    slow = web.serve(Answer(b"", kind="image/png", held=never))
    async with house.agent(web) as agent:
        page = await agent.show(f"<h1>Here</h1><img src='{slow}'>")
        assert page.status == 200
        picture = await agent.call(ops.TakeScreenshot(), timeout=2)
        assert picture.readiness is not None
        assert picture.readiness.timed_out, "and the picture is taken all the same"
        assert picture.readiness.timeline[-1].event == "gave_up"
        never.set()


async def test_a_page_that_never_ends_times_out_and_the_next_call_works(
    house: House, web: Web
) -> None:
    endless = web.serve(Answer(b"<title>Endless</title><p>begun", endless=b"<p>more"))
    silent = web.serve(Answer(held=threading.Event()))
    async with house.agent(web) as agent:
        await agent.show("Start")
        await refused(Timeout, agent.call(ops.Navigate(url=endless), timeout=1.5))
        assert "begun" in (await agent.call(ops.GetContent())).text
        await refused(Timeout, agent.call(ops.Navigate(url=silent), timeout=1.5))
        assert (await agent.show("Next", title="Next")).title == "Next"


async def test_a_click_to_a_silent_server_times_out_and_later_calls_work(
    house: House, web: Web
) -> None:
    silent = web.serve(Answer(held=threading.Event()))
    async with house.guest(web) as agent:
        await agent.show(f"<a href='{silent}'>Go</a><button onclick='n = 1'>B</button>")
        await refused(Timeout, agent.call(ops.Click(target="text=Go"), timeout=1.5))
        await agent.click("text=B")
        assert await agent.run("() => n") == 1


async def test_the_reason_is_reported_when_a_server_cannot_be_reached(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show("Start")
        with dead_server() as nowhere:
            error = await refused(NotFound, agent.go(nowhere))
            assert "CONNECTION_REFUSED" in str(error.details["reason"])
        error = await refused(NotFound, agent.go("http://no-such-host.invalid/"))
        assert re.search("NAME_NOT_RESOLVED|UNKNOWN_HOST", str(error.details["reason"]))
        round_trip = web.base + "/round"
        web.serve(Answer(status=302, headers={"Location": round_trip}), "/round")
        error = await refused(NotFound, agent.go(round_trip))
        assert "REDIRECT" in str(error.details["reason"])
        assert (await agent.show("Next")).status == 200


@pytest.fixture(scope="module")
def secure_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with local_web(self_signed(Path(tmp_path_factory.mktemp("tls")))) as web:
        yield web


async def test_self_signed_certificates_are_refused(
    house: House, web: Web, secure_web: Web
) -> None:
    url = secure_web.page("Secret")
    async with house.agent(web) as agent:
        error = await refused(NotFound, agent.go(url))
        assert "CERT" in str(error.details["reason"])
        assert (await agent.show("Next")).status == 200


async def test_a_password_in_the_address_is_sent_to_the_server(house: House, web: Web) -> None:
    url = web.serve(guarded("ada:secret", Answer(b"<title>In</title>")))
    async with house.agent(web) as agent:
        error = await refused(NotFound, agent.go(url))
        assert "password@" in error.hint
        await refused(NotFound, agent.go(url.replace("http://", "http://ada:wrong@")))
        inside = await agent.go(url.replace("http://", "http://ada:secret@"))
        assert (inside.status, inside.title) == (200, "In")
        assert "secret" not in inside.url
        another = await agent.open(url)
        assert await agent.run("() => document.title", tab=another) == "In", "the whole jar is in"
    async with house.agent(web) as other:
        await refused(NotFound, other.go(url))


async def test_a_fetch_without_its_password_fails_and_opens_no_dialog(
    house: House, web: Web
) -> None:
    """Chromium would ask the person in a window that no command can close, and the page would
    wait."""
    guarded = web.serve(Answer(b"No", 401, headers={"WWW-Authenticate": 'Basic realm="r"'}))
    async with house.agent(web) as agent:
        await agent.show(f"<img src='{guarded}'><p>Here</p>")
        assert await agent.run(f"() => fetch('{guarded}').then((r) => r.status)") == 401


async def test_a_password_is_sent_only_to_its_own_server(house: House, web: Web) -> None:
    elsewhere = web.there(web.serve(Answer(b"1", headers={"Access-Control-Allow-Origin": "*"})))
    gone = web.there(web.page("Elsewhere"))
    async with house.agent(web) as agent:
        here = web.serve(guarded("ada:secret", Answer(b"Here")))
        await agent.go(here.replace("http://", "http://ada:secret@"))
        await agent.run(f"() => fetch('{elsewhere}').then((r) => r.text())")
        moved = web.serve(guarded("ada:secret", Answer(status=302, headers={"Location": gone})))
        assert (await agent.go(moved)).url == gone
        for url, is_told in ((here, True), (moved, True), (elsewhere, False), (gone, False)):
            # Firefox waits to be asked for it the first time.
            assert ("authorization" in web.requested(url)[-1].headers) is is_told, url


BLOCKED = [
    "file:///etc/passwd", "FILE:///etc/passwd", "fi\tle:///etc/passwd", " \n file:///etc/passwd",
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "data:text/html,x",
    "view-source:http://example.com", "chrome://version", "chrome-extension://x/", "about:config",
    "blob:http://127.0.0.1/x", "ftp://example.com/", "filesystem:http://x/",
]  # fmt: skip


@pytest.mark.parametrize("url", ["", "nonsense", "http://", "//example.com", "http://[::1"])
async def test_an_invalid_address_is_a_bad_request(house: House, web: Web, url: str) -> None:
    async with house.agent(web) as agent:
        error = await refused(BadRequest, agent.go(url))
        assert error.details["field"] == "url"


@pytest.mark.parametrize("url", BLOCKED)
async def test_non_web_addresses_are_refused_in_every_spelling(
    house: House, web: Web, url: str
) -> None:
    async with house.agent(web) as agent:
        await refused(UrlBlocked, agent.go(url))
        await refused(UrlBlocked, agent.call(ops.Tabs(action="new", url=url)))


async def test_a_redirect_to_a_blocked_scheme_is_not_followed(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        page = await agent.show("Start")
        for goal in ("file:///etc/passwd", "javascript:alert(1)", "chrome://version"):
            url = web.serve(Answer(status=302, headers={"Location": goal}))
            await refused(NotFound, agent.go(url))
        for goal in ("file:///etc/passwd", "chrome://version", "view-source:about:blank"):
            await agent.show(f"<a id=a href='{goal}'>Go</a>")
            await agent.click("#a", snapshot="none")
            await agent.run(f"() => {{ try {{ location = '{goal}' }} catch {{ /* refused */ }} }}")
            url = await agent.run("() => location.href")
            assert url.startswith(("http://127.0.0.1", "about:blank")), url
        assert page.status == 200


async def test_other_tabs_work_while_one_tab_hangs(house: House, web: Web) -> None:
    silent = web.serve(Answer(held=threading.Event()))
    async with house.guest(web) as agent:
        first = await agent.show("First")
        second = await agent.open(web.page("Second"))
        loop = asyncio.get_running_loop()
        hanging = loop.create_task(agent.call(ops.Navigate(url=silent, tab=first.tab), timeout=2))
        assert await agent.run("() => document.body.textContent", tab=second) == "Second"
        await refused(Timeout, hanging)


async def test_calls_do_not_hang_on_a_page_that_navigates_to_a_silent_server(
    house: House, web: Web
) -> None:
    """The page itself started the navigation, and no call waits for it. In Firefox the old page
    keeps running; in Chromium it is stopped, and calls say so."""
    is_stopped = house.browser == "chromium"
    held = threading.Event()
    silent = web.serve(Answer(b"<h1>Came</h1>", held=held))
    async with house.guest(web) as agent:
        await agent.show("<p>Here</p>")
        await agent.run(f"() => {{ setTimeout(() => location = '{silent}') }}")
        while not web.requested(silent):
            await agent.call(ops.Ping())
        for operation in (
            ops.Snapshot(),
            ops.Evaluate(function="() => 1"),
            ops.TakeScreenshot(),
            ops.Click(target="p"),
        ):
            call = agent.call(operation)
            if is_stopped:
                assert (await refused(Timeout, call)).page_said == silent
            else:
                await call
        assert (await agent.show("Elsewhere")).status == 200
        await agent.run(f"() => {{ setTimeout(() => location = '{silent}') }}")
        while len(web.requested(silent)) < 2:
            await agent.call(ops.Ping())
        waiting = asyncio.get_running_loop().create_task(agent.wait(text="Came"))
        if is_stopped:
            await refused(Timeout, agent.call(ops.Snapshot()))
        held.set()
        await waiting


async def test_a_page_can_be_used_again_after_a_failed_navigation(house: House, web: Web) -> None:
    """Chromium answers no command in a page that waits for its next document."""
    silent = web.serve(Answer(held=threading.Event()))
    async with house.guest(web) as agent:
        page = await agent.show("<h1>Still here</h1>")
        await refused(Timeout, agent.call(ops.Navigate(url=silent), timeout=1))
        assert "Still here" in await agent.snapshot()
        assert (await agent.tabs()).tabs[0].url == page.url


async def test_an_address_without_a_scheme_can_be_opened(house: House, web: Web) -> None:
    path = web.page("<h1>Here</h1>").removeprefix(web.base)
    async with house.guest(web) as agent:
        for host in ("localhost", "127.0.0.1"):
            page = await agent.go(f"{host}:{web.port}{path}")
            assert page.url == f"http://{host}:{web.port}{path}"
        opened = await agent.open(f"localhost:{web.port}{path}")
        rows = {row.tab: row.url for row in (await agent.tabs()).tabs}
        assert rows[opened] == f"{web.other_site}{path}"
        for blocked in ("javascript:1", "data:80/x", "file:80", "localhost:"):
            await refused(UrlBlocked, agent.go(blocked))
