"""The real ``anthropic`` package with Roost's driver, against a scripted API on loopback."""

from __future__ import annotations

import asyncio
import base64
import re
from pathlib import Path
from typing import Any, cast

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic._data import BROWSER_TOOLSET_MEMBERS
from anthropic.tools import ToolsetConfigError
from anthropic.tools.browser import BetaConfirmContext, BetaLocalFilePolicy

from roost import ops
from roost.drivers.pictures import picture_size
from roost.toolsets.claude import MEMBERS, AsyncBrowserToolset, BrowserToolset, SessionOptions
from tests.support.house import House
from tests.support.local_web import Answer, Request, Web
from tests.toolsets.scripted_models import Result, Script, ScriptedClaude

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
DISABLED = ("file_upload", "read_console", "read_network", "javascript_exec")
ENABLED: Any = {name: {"enabled": True} for name in DISABLED}
PAGE = """
<style>* { margin: 0 } button, input, select, p { position: absolute; left: 20px; width: 120px;
  height: 30px } #drag { position: absolute; left: 400px; top: 300px; width: 80px; height: 80px }
</style>
<button style="top:10px" id=b>Press me</button>
<input style="top:60px" id=name aria-label="Full name">
<input style="top:110px" id=agree type=checkbox aria-label="I agree">
<select style="top:160px" id=size aria-label="Size"><option>Small<option>Large</select>
<input style="top:210px" id=file type=file aria-label="Photo">
<p style="top:260px">Some words</p>
<div id=drag style="background:#ccc">D</div>
<div style="height:3000px"></div><a id=end href="#">The end</a>
<script>
window.log = [];
for (const kind of ["click", "dblclick", "contextmenu", "auxclick", "mousedown", "mouseup",
                    "keydown", "keyup"])
  addEventListener(kind, (e) => {
    log.push([kind, e.detail, e.button ?? e.key, e.shiftKey]);
    if (kind === "contextmenu" || kind === "auxclick") e.preventDefault();
  });
addEventListener("mousemove", (e) => { window.mouse = [e.clientX, e.clientY, e.buttons] });
console.log("page speaks");
</script>
"""


def ref_of(result: Result, name: str) -> str:
    found = re.search(rf'"{name}".*?\[ref=(\w+)\]', result.text)
    assert found is not None, result.text
    return found.group(1)


def at(x: int, y: int) -> dict[str, Any]:
    return {"type": "coordinate", "x": x, "y": y}


def to(ref: str) -> dict[str, Any]:
    return {"type": "ref", "ref": ref}


def options(house: House, name: str = "scripted") -> SessionOptions:
    return SessionOptions(name=name, browser=house.browser, home=house.home)


