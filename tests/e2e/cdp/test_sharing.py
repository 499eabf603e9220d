"""CDP clients, agents and the person in one session, separated from other sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Playwright

from roost import ops
from roost.client.client import Client
from roost.local.deadline import Deadline
from roost.vocabulary import LINK_FRAME_BYTES
from tests.e2e.cdp.raw_client import RawClient
from tests.support.house import CALL_SECONDS, House, house_of
from tests.support.local_web import Answer, Web

UPLOADED = 40_000_000 if os.environ.get("ROOST_SOAK") else 16_000_000
"""Bytes of a file: in base64, either size is more than libraries allow a message by default."""
GONE = "protocol client gone"
"""What the audit trail says of a client whose connection ended."""


def eventually(condition: Callable[[], bool], page: Page) -> None:
    """Wait until the broker has done it. The page only passes the time."""
    for _ in range(int(CALL_SECONDS * 20)):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it never came")


def test_a_tab_that_a_client_opens_is_visible_to_the_agent_and_the_person(
    house: House, playwright: Playwright, web: Web
) -> None:
    url = web.page("<h1>Shared</h1>", title="Shared")
    browser = playwright.chromium.connect_over_cdp(house.cdp_url("together"))
    page = browser.contexts[0].new_page()
    page.goto(url)
    assert house.tabs("together") == [url]

    async def agent(client: Client) -> str:
        tabs = (await client.call(ops.Tabs(action="list"))).tabs
        read = await client.call(ops.GetContent(tab=tabs[0].tab, format="text"))
        await client.call(ops.Tabs(action="new", url=web.page("By the agent", title="Agent")))
        return str(read.text)

    assert "Shared" in house.as_agent("together", agent)
    eventually(lambda: len(browser.contexts[0].pages) == 2, page)
    other = next(one for one in browser.contexts[0].pages if one != page)
    assert other.inner_text("body").strip() == "By the agent"
    other.close()
    eventually(lambda: house.tabs("together") == [url], page)
    browser.close()
    assert house.tabs("together") == [url], "tabs of the session stay when the client goes"


def test_two_clients_of_a_session_work_on_the_same_page(
    house: House, playwright: Playwright, web: Web
) -> None:
    endpoint = house.cdp_url("pair")
    one, two = (playwright.chromium.connect_over_cdp(endpoint) for _ in range(2))
    page = one.contexts[0].new_page()
    page.goto(web.page("<input>"))
    eventually(lambda: len(two.contexts[0].pages) == 1, page)
    same = two.contexts[0].pages[0]
    same.fill("input", "by the other")
    assert page.input_value("input") == "by the other"
    with two.contexts[0].expect_page() as found:
        page.evaluate("window.open('about:blank#popup')")
    assert found.value.url == "about:blank#popup"
    one.close()
    assert same.input_value("input") == "by the other"
    two.close()


def test_a_client_that_never_lets_tabs_run_stops_nobody_else(
    house: House, playwright: Playwright, web: Web
) -> None:
    goal = web.page("<h1>Pop</h1>", title="Pop")
    with RawClient(house.cdp_url("holder")) as holder:
        holder.attach_all()
        browser = playwright.chromium.connect_over_cdp(house.cdp_url("free"))
        page = browser.contexts[0].new_page()
        page.goto(web.page(f"<button onclick=\"window.open('{goal}')\">go</button>"))
        with page.expect_popup() as found:
            page.click("button")
        assert found.value.title() == "Pop"
        browser.close()


def test_a_page_that_a_client_paused_runs_again_when_the_client_leaves(
    house: House, playwright: Playwright, web: Web
) -> None:
    goal = web.page("<h1>Pop</h1>", title="Pop")
    endpoint = house.cdp_url("held")
    browser = playwright.chromium.connect_over_cdp(endpoint)
    page = browser.contexts[0].new_page()
    with RawClient(endpoint) as holder:
        holder.attach_all()
        page.goto(web.page("x"))
        page.evaluate("(url) => { setTimeout(() => window.open(url)) }", goal)
        while len(holder.events("Target.attachedToTarget")) < 2:
            holder.next()
        assert web.requested(goal) == [], "it waits for that client, also if another lets it run"
    eventually(lambda: [one.title() for one in browser.contexts[0].pages[1:]] == ["Pop"], page)
    browser.close()


def test_domain_lists_hold_in_every_context_a_client_makes(
    house: House, playwright: Playwright, web: Web
) -> None:
    async def token() -> str:
        async with house.agent(web, deny=("localhost", "127.0.0.2")) as agent:
            issued = await agent.call(ops.SessionToken())
            status = await agent.call(ops.Status())
            endpoint = f"{status.broker.http}/cdp/{issued.token}"
            await agent.client.call(ops.Ping())
            kept.append(RawClient(endpoint).__enter__())
        return endpoint

    kept: list[RawClient] = []
    endpoint = house.in_thread(token)
    browser = playwright.chromium.connect_over_cdp(endpoint)
    allowed = web.page("<h1>Allowed</h1>", title="Allowed")
    for context in (browser.contexts[0], browser.new_context()):
        page = context.new_page()
        page.goto(allowed)
        assert page.title() == "Allowed"
        for blocked in (web.there(allowed), f"http://0x7f.2:{web.port}/"):
            with pytest.raises(Exception, match="URL_BLOCKED"):
                page.goto(blocked)
        denied = page.evaluate("(url) => fetch(url).then(() => 'got', () => 'denied')",
                               web.there(allowed))  # fmt: skip
        assert denied == "denied"
    with pytest.raises(Exception, match="JAR_UNAVAILABLE"):
        browser.new_context(proxy={"server": "127.0.0.1:9"})
    browser.close()
    kept[0].socket.close()


def test_in_the_shared_jar_sessions_see_only_their_own_tabs(
    house: House, playwright: Playwright, web: Web
) -> None:
    one, two = (
        playwright.chromium.connect_over_cdp(house.cdp_url(name, jar="shared"))
        for name in ("shared-1", "shared-2")
    )
    page = one.contexts[0].new_page()
    page.goto(web.page("mine"))
    assert two.contexts[0].pages == []
    with pytest.raises(Exception, match="shared"):
        two.contexts[0].cookies()
    one.close()
    two.close()


def test_a_full_pool_is_reported_and_the_sessions_oldest_tab_can_be_evicted(
    playwright: Playwright, web: Web
) -> None:
    with house_of("chromium", pool=2) as small:
        small.start()
        browser = playwright.chromium.connect_over_cdp(small.cdp_url("one"))
        pages = [browser.contexts[0].new_page() for _ in range(2)]
        other = playwright.chromium.connect_over_cdp(small.cdp_url("two"))
        with pytest.raises(Exception, match="POOL_FULL"):
            other.contexts[0].new_page()
        third = browser.contexts[0].new_page()
        eventually(pages[0].is_closed, third)
        assert not pages[1].is_closed()
        other.close()
        browser.close()


def test_a_session_that_is_disposed_hangs_up_on_its_clients(house: House, web: Web) -> None:
    with RawClient(house.cdp_url("short")) as client:
        client.page()
        house.call(ops.SessionDispose(session="short"))
        client.until_closed()


def test_a_person_who_takes_over_is_not_disturbed(house: House, web: Web) -> None:
    with RawClient(house.cdp_url("taken")) as client:
        _, session = client.page()
        house.call(ops.SessionPause(session="taken"))
        answer = client.ask("Page.navigate", {"url": web.base}, session)
        assert answer["error"]["message"].startswith("PAUSED")
        house.call(ops.SessionResume(session="taken"))
        assert "result" in client.ask("Page.reload", {}, session)


def test_a_page_that_crashes_is_told_to_its_client_alone(house: House, web: Web) -> None:
    with RawClient(house.cdp_url("crash")) as client, RawClient(house.cdp_url("calm")) as other:
        _, session = client.page(web.page("x"))
        other.page(web.page("y"))
        client.result("Inspector.enable", session=session)
        client.socket.send(json.dumps({"id": 999, "method": "Page.crash", "sessionId": session}))
        while not client.events("Inspector.targetCrashed"):
            client.next()
        assert other.result("Browser.getVersion")
        assert "crash" not in other.everything().lower()


def test_after_a_broker_death_clients_connect_again_and_nothing_is_left_over(
    playwright: Playwright, web: Web
) -> None:
    url = web.page("<input>", title="Stays")
    with house_of("chromium") as house:
        house.start()
        endpoint = house.cdp_url("kept")
        with RawClient(endpoint) as client:
            client.attach_all()
            context = client.result("Target.createBrowserContext")["browserContextId"]
            target, session = client.page(url)
            client.result(
                "Target.createTarget", {"url": "about:blank", "browserContextId": context}
            )
            client.run("document.querySelector('input').value = 'half-filled'", session)
            house.kill_broker()
            client.until_closed()
        browser = playwright.chromium.connect_over_cdp(house.cdp_url("kept"))
        [page] = browser.contexts[0].pages
        assert page.input_value("input") == "half-filled"
        old = browser.new_browser_cdp_session()
        with pytest.raises(Exception, match="No session with given id"):
            old.send("Target.detachFromTarget", {"sessionId": session})
        goal = web.page("<h1>Pop</h1>", title="Pop")
        page.goto(web.page(f"<button onclick=\"window.open('{goal}')\">go</button>"))
        with page.expect_popup() as found:
            page.click("button")
        assert found.value.title() == "Pop", "no dead client's session holds it"
        # Roost hears of the popup's address from the browser, as Playwright does, and maybe later.
        deadline = Deadline(CALL_SECONDS)
        while house.tabs("kept") != [page.url, goal] and not deadline.has_passed():
            deadline.pause()
        assert house.tabs("kept") == [page.url, goal]
        browser.close()


MANY, MEGABYTE = 36, 1024 * 1024
POSTS = f"""
  const body = "x".repeat({MEGABYTE});
  Promise.all(Array.from({{ length: 6 }}, async (_, row) => {{
    for (let n = row; n < {MANY}; n += 6)
      await fetch("/much?" + n, {{ method: "POST", body }});
  }})).then(() => "all")
