# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Questions about elements: locators, readings and waits, as Playwright and as Roost ask them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Locator, Page

from roost import ops
from tests.e2e.pages.parity_stage import Stage, succeeded

PAGE = """<style>body { margin: 0 } #box { position: absolute; left: 10px; top: 400px; width: 120px; height: 30px; color: rgb(1, 2, 3) }</style>
<h1>Shop</h1><h2>Offers</h2><nav aria-label=Main><a id=home href="/home">Home</a></nav>
<ul><li data-testid=item id=tea><b>Tea</b> <button id=add1>Add</button></li><li data-testid=item id=milk>Milk <button id=add2>Add</button></li></ul>
<label>E-mail <input id=mail value="a@b" placeholder="you@example.com"></label>
<label for=note>Your note</label><textarea id=note readonly>Old</textarea>
<span id=t>Arrival time</span><input id=time aria-labelledby=t title="When to come" disabled>
<label><input id=agree type=checkbox checked> Agree</label><label><input id=news type=checkbox> News</label>
<label>Size <select id=size><option value=s>Small</option><option value=l selected>Large</option></select></label>
<button id=save disabled>Save  all</button><button id=send>Send</button><button id=icon aria-label="Close window">x</button>
<button id=toggle aria-pressed=true>Bold</button><details><summary>More</summary><p id=inner>Inner</p></details>
<img id=logo alt="The logo" src="data:,"><div id=none style="display:none">Gone</div><div id=empty></div>
<div aria-hidden=true><button id=unread>Unread</button></div><div role=alert id=alert>Careful</div><div id=box>Box</div>
<table><tr id=row1><td>Ada</td><td>36</td></tr><tr id=row2><td>Bob</td><td>41</td></tr></table><div id=ed contenteditable>Edit</div>
<x-card></x-card><script>document.querySelector('x-card').attachShadow({mode: 'open'}).innerHTML = '<button id=deep>Buy now</button>'</script>"""
Find = Callable[[Page], Locator]
LOCATORS: list[tuple[Find, str]] = [
    (lambda p: p.get_by_role("button", name="Send", exact=True), 'role=button[name="Send"]'),
    (
        lambda p: p.get_by_role("button", name="Save all", exact=True),
        'role=button[name="Save all"]',
    ),
    (
        lambda p: p.locator('role=button[name="close WINDOW" i]'),
        'role=button[name="close WINDOW" i]',
    ),
    (lambda p: p.locator('role=button[name*="window"]'), 'role=button[name*="window"]'),
    (lambda p: p.get_by_role("button", name="Add", exact=True), "role=button[name=Add]"),
    (lambda p: p.get_by_role("button", name="Unread"), "role=button[name=Unread]"),
    (
        lambda p: p.get_by_role("button", name="Unread", include_hidden=True),
        "role=button[name=Unread][include-hidden]",
    ),
    (lambda p: p.get_by_role("button", name="Buy now"), 'role=button[name="Buy now"]'),
    (lambda p: p.get_by_role("button", disabled=True), "role=button[disabled]"),
    (lambda p: p.get_by_role("button", pressed=True), "role=button[pressed]"),
    (lambda p: p.get_by_role("heading", level=2), "role=heading[level=2]"),
    (lambda p: p.get_by_role("heading"), "role=heading"),
    (lambda p: p.get_by_role("link"), "role=link"),
    (lambda p: p.get_by_role("img"), "role=img"),
    (lambda p: p.get_by_role("alert"), "role=alert"),
    (lambda p: p.get_by_role("checkbox", checked=True), "role=checkbox[checked]"),
    (lambda p: p.get_by_role("checkbox", checked=False), "role=checkbox[checked=false]"),
    (lambda p: p.get_by_role("combobox", name="Size"), 'role=combobox[name*="Size"]'),
    (lambda p: p.get_by_role("textbox", name="Arrival time"), 'role=textbox[name="Arrival time"]'),
    (lambda p: p.get_by_role("row", name="Bob"), 'role=row[name*="Bob"]'),
    (lambda p: p.get_by_role("navigation", name="Main"), "role=navigation[name=Main]"),
    (lambda p: p.get_by_role("listitem"), "role=listitem"),
    (lambda p: p.get_by_label("E-mail"), "label=e-mail"),
    (lambda p: p.get_by_label("Your note", exact=True), 'label="Your note"'),
    (lambda p: p.get_by_label("arrival"), "label=arrival"),
    (lambda p: p.get_by_label("Agree"), "label=Agree"),
    (lambda p: p.get_by_label("Nothing"), "label=Nothing"),
    (lambda p: p.get_by_placeholder("YOU@"), "placeholder=YOU@"),
    (lambda p: p.get_by_alt_text("logo"), "alt=logo"),
    (lambda p: p.get_by_title("when to"), "title=when to"),
    (lambda p: p.get_by_test_id("item"), "testid=item"),
    (lambda p: p.get_by_test_id("item").nth(1), "testid=item >> nth=1"),
    (lambda p: p.get_by_test_id("item").last, "testid=item >> nth=-1"),
    (lambda p: p.locator("#milk").get_by_role("button"), "#milk >> role=button"),
    (lambda p: p.locator("//li[2]/button"), "//li[2]/button"),
    (lambda p: p.locator("#milk").locator("xpath=.//button"), "#milk >> xpath=.//button"),
    (lambda p: p.locator("x-card").get_by_role("button"), "x-card >> role=button"),
    (lambda p: p.locator("ul").locator("button"), "ul >> css=button"),
]
READINGS: list[tuple[Callable[[Page], Awaitable[Any]], Any]] = [
    (lambda p: p.inner_text("#tea"), ops.Get(what="text", target="#tea")),
    (lambda p: p.inner_html("#tea"), ops.Get(what="html", target="#tea")),
    (lambda p: p.input_value("#mail"), ops.Get(what="value", target="#mail")),
    (lambda p: p.input_value("#size"), ops.Get(what="value", target="#size")),
    (lambda p: p.get_attribute("#home", "href"), ops.Get(what="attr", target="#home", name="href")),
    (lambda p: p.get_attribute("#home", "rel"), ops.Get(what="attr", target="#home", name="rel")),
    (lambda p: p.locator("#box").bounding_box(), ops.Get(what="box", target="#box")),
    (lambda p: p.eval_on_selector("#box", "(e) => ({color: getComputedStyle(e).color})"), ops.Get(what="styles", target="#box", names=["color"])),
    (lambda p: p.title(), ops.Get(what="title")),
    *[
        (lambda p, s=state, t=target: getattr(p, f"is_{s}")(t), ops.Is.model_validate({"state": state, "target": target}))
        for state, target in (
            ("visible", "#box"), ("visible", "#none"), ("visible", "#empty"), ("visible", "#nowhere"), ("hidden", "#nowhere"), ("visible", "#inner"),
            ("enabled", "#save"), ("enabled", "#send"), ("disabled", "#time"), ("checked", "#agree"), ("checked", "#news"),
            ("editable", "#mail"), ("editable", "#note"), ("editable", "#time"), ("editable", "#size"), ("editable", "#ed"),
        )
    ],
]  # fmt: skip
WAITS: list[tuple[Callable[[Page], Awaitable[Any]], Any]] = [
    (lambda p: p.wait_for_selector("#box"), ops.WaitFor(selector="#box")),
    (lambda p: p.wait_for_selector("#none", state="hidden"), ops.WaitFor(selector="#none", state="hidden")),
    (lambda p: p.wait_for_selector("#none", state="attached"), ops.WaitFor(selector="#none", state="attached")),
    (lambda p: p.wait_for_selector("#nowhere", state="detached"), ops.WaitFor(selector="#nowhere", state="detached")),
    (lambda p: p.wait_for_selector("#none", timeout=200), ops.WaitFor(selector="#none", timeout=0.2)),
    (lambda p: p.wait_for_function("() => document.title === 'Test'"), ops.WaitFor(function="() => document.title === 'Test'")),
    (lambda p: p.wait_for_function("() => false", timeout=200), ops.WaitFor(function="() => false", timeout=0.2)),
    (lambda p: p.wait_for_load_state("networkidle"), ops.WaitFor(load_state="networkidle")),
    (lambda p: p.wait_for_url("http://127.0.0.1:*/**"), ops.WaitFor(url="http://127.0.0.1:*")),
    (lambda p: p.locator("role=button").click(timeout=1000), ops.Click(target="role=button")),
    (lambda p: p.locator("role=button[name=Send]").click(), ops.Click(target="role=button[name=Send]")),
    (lambda p: p.get_by_label("News").check(), ops.FillForm(fields=[ops.FormField(target="label=News", value=True)])),
]  # fmt: skip


async def compare(stage: Stage) -> None:
    page, agent = stage.page, stage.agent
    await stage.go(stage.web.page(PAGE))
    for find, target in LOCATORS:
        stage.theirs[target] = [await one.get_attribute("id") for one in await find(page).all()]
        count = (await agent.call(ops.Get(what="count", target=target))).value
        every = [f"{target} >> nth={at}" for at in range(int(str(count)))]
        asked = [ops.Get(what="attr", name="id", target=one) for one in every]
        stage.ours[target] = [(await agent.call(one)).value for one in asked]
    for ask, operation in READINGS:
        stage.theirs[repr(operation)] = await ask(page)
        stage.ours[repr(operation)] = (await agent.call(operation)).value
    for wait, operation in WAITS:
        stage.theirs[repr(operation)] = await succeeded(wait(page))
        stage.ours[repr(operation)] = await succeeded(agent.call(operation))