def every_member(url: str, photo: Path, used: set[str]) -> Script:
    """Call each of the 31 members, and look at what it did."""

    def ok(results: list[Result]) -> Result:
        assert not results[-1].is_error, results[-1].text
        return results[-1]

    def log() -> tuple[str, dict[str, Any]]:
        return ("javascript_exec", {"text": "JSON.stringify(log.splice(0))"})

    def call(name: str, **given: Any) -> list[tuple[str, dict[str, Any]]]:
        used.add(name)
        return [(name, given)]

    result = ok((yield call("navigate", url=url)))
    assert result.text.startswith(f"Navigated to {url}")
    assert "(HTTP 200)" in result.text
    assert [tab["active"] for tab in result.tabs] == [True]
    first = result.tabs[0]["tab_id"]

    read = ok((yield call("read_page", filter="interactive")))
    assert "<page-content untrusted id=" in read.text
    button, name, agree = (ref_of(read, it) for it in ("Press me", "Full name", "I agree"))
    size, photo_field = ref_of(read, "Size"), ref_of(read, "Photo")

    shot = ok((yield call("screenshot")))
    assert picture_size(base64.b64decode(shot.images[0])) == (1280, 720)
    zoomed = ok((yield call("zoom", region=[0, 0, 200, 100])))
    assert picture_size(base64.b64decode(zoomed.images[0])) == (800, 400)

    ok((yield call("left_click", target=to(button), modifiers="shift")))
    assert '["click",1,0,true]' in ok((yield [log()])).text
    ok((yield call("right_click", target=at(80, 25))))
    assert '"contextmenu"' in ok((yield [log()])).text
    ok((yield call("middle_click", target=at(80, 25))))
    assert '["auxclick",1,1,false]' in ok((yield [log()])).text
    ok((yield call("double_click", target=to(button))))
    assert '["dblclick",2,0,false]' in ok((yield [log()])).text
    ok((yield call("triple_click", target=at(60, 275))))
    assert '["click",3,0,false]' in ok((yield [log()])).text
    ok((yield call("triple_click", target=to(button))))
    assert '["click",3,0,false]' in ok((yield [log()])).text

    ok((yield call("hover", target=to(button))))
    ok((yield call("hover", target=at(440, 340))))
    ok((yield call("mouse_move", target=at(450, 350))))
    ok((yield call("left_mouse_down", target=at(450, 350))))
    ok((yield call("mouse_move", target=at(460, 360))))
    assert "[460,360,1]" in ok((yield call("javascript_exec", text="JSON.stringify(mouse)"))).text
    ok((yield call("left_mouse_up", target=at(460, 370))))
    assert '"mouseup"' in ok((yield [log()])).text
    drag = {"from": at(440, 340), "target": at(600, 400)}
    ok((yield [("left_click_drag", drag)]))
    used.add("left_click_drag")
    assert "[600,400" in ok((yield call("javascript_exec", text="JSON.stringify(mouse)"))).text

    ok((yield call("scroll", target=at(600, 400), scroll_direction="down", scroll_amount=2)))
    assert "200" in ok((yield call("javascript_exec", text="scrollY"))).text
    end = ref_of(ok((yield call("find", query="The end link"))), "The end")
    ok((yield call("scroll_to", target=to(end))))
    script = "const moved = scrollY > 2000;\nmoved"
    assert "true" in ok((yield call("javascript_exec", text=script))).text
    ok((yield call("key", text="ctrl+Home")))

    ok((yield call("left_click", target=to(name))))
    ok((yield call("type", text="Ada Lovelace")))
    ok((yield call("key", text="BackSpace BackSpace", repeat=2)))
    ok((yield call("hold_key", text="shift", duration=0.2)))
    held = ok((yield [log()])).text
    assert '["keyup",0,"Shift",false]' in held
    assert "Ada Love" in ok((yield call("javascript_exec", text="name.value || "
                                        "document.querySelector('#name').value"))).text  # fmt: skip
    ok((yield call("form_input", target=to(agree), value=True)))
    ok((yield call("form_input", target=to(size), value="Large")))
    state = "JSON.stringify([agree.checked, size.value])"
    assert '[true,"Large"]' in ok((yield call("javascript_exec", text=state))).text
    ok((yield call("file_upload", target=to(photo_field), paths=[str(photo)])))
    assert "photo.txt" in ok((yield call("javascript_exec", text="file.files[0].name"))).text

    assert "Some words" in ok((yield call("get_page_text"))).text
    assert "Waited 0.1s." in ok((yield call("wait", duration=0.1))).text
    assert "page speaks" in ok((yield call("read_console"))).text
    assert "no new messages" in ok((yield call("read_console"))).text
    assert url in ok((yield call("read_network"))).text

    opened = ok((yield call("new_tab")))
    second = next(tab["tab_id"] for tab in opened.tabs if tab["active"])
    assert second != first
    assert {"type": "tab_opened", "tab_id": second} in (opened.state or {})["state_changes"]
    assert len(ok((yield call("list_tabs"))).tabs) == 2
    back = ok((yield call("switch_tab", tab_id=first)))
    assert next(tab["tab_id"] for tab in back.tabs if tab["active"]) == first
    assert [tab["tab_id"] for tab in ok((yield call("close_tab", tab_id=second))).tabs] == [first]

    (gone,) = yield call("read_page", tab_id=second)
    assert gone.is_error
    assert gone.text.startswith("TAB_GONE: ")
    assert "client.call" not in gone.text, "a hint names members, not Python"
    (stale,) = yield call("left_click", target=to("e9999"))
    assert stale.is_error
    assert "STALE_REF" in stale.text


def approve(context: BetaConfirmContext) -> bool:
    return True


async def approve_soon(context: BetaConfirmContext) -> bool:
    return True


async def run(client: AsyncAnthropic, toolset: AsyncBrowserToolset) -> str:
    runner = client.beta.messages.tool_runner(
        model="claude-scripted",
        max_tokens=1000,
        tools=[toolset],
        messages=[{"role": "user", "content": "Look around."}],
    )
    return text_of(await runner.until_done())


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