"""


@pytest.mark.slow
def test_whatever_a_client_paused_the_next_broker_finds_everybodys_pages_alive(web: Web) -> None:
    """An earlier keeper kept each of these requests completely and could not hand them over."""
    web.serve(Answer(b"much"), "/much")
    with house_of("chromium") as house:
        house.start()
        victim = house.cdp_url("victim")
        with RawClient(victim) as client:
            _, session = client.page(web.page("<input>", title="Victim"))
            client.run("document.querySelector('input').value = 'unsaved'", session)
        keeper = json.loads((house.home.path / "keepers/chromium.json").read_bytes())["pid"]
        with RawClient(house.cdp_url("pauses")) as client:
            _, session = client.page()
            patterns = [{"urlPattern": "*/much*", "requestStage": "Response"}]
            client.result("Fetch.enable", {"patterns": patterns}, session)
            client.go(web.page("<p>"), session)
            run = {"expression": POSTS, "awaitPromise": True, "returnByValue": True}
            message = {"id": 5000, "method": "Runtime.evaluate", "params": run}
            client.socket.send(json.dumps({**message, "sessionId": session}))
            answered, size = 0, 0
            while answered < MANY:
                event = client.next()
                size += len(client.heard.pop())
                if event.get("method") == "Fetch.requestPaused":
                    answered += 1
                    go_on = {"requestId": event["params"]["requestId"]}
                    ways = ("Fetch.continueResponse", "Fetch.continueRequest")
                    message = {"id": answered, "method": ways[answered % 2], "params": go_on}
                    client.socket.send(json.dumps({**message, "sessionId": session}))
            assert size > LINK_FRAME_BYTES, "together more than a frame may have"
            client.answer(5000)
            # Some are never answered at all.
            client.run(
                f"for (let n = 0; n < 6; n++) fetch('/much?{{n}}', "
                f"{{method: 'POST', body: 'x'.repeat({MEGABYTE})}}); 1",
                session,
            )
            assert _memory(keeper) < 60 * MEGABYTE
            house.kill_broker()
            client.until_closed()

        async def look(client: Client) -> object:
            tabs = (await client.call(ops.Tabs(action="list"))).tabs
            value = "() => document.querySelector('input').value"
            return (await client.call(ops.Evaluate(function=value, tab=tabs[0].tab))).value

        house.status()  # starts the next broker
        assert house.as_agent("victim", look) == "unsaved"


def _memory(pid: int) -> int:
    """Return the memory that only this process holds, in bytes."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line and "-" not in line)
    return sum(int(fields[name].split()[0]) * 1024 for name in ("Private_Dirty", "Private_Clean"))


