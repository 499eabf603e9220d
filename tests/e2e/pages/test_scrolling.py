"""A reply to a scroll tells what moved: the page, or the inner scroller that scrolled instead."""

from __future__ import annotations

from typing import Any

import pytest

from roost import ops
from roost.api.page_views import ScrollView
from tests.support.agent import Agent
from tests.support.house import House
from tests.support.local_web import Web

PART = (
    "<div id=part style='height:200px;width:300px;overflow:auto'>"
    "<button id=start>Start</button><div style='height:3000px;width:900px'></div>"
    "<button id=end>End</button></div>"
)
TALL = "<div style='height:4000px'></div>"
IN_THE_MIDDLE = f"<div style='position:fixed;inset:0;display:grid;place-items:center'>{PART}</div>"
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "to an element inside it": (PART, {"target": "#end"}),
    "to an element inside it, on a page that scrolls, too": (TALL + PART, {"target": "#end"}),
    "down from an element inside it": (PART, {"target": "#start", "direction": "down"}),
    "right from an element inside it": (PART, {"target": "#start", "direction": "right"}),
    "down, in the middle of a page that cannot scroll": (IN_THE_MIDDLE, {"direction": "down"}),
    "to an element inside it, in a shadow tree": (
        f"<div id=host><template shadowrootmode=open>{PART}</template></div>",
        {"target": "text=End"},
    ),
}


async def scroller(agent: Agent) -> list[float]:
    """Return position and size of the inner scroller."""
    found: list[float] = await agent.run(
        "() => { const part = (window.host?.shadowRoot ?? document).getElementById('part');"
        " return [part.scrollLeft, part.scrollTop, part.scrollWidth, part.scrollHeight] }"
    )
    return found


def told(view: ScrollView) -> list[float]:
    return [view.x, view.y, view.page_width, view.page_height]


@pytest.mark.parametrize("name", PAGES)
async def test_scrolling_an_inner_scroller_returns_its_position(
    house: House, web: Web, name: str
) -> None:
    body, way = PAGES[name]
    async with house.guest(web) as agent:
        await agent.show(body)
        view = await agent.call(ops.Scroll(**way))
        assert view.moved
        assert view.x + view.y > 100
        assert told(view) == pytest.approx(await scroller(agent), abs=1)


async def test_a_second_scroll_to_the_same_element_moves_nothing(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(TALL + PART)
        await agent.call(ops.Scroll(target="#end"))
        before = await scroller(agent)
        assert not (await agent.call(ops.Scroll(target="#end"))).moved
        assert await scroller(agent) == before


async def test_scrolling_the_page_returns_the_position_of_the_page(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(f"{PART}{TALL}<p id=below>Below</p>")
        view = await agent.call(ops.Scroll(target="#below"))
        page = "() => [scrollX, scrollY, document.documentElement.scrollHeight]"
        assert view.moved
        assert [view.x, view.y, view.page_height] == pytest.approx(await agent.run(page), abs=1)
