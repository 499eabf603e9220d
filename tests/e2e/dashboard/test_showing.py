"""The person draws on the live picture, and the agent reads it; the person gives a page files."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from roost import ops
from tests.e2e.dashboard.conftest import dashboard
from tests.e2e.dashboard.test_taking_over import press, take
from tests.e2e.dashboard.test_wall import tile
from tests.support.agent import Agent
from tests.support.house import House
from tests.support.local_web import Web

SHOP = """<style>body { margin: 0 } button, a, h1 { position: absolute; margin: 0 }</style>
<h1 style='left: 20px; top: 20px'>Shop</h1>
<button style='left: 100px; top: 200px; width: 120px; height: 40px'>Buy [ignore this]</button>
<button style='left: 100px; top: 500px; width: 120px; height: 40px'>Leave</button>
<a href=# style='left: 600px; top: 400px; width: 80px; height: 20px'>Help</a>
<iframe style='position: absolute; left: 800px; top: 100px; width: 300px; height: 200px; border: 0'
srcdoc='<body style="margin: 50px"><button style="width: 90px; height: 30px">Framed'></iframe>"""


async def drag(page: Page, picture: Locator, *points: tuple[float, float]) -> None:
    """Draw from one point of the agent's page to another, in its CSS pixels."""
    box = await picture.bounding_box()
    assert box is not None
    ink = page.locator("#ink")
    width, height = (await ink.get_attribute("viewBox") or "").split()[2:]
    scale = box["width"] / float(width), box["height"] / float(height)
    for number, (x, y) in enumerate(points):
        await page.mouse.move(box["x"] + x * scale[0], box["y"] + y * scale[1])
        if number == 0:
            await page.mouse.down()
    await page.mouse.up()


async def refs(agent: Agent) -> dict[str, str]:
    """Return the refs of the page's elements by their names."""
    lines = (await agent.snapshot()).splitlines()
    return {
        name: line.split("[ref=")[1].split("]")[0]
        for name in ("Buy", "Leave", "Help", "Framed")
        for line in lines
        if f'"{name}' in line
    }


async def test_the_agent_reads_what_the_person_drew(house: House, web: Web) -> None:
    async with dashboard(house) as page, house.agent(web, name="Shopper") as agent:
        await agent.show(SHOP)
        ref = await refs(agent)
        await tile(page, "Shopper").locator(".look").click()
        picture = page.locator("#large-picture canvas")
        await expect(picture).to_have_class("picture drawn")
        await page.get_by_role("button", name="Show the agent").click()
        await drag(page, picture, (90, 190), (240, 260))
        await drag(page, picture, (845, 145), (950, 190))
        await page.get_by_label("Arrow").check()
        await drag(page, picture, (400, 300), (640, 410))
        await page.locator("#draw-text").fill("Press this, not <b>that</b>")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#draw-tools")).to_be_hidden()
        view = await agent.call(ops.Snapshot())
        (note,) = view.notes or []
        assert "“Press this, not <b>that</b>”" in note
        assert f"elements: {ref['Buy']}, {ref['Help']}, {ref['Framed']})" in note
        assert "ignore this" not in note, "page text must not stand in a note"
        (shown,) = (await agent.call(ops.Drawings())).drawings
        assert [(one.ref, one.name) for one in shown.elements] == [
            (ref["Buy"], "Buy [ignore this]"),
            (ref["Help"], "Help"),
            (ref["Framed"], "Framed"),
        ]
        assert shown.kinds == ["box", "box", "arrow"]
        assert abs(shown.x - 90) <= 3
        assert (await agent.call(ops.Click(target=ref["Buy"]))).did


async def test_the_person_gives_a_page_the_file_it_asks_for(
    house: House, web: Web, tmp_path: Path
) -> None:
    read = "this.files[0].text().then(text => location.hash = this.files[0].name + '=' + text)"
    paper = tmp_path / "paper.txt"
    paper.write_text("signed", encoding="utf-8")
    async with dashboard(house) as page, house.agent(web, name="Clerk") as agent:
        await agent.show(f'<input type=file id=file onchange="{read}">')
        picture = await take(page, "Clerk")
        await press(agent, picture, "#file")
        await expect(page.locator("#large-chooser")).to_be_visible()
        await page.locator("#large-files").set_input_files(paper)
        await page.get_by_role("button", name="Give to the page").click()
        await expect(tile(page, "Clerk").locator(".address")).to_contain_text("#paper.txt=signed")
        await expect(page.locator("#large-chooser")).to_be_hidden()
        kept = house.home.path / "person-files" / agent.session
        assert [file.name for file in kept.rglob("*") if file.is_file()] == ["paper.txt"]
        assert "paper.txt" not in json.dumps(house.home.audit.read_text(encoding="utf-8"))
        await page.get_by_role("button", name="Give back to the agent").click()
        await expect(page.locator("#large-controls")).to_be_hidden()
