# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Parity of acting: the events that a page gets, and what is in its fields afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Page

from roost import ops
from tests.e2e.pages.parity_stage import Stage
from tests.support.agent import Agent

PAGE = """<style>body { margin: 0; height: 4000px } #pad { position: absolute; left: 300px; top: 20px; width: 200px; height: 100px; background: #eee }</style>
<button id=b>Press</button><br><input id=i value=old><br><textarea id=area></textarea><br><input type=checkbox id=c><input type=radio id=r name=n>
<select id=s><option value=1>One</option><option value=2>Two</option></select><select id=m multiple><option>x</option><option>y</option><option>z</option></select>
<input type=file id=f multiple><div id=ed contenteditable></div><div id=pad></div>
<div id=from draggable=true>Drag me</div><div id=to style="width:200px;height:60px;background:#ddd">Here</div>
<script>
  window.log = [];
  const kinds = "mousedown mouseup click dblclick contextmenu auxclick keydown keyup touchstart touchend";
  for (const kind of kinds.split(" ")) addEventListener(kind, (e) => log.push([e.type, e.target.id, e.isTrusted, e.detail, e.shiftKey, e.key || ""]), true);
  from.ondragstart = (e) => e.dataTransfer.setData("text/plain", "carried");
  to.ondragover = (e) => e.preventDefault();
  to.ondrop = (e) => { e.preventDefault(); log.push(["drop", e.dataTransfer.getData("text/plain"), e.dataTransfer.getData("application/x-own"), [...e.dataTransfer.files].map((f) => f.name)]) };
</script>"""
STATE = """() => { const events = window.log.filter(([kind]) => kind !== "dragend"); window.log = [];
  return [events, i.value, area.value, c.checked, r.checked, s.value, [...m.selectedOptions].map((o) => o.value),
          [...f.files].map((one) => one.name), ed.innerText.trim(), document.activeElement.id, String(getSelection())]; }"""
Act = tuple[str, Callable[[Page], Awaitable[Any]], list[Any]]


def field(target: str, value: Any) -> ops.FillForm:
    return ops.FillForm(fields=[ops.FormField(target=target, value=value)])


async def in_turn(*steps: Awaitable[Any]) -> None:
    for step in steps:
        await step


ACTS: list[Act] = [
    ("click", lambda p: p.click("#b"), [ops.Click(target="#b")]),
    ("double click", lambda p: p.dblclick("#b"), [ops.Click(target="#b", double_click=True)]),
    ("triple click", lambda p: p.click("#b", click_count=3), [ops.TripleClick(target="#b")]),
    ("triple click selects", lambda p: p.click("#i", click_count=3), [ops.TripleClick(target="#i")]),
    ("right click", lambda p: p.click("#b", button="right"), [ops.Click(target="#b", button="right")]),
    ("middle click", lambda p: p.click("#b", button="middle"), [ops.Click(target="#b", button="middle")]),
    ("click with a key", lambda p: p.click("#b", modifiers=["Shift"]), [ops.Click(target="#b", modifiers=["Shift"])]),
    ("click at a point", lambda p: p.mouse.click(310, 30), [ops.MouseClickXy(x=310, y=30)]),
    ("mouse down and up", lambda p: in_turn(p.mouse.move(310, 30), p.mouse.down(), p.mouse.move(330, 50), p.mouse.up()),
     [ops.MouseMoveXy(x=310, y=30), ops.MouseDown(), ops.MouseMoveXy(x=330, y=50), ops.MouseUp()]),
    ("press a key", lambda p: p.press("#i", "End"), [ops.Click(target="#i"), ops.PressKey(key="End")]),
    ("key down and up", lambda p: in_turn(p.keyboard.down("Shift"), p.click("#b"), p.keyboard.up("Shift")),
     [ops.KeyDown(key="Shift"), ops.Click(target="#b"), ops.KeyUp(key="Shift")]),
    ("fill", lambda p: p.fill("#i", "new"), [field("#i", "new")]),
    ("fill with nothing", lambda p: p.fill("#i", ""), [field("#i", "")]),
    ("type at the focus", lambda p: in_turn(p.focus("#area"), p.keyboard.type("two\nlines")),
     [ops.Click(target="#area"), ops.PressSequentially(text="two\nlines")]),
    ("select all and type", lambda p: in_turn(p.press("#area", "Control+a"), p.keyboard.type("x")),
     [ops.Click(target="#area"), ops.PressKey(key="Control+a"), ops.PressSequentially(text="x")]),
    ("fill an editable element", lambda p: p.fill("#ed", "words"), [field("#ed", "words")]),
    ("check", lambda p: p.check("#c"), [field("#c", True)]),
    ("check again", lambda p: p.check("#c"), [field("#c", True)]),
    ("uncheck", lambda p: p.uncheck("#c"), [field("#c", False)]),
    ("choose a radio button", lambda p: p.check("#r"), [field("#r", True)]),
    ("select by value", lambda p: p.select_option("#s", "2"), [ops.SelectOption(target="#s", values=["2"])]),
    ("select by label", lambda p: p.select_option("#s", label="One"), [ops.SelectOption(target="#s", values=["One"])]),
    ("select several", lambda p: p.select_option("#m", ["x", "z"]), [ops.SelectOption(target="#m", values=["x", "z"])]),
    ("drag to an element", lambda p: p.drag_and_drop("#from", "#to"), [ops.Drag(start_target="#from", end_target="#to")]),
    ("drop data", lambda p: p.locator("#to").drop({"data": {"text/plain": "words", "application/x-own": "own"}}),
     [ops.Drop(target="#to", text="words", data={"application/x-own": "own"})]),
    ("click what is not there", lambda p: p.click("#nowhere", timeout=500), [ops.Click(target="#nowhere")]),
    ("fill what is no field", lambda p: p.fill("#b", "x", timeout=500), [field("#b", "x")]),
    ("select what is not there", lambda p: p.select_option("#s", "9", timeout=500), [ops.SelectOption(target="#s", values=["9"])]),
]  # fmt: skip
FOCUSING = {
    "fill",
    "fill with nothing",
    "press a key",
    "type at the focus",
    "select all and type",
    "fill an editable element",
}
"""Roost clicks a field first, as a person does; Playwright focuses it. Their fields are compared, not the clicks on the way."""


