"""The real ``openai`` package with Roost's driver, against a scripted API on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from openai.lib.browser import (
    BROWSER_MEMBERS,
    AsyncBrowserToolset,
    BrowserConfirmContext,
    BrowserToolset,
)
from openai.lib.responses_tool_runner import AsyncResponsesToolRunner, ResponsesToolRunner

from roost import ops
from roost.drivers.pictures import picture_size
from roost.toolsets.openai import MEMBERS, AsyncRoostBrowser, RoostBrowser, SessionOptions
from tests.support.house import House
from tests.support.local_web import Answer, Web
from tests.toolsets.scripted_models import Result, Script, ScriptedOpenAI
from tests.toolsets.test_claude import PAGE, counting_site, ref_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def options(house: House, name: str = "scripted") -> SessionOptions:
    return SessionOptions(name=name, browser=house.browser, home=house.home)


async def approve(context: Any) -> bool:
    return True


async def approve_url(context: BrowserConfirmContext, url: str) -> bool:
    return url.startswith("http://127.0.0.1")


def every_member(url: str, upload: str, download: str, used: set[str]) -> Script:
    """Call each member, and look at what it did."""

    def ok(results: list[Result]) -> Result:
        assert not results[-1].is_error, results[-1].text
        return results[-1]

    def call(name: str, **given: Any) -> list[tuple[str, dict[str, Any]]]:
        used.add(name)
        return [(name, {"tab_id": None, **given})]

    def script(source: str) -> list[tuple[str, dict[str, Any]]]:
        return call("run_script", source=source, timeout_ms=5000)

    log = "JSON.stringify(log.splice(0))"
    result = ok((yield call("navigate", url=url)))
    assert "HTTP 200" in result.text
    first = result.tabs[0]["id"]
    read = ok((yield call("read_page", filter="interactive")))
    assert "<page-content untrusted id=" in read.text
    button, name, agree = (ref_of(read, it) for it in ("Press me", "Full name", "I agree"))
    size, end = ref_of(read, "Size"), ref_of(read, "The end")

    shot = ok((yield call("screenshot")))
    assert picture_size(base64.b64decode(shot.images[0])) == (1280, 720)
    zoomed = ok((yield call("zoom", region=[0, 0, 200, 100])))
    assert picture_size(base64.b64decode(zoomed.images[0])) == (800, 400)

    ok((yield call("click", target=button)))
    assert '["click",1,0,false]' in ok((yield script(log))).text
    point = {"x": 80, "y": 25, "button": "left", "keys": ["Shift"]}
    ok((yield call("click_at", click_count=3, **point)))
    assert '["click",3,0,true]' in ok((yield script(log))).text
    ok((yield call("hover", target=button)))
    ok((yield call("hover_at", x=450, y=350)))
    assert "[450,350,0]" in ok((yield script("JSON.stringify(mouse)"))).text
    path = [{"x": 440, "y": 340}, {"x": 500, "y": 200}, {"x": 600, "y": 400}]
    ok((yield call("drag_path", path=path, keys=["Alt"])))
    assert "[600,400" in ok((yield script("JSON.stringify(mouse)"))).text

    ok((yield call("scroll", direction="down", amount=300)))
    assert "300" in ok((yield script("scrollY"))).text
    ok((yield call("scroll_to", target=end)))
    assert "true" in ok((yield script("scrollY > 2000"))).text
    assert "The end" in ok((yield call("find", query="The end"))).text

    ok((yield call("type", text="Ada", target=name)))
    ok((yield call("type", text=" Lovelace", target=None)))
    ok((yield call("key", keys=["Backspace"])))
    ok((yield call("hold_keys", keys=["Shift", "a"], duration_ms=100)))
    value = ok((yield script("document.querySelector('#name').value"))).text
    assert "Ada LovelacA" in value
    assert '["keyup",0,"Shift",false]' in ok((yield script(log))).text
    ok((yield call("set_checked", target=agree, checked=True)))
    ok((yield call("select_option", target=size, values=["Large"])))
    assert (
        '[true,"Large"]' in ok((yield script("JSON.stringify([agree.checked, size.value])"))).text
    )

    assert "Some words" in ok((yield call("get_page_text"))).text
    ok((yield call("wait_for", text="Some words", timeout_ms=3000)))
    (late,) = yield call("wait_for", text="never to be seen", timeout_ms=100)
    assert late.is_error
    assert late.text.startswith("TIMEOUT: ")
    assert "page speaks" in ok((yield call("read_diagnostics", source="console", limit=5))).text
    assert url in ok((yield call("read_diagnostics", source="network", limit=50))).text
    scoped = json.loads(ok((yield call("read_page_scoped", root=None, depth=5, filter="all"))).text)
    (main,) = [scope for scope in scoped["scopes"] if scope["label"] == "main Shop"]
    inner = ok((yield call("read_page_scoped", root=main["ref"], depth=5, filter="all"))).text
    assert "Only here" in inner
    assert "Press me" not in inner

    used.update(("upload_file", "download_file"))
    ok((yield [("upload_file", {"grant_id": upload})]))
    assert "photo.txt" in ok((yield script("file.files[0].name"))).text
    (again,) = yield [("upload_file", {"grant_id": upload})]
    assert again.is_error, "a grant is good for one file"
    get = ref_of(ok((yield call("read_page", filter="interactive"))), "Get")
    ok((yield call("click", target=get)))
    ok((yield [("download_file", {"grant_id": download})]))

    used.update(("new_tab", "list_tabs", "switch_tab", "close_tab"))
    opened = ok((yield [("new_tab", {"url": url})]))
    second = next(tab["id"] for tab in opened.tabs if tab["active"])
    assert second != first
    assert len(ok((yield [("list_tabs", {})])).tabs) == 2
    back = ok((yield [("switch_tab", {"tab_id": first})]))
    assert next(tab["id"] for tab in back.tabs if tab["active"]) == first
    left = ok((yield [("close_tab", {"tab_id": second})]))
    assert [tab["id"] for tab in left.tabs] == [first]
    (gone,) = yield call("click", target="e9999")
    assert gone.is_error
    assert gone.text.startswith("STALE_REF: ")
    assert "client.call" not in gone.text, "a hint names tools, not Python"


def shop(web: Web) -> str:
    file = web.serve(
        Answer(b"data", kind="application/octet-stream",
               headers={"Content-Disposition": "attachment; filename=report.bin"})
    )  # fmt: skip
    more = f"<main aria-label=Shop><p>Only here</p></main><a href='{file}' download>Get</a>"
    return web.page(more + PAGE, title="All")


async def test_every_member_works_with_the_asynchronous_sdk(
    house: House, web: Web, in_work: Path
) -> None:
    photo, used = in_work / "photo.txt", set[str]()
    photo.write_text("a photo")
    models = ScriptedOpenAI(web)
    async with AsyncRoostBrowser(options(house)) as browser:
        grants = browser.grant_upload(photo), browser.grant_download(in_work / "got.bin")
        models.plays("ada", every_member(shop(web), *grants, used))
        toolset = AsyncBrowserToolset(
            browser, members=BROWSER_MEMBERS, confirm=approve, url_policy=approve_url
        )
        client = AsyncOpenAI(api_key="ada", base_url=f"{web.base}/v1", max_retries=0)
        async with client:
            await AsyncResponsesToolRunner(browser=toolset).run(
                client, {"model": "gpt-scripted", "input": "Look around."}, max_steps=100
            )
    models.check()
    assert used == set(BROWSER_MEMBERS)
    assert (in_work / "got.bin").read_bytes() == b"data"
    (in_work / "got.bin").unlink()


def test_every_member_works_with_the_synchronous_sdk(house: House, web: Web, in_work: Path) -> None:
    photo, used = in_work / "photo.txt", set[str]()
    photo.write_text("a photo")
    models = ScriptedOpenAI(web)
    with (
        RoostBrowser(options(house)) as browser,
        OpenAI(api_key="ada", base_url=f"{web.base}/v1", max_retries=0) as client,
    ):
        grants = browser.grant_upload(photo), browser.grant_download(in_work / "got.bin")
        models.plays("ada", every_member(shop(web), *grants, used))
        toolset = BrowserToolset(
            browser,
            members=BROWSER_MEMBERS,
            confirm=lambda context: True,
            url_policy=lambda context, url: True,
        )
        ResponsesToolRunner(browser=toolset).run(
            client, {"model": "gpt-scripted", "input": "Look around."}, max_steps=100
        )
    models.check()
    assert used == set(BROWSER_MEMBERS)
    (in_work / "got.bin").unlink()


def test_actions_need_a_confirm_callable_and_navigations_a_policy() -> None:
    with pytest.raises(ValueError, match="confirm"):
        BrowserToolset(RoostBrowser(), url_policy=lambda context, url: True)
    with pytest.raises(ValueError, match="url_policy"):
        BrowserToolset(RoostBrowser(), confirm=lambda context: True)


async def test_what_the_person_refuses_never_reaches_the_page(house: House, web: Web) -> None:
    url = web.page("<button onclick=\"document.title = 'changed'\">B</button>")

    async def refuse(context: BrowserConfirmContext) -> bool:
        return context["member"] == "navigate"

    def script() -> Script:
        yield [("navigate", {"url": url, "tab_id": None})]
        (read,) = yield [("read_page", {"tab_id": None, "filter": "all"})]
        (refused,) = yield [("click", {"target": ref_of(read, "B"), "tab_id": None})]
        assert refused.is_error
        assert "not approved" in refused.text
        (tabs,) = yield [("list_tabs", {})]
        assert tabs.tabs[0]["title"] == "Test"

    models = ScriptedOpenAI(web)
    models.plays("ada", script())
    async with AsyncRoostBrowser(options(house)) as browser:
        toolset = AsyncBrowserToolset(browser, confirm=refuse, url_policy=approve_url)
        await run(web, "ada", toolset)
    models.check()


async def run(web: Web, agent: str, toolset: AsyncBrowserToolset) -> None:
    client = AsyncOpenAI(api_key=agent, base_url=f"{web.base}/v1", max_retries=0)
    async with client:
        await AsyncResponsesToolRunner(browser=toolset).run(
            client, {"model": "gpt-scripted", "input": "Look around."}, max_steps=50
        )


async def test_two_agents_on_one_site_share_nothing(house: House, web: Web) -> None:
    url = counting_site(web)
    met = asyncio.Barrier(2)
    seen: dict[str, set[str]] = {"ada": set(), "bob": set()}

    def script(agent: str) -> Script:
        for _ in range(5):
            yield [("navigate", {"url": url, "tab_id": None})]
            (text,) = yield [("get_page_text", {"tab_id": None})]
            found = re.search(r"You are visitor (\d+)", text.text)
            assert found is not None
            seen[agent].add(found.group(1))
            assert len(text.tabs) == 1, "only the agent's own tab"

    models = ScriptedOpenAI(web)

    async def agent(name: str) -> None:
        models.plays(name, script(name))
        async with AsyncRoostBrowser(options(house, name)) as browser:
            toolset = AsyncBrowserToolset(browser, confirm=approve, url_policy=approve_url)
            await met.wait()
            await run(web, name, toolset)
            await met.wait()

    await asyncio.gather(agent("ada"), agent("bob"))
    models.check()
    assert [len(numbers) for numbers in seen.values()] == [1, 1]
    assert seen["ada"] != seen["bob"]
    async with house.operator() as operator:
        left = {row.name for row in (await operator.call(ops.Status())).sessions}
    assert not left & {"ada", "bob"}, "a closed driver leaves no session behind"


async def test_a_dialog_is_dismissed_and_the_model_is_told(house: House, web: Web) -> None:
    url = web.page(
        "<button onclick=\"out.textContent = confirm('Really?')\">Ask</button><p id=out>"
    )

    def script() -> Script:
        yield [("navigate", {"url": url, "tab_id": None})]
        (read,) = yield [("read_page", {"tab_id": None, "filter": "all"})]
        (asked,) = yield [("click", {"target": ref_of(read, "Ask"), "tab_id": None})]
        assert "The page showed a dialog (confirm), which was dismissed:" in asked.text
        assert "<page-content untrusted id=" in asked.text
        (text,) = yield [("get_page_text", {"tab_id": None})]
        assert "false" in text.text

    models = ScriptedOpenAI(web)
    models.plays("ada", script())
    async with AsyncRoostBrowser(options(house)) as browser:
        toolset = AsyncBrowserToolset(browser, confirm=approve, url_policy=approve_url)
        await run(web, "ada", toolset)
    models.check()


def test_hints_name_tools_that_the_toolset_has() -> None:
    assert set(MEMBERS.values()) <= {f"browser_{name}" for name in BROWSER_MEMBERS}