async def test_every_member_works_with_the_asynchronous_sdk(
    house: House, web: Web, in_work: Path
) -> None:
    photo, used = in_work / "photo.txt", set[str]()
    photo.write_text("a photo")
    models = ScriptedClaude(web)
    models.plays("ada", every_member(web.page(PAGE, title="All"), photo, used))
    client = AsyncAnthropic(api_key="ada", base_url=web.base, max_retries=0)
    toolset = AsyncBrowserToolset(
        options(house),
        configs=ENABLED,
        confirm=approve_soon,
        file_policy=BetaLocalFilePolicy(upload_roots=[str(in_work)]),
    )
    async with toolset, client:
        assert await run(client, toolset) == "Done."
    models.check()
    assert used == set(BROWSER_TOOLSET_MEMBERS)
    (declared,) = models.requests[0]["tools"]
    assert declared["type"] == "browser_toolset_20260801"
    assert not any(one.get("enabled") is False for one in declared["configs"].values())


def test_every_member_works_with_the_synchronous_sdk(house: House, web: Web, in_work: Path) -> None:
    photo, used = in_work / "photo.txt", set[str]()
    photo.write_text("a photo")
    models = ScriptedClaude(web)
    models.plays("ada", every_member(web.page(PAGE, title="All"), photo, used))
    policy = BetaLocalFilePolicy(upload_roots=[str(in_work)])
    with (
        Anthropic(api_key="ada", base_url=web.base, max_retries=0) as client,
        BrowserToolset(
            options(house), configs=ENABLED, confirm=approve, file_policy=policy
        ) as toolset,
    ):
        runner = client.beta.messages.tool_runner(
            model="claude-scripted",
            max_tokens=1000,
            tools=[toolset],
            messages=[{"role": "user", "content": "Look around."}],
        )
        assert text_of(runner.until_done()) == "Done."
    models.check()
    assert used == set(BROWSER_TOOLSET_MEMBERS)


def test_scripts_and_uploads_need_a_confirm_callable() -> None:
    for toolset in (BrowserToolset, AsyncBrowserToolset):
        for name in ("javascript_exec", "file_upload"):
            with pytest.raises(ToolsetConfigError, match="confirm"):
                toolset(configs=cast(Any, {name: {"enabled": True}}))


async def test_what_the_person_refuses_never_reaches_the_page(house: House, web: Web) -> None:
    asked: list[str] = []

    def refuse(context: BetaConfirmContext) -> bool:
        asked.append(context.member)
        return context.member != "javascript_exec"

    def script() -> Script:
        yield [("navigate", {"url": web.page("<p>Here")})]
        (refused,) = yield [("javascript_exec", {"text": "document.title = 'changed'"})]
        assert refused.is_error
        assert "did not grant permission" in refused.text
        (tabs,) = yield [("list_tabs", {})]
        assert tabs.tabs[0]["title"] == "Test"

    models = ScriptedClaude(web)
    models.plays("ada", script())
    client = AsyncAnthropic(api_key="ada", base_url=web.base, max_retries=0)
    toolset = AsyncBrowserToolset(options(house), configs=ENABLED, confirm=refuse)
    async with toolset, client:
        await run(client, toolset)
    models.check()
    assert asked == ["navigate", "javascript_exec", "list_tabs"]


def counting_site(web: Web) -> str:
    """A site that gives each new visitor a number in a cookie, and shows it."""
    visitors: list[str] = []

    def respond(request: Request) -> Answer:
        cookie = re.search(r"visitor=(\d+)", request.headers.get("cookie", ""))
        if cookie is None:
            visitors.append("new")
        number = cookie.group(1) if cookie else str(len(visitors))
        body = f"<title>Visitor {number}</title><p>You are visitor {number}".encode()
        return Answer(body, headers={"Set-Cookie": f"visitor={number}; Path=/"})

    return web.serve(respond)


async def test_two_agents_on_one_site_share_nothing(house: House, web: Web) -> None:
    url = counting_site(web)
    met = asyncio.Barrier(2)
    seen: dict[str, set[str]] = {"ada": set(), "bob": set()}

    def script(agent: str) -> Script:
        for _ in range(5):
            results = yield [("navigate", {"url": url}), ("get_page_text", {}), ("list_tabs", {})]
            assert not any(one.is_error for one in results)
            found = re.search(r"You are visitor (\d+)", results[1].text)
            assert found is not None
            seen[agent].add(found.group(1))
            assert len(results[2].tabs) == 1, "only the agent's own tab"

    models = ScriptedClaude(web)

    async def agent(name: str) -> str:
        models.plays(name, script(name))
        client = AsyncAnthropic(api_key=name, base_url=web.base, max_retries=0)
        async with AsyncBrowserToolset(options(house, name)) as toolset, client:
            await met.wait()
            await run(client, toolset)
            async with house.operator() as operator:
                status = await operator.call(ops.Status())
            await met.wait()
            return next(row.id for row in status.sessions if row.name == name)

    sessions = await asyncio.gather(agent("ada"), agent("bob"))
    models.check()
    assert [len(numbers) for numbers in seen.values()] == [1, 1]
    assert seen["ada"] != seen["bob"]
    assert len(set(sessions)) == 2
    async with house.operator() as operator:
        left = {row.id for row in (await operator.call(ops.Status())).sessions}
    assert not left & set(sessions), "a closed toolset leaves no session behind"