@pytest.mark.slow
def test_a_file_that_playwright_sends_in_one_command_is_uploaded(
    house: House, playwright: Playwright, web: Web, tmp_path: Path
) -> None:
    """Playwright sends files of up to 50 MB inside a command, because it assumes a remote
    browser."""
    file = tmp_path / "large.bin"
    file.write_bytes(bytes(UPLOADED))
    browser = playwright.chromium.connect_over_cdp(house.cdp_url("uploads"))
    page = browser.contexts[0].new_page()
    page.goto(web.page("<input type=file>"))
    page.set_input_files("input", file)
    assert page.evaluate("document.querySelector('input').files[0].size") == UPLOADED
    browser.close()


@pytest.mark.slow
def test_a_client_that_stops_reading_is_cut_off_and_only_it_notices(house: House, web: Web) -> None:
    endpoint = house.cdp_url("slow")
    with RawClient(endpoint) as fellow, RawClient(endpoint, reads_ahead=False) as slow:
        _, session = slow.page()
        gone = house.home.audit.read_text(encoding="utf-8").count(GONE)
        evaluate = {"expression": "'x'.repeat(2 ** 24)", "returnByValue": True}
        for number in range(1000, 1014):
            message = {"id": number, "method": "Runtime.evaluate", "params": evaluate}
            slow.socket.send(json.dumps({**message, "sessionId": session}))
        # Nothing is read: what is not taken by the kernel's buffers piles up at Roost.
        for _ in range(5000):
            assert fellow.result("Browser.getVersion")
            if house.home.audit.read_text(encoding="utf-8").count(GONE) > gone:
                break
        slow.until_closed()
        assert fellow.result("Browser.getVersion")