async def compare(stage: Stage) -> None:
    await stage.go(stage.web.page(PAGE))
    for name, theirs, operations in ACTS:
        await stage.both(name, theirs(stage.page), _all(stage.agent, operations), STATE)
        if name in FOCUSING or "check" in name or "select" in name or "radio" in name:
            for side in (stage.theirs, stage.ours):
                side[name] = side[name] if isinstance(side[name], str) else side[name][1:9]
    (stage.folder / "note.txt").write_text("from a file", encoding="utf-8")
    path = stage.folder / "note.txt"
    await stage.both(
        "upload", stage.page.set_input_files("#f", path),
        stage.agent.call(ops.FileUpload(target="#f", paths=["note.txt"])), "() => [...f.files].map((one) => [one.name, one.size])",
    )  # fmt: skip
    await stage.both(
        "drop a file", stage.page.locator("#to").drop({"files": str(path)}),
        stage.agent.call(ops.Drop(target="#to", paths=["note.txt"])), "() => log.filter(([kind]) => kind === 'drop')",
    )  # fmt: skip
    url = stage.web.page(PAGE)
    for name, theirs, operation in TOUCHES:
        await stage.agent.go(url)
        async with stage.context(url, has_touch=True) as page:
            await theirs(page)
            await stage.agent.call(operation)
            touched = "() => log.some(([kind]) => kind === 'click')"
            await page.wait_for_function(touched)
            await stage.agent.wait(function=touched)
            stage.theirs[name], stage.ours[name] = (
                await page.evaluate(STATE),
                await stage.agent.run(STATE),
            )
    await _scrolled(stage)


TOUCHES: list[tuple[str, Callable[[Page], Awaitable[Any]], Any]] = [
    ("tap", lambda p: p.tap("#b"), ops.Tap(target="#b")),
    ("tap at a point", lambda p: p.touchscreen.tap(310, 30), ops.Tap(x=310, y=30)),
]


async def _all(agent: Agent, operations: list[Any]) -> None:
    for operation in operations:
        await agent.call(operation)


async def _scrolled(stage: Stage) -> None:
    await stage.go(stage.web.page(PAGE))
    arrived = "() => scrollY === 240"
    await in_turn(stage.page.mouse.move(50, 50), stage.page.mouse.wheel(0, 240))
    await stage.agent.call(ops.MouseWheel(x=50, y=50, delta_y=240))
    await stage.compare(
        "wheel",
        lambda: stage.page.wait_for_function(arrived, timeout=5000),
        lambda: stage.agent.wait(function=arrived),
    )
    for side in (stage.theirs, stage.ours):
        side["wheel"] = side["wheel"] != "refused"