async def test_a_dialog_is_dismissed_and_the_model_is_told(house: House, web: Web) -> None:
    url = web.page(
        "<button onclick=\"out.textContent = confirm('Really?')\">Ask</button><p id=out>-</p>"
    )

    def script() -> Script:
        yield [("navigate", {"url": url})]
        (read,) = yield [("read_page", {})]
        (asked,) = yield [("left_click", {"target": to(ref_of(read, "Ask"))})]
        assert not asked.is_error
        assert 'A confirm dialog "Really?" was dismissed.' in asked.text
        (text,) = yield [("get_page_text", {})]
        assert "false" in text.text
        (alert,) = yield [("javascript_exec", {"text": "alert('Hi'); 1"})]
        assert alert.is_error
        assert "dismissed" in alert.text
        (text,) = yield [("get_page_text", {})]
        assert not text.is_error

    models = ScriptedClaude(web)
    models.plays("ada", script())
    client = AsyncAnthropic(api_key="ada", base_url=web.base, max_retries=0)
    toolset = AsyncBrowserToolset(options(house), configs=ENABLED, confirm=approve)
    async with toolset, client:
        await run(client, toolset)
    models.check()


async def test_points_of_a_large_viewport_are_those_of_the_picture(house: House, web: Web) -> None:
    url = web.page(
        "<script>window.log = []; addEventListener('click', (e) => log.push([e.clientX,"
        "e.clientY]))</script>"
    )
    toolset = AsyncBrowserToolset(options(house), configs=ENABLED, confirm=approve)

    def script() -> Script:
        yield [("navigate", {"url": url})]
        (shot,) = yield [("screenshot", {})]
        width, height = picture_size(base64.b64decode(shot.images[0]))
        assert max(width, height) <= 1568
        assert width * height <= 1_150_000
        yield [("left_click", {"target": at(width // 2, height // 2)})]
        (clicked,) = yield [("javascript_exec", {"text": "JSON.stringify(log)"})]
        found = re.search(r"\[\[(\d+),(\d+)\]\]", clicked.text)
        assert found is not None
        x, y = map(int, found.groups())
        assert abs(x - 1200) <= 2
        assert abs(y - 700) <= 2

    models = ScriptedClaude(web)
    models.plays("ada", script())
    client = AsyncAnthropic(api_key="ada", base_url=web.base, max_retries=0)
    async with toolset, client:
        roost = await toolset._browser.session.connection()
        await roost.call(ops.Navigate(url="about:blank"))
        await roost.call(ops.Resize(width=2400, height=1400))
        await run(client, toolset)
    models.check()


async def test_downloads_and_popups_are_in_the_report(house: House, web: Web) -> None:
    file = web.serve(
        Answer(b"data", kind="application/octet-stream",
               headers={"Content-Disposition": "attachment; filename=report.bin"})
    )  # fmt: skip
    popup = web.page("<p>Popup", title="Popup")
    url = web.page(f"<a href='{file}' download>Get</a> <a href='{popup}' target=_blank>Open</a>")

    def script() -> Script:
        yield [("navigate", {"url": url})]
        (read,) = yield [("read_page", {})]
        (opened,) = yield [("left_click", {"target": to(ref_of(read, "Open"))})]
        kinds = [one["type"] for one in (opened.state or {})["state_changes"]]
        assert kinds == ["tab_opened"]
        assert len(opened.tabs) == 2
        (got,) = yield [("left_click", {"target": to(ref_of(read, "Get"))})]
        (change,) = (got.state or {})["state_changes"]
        assert (change["type"], change["size_bytes"]) == ("download_completed", 4)
        assert "path" not in change, "no file policy, so the SDK hides the path"

    models = ScriptedClaude(web)
    models.plays("ada", script())
    client = AsyncAnthropic(api_key="ada", base_url=web.base, max_retries=0)
    async with AsyncBrowserToolset(options(house)) as toolset, client:
        await run(client, toolset)
    models.check()


def test_hints_name_members_that_the_toolset_has() -> None:
    assert set(MEMBERS.values()) <= set(BROWSER_TOOLSET_MEMBERS)
