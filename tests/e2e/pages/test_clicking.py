"""Clicks are trusted, of every kind, and arrive in order."""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import NotActionable, NotFound, StaleRef
from tests.support.agent import TRUSTED, refused, refused_soon
from tests.support.house import House, lacks
from tests.support.local_web import Web


async def test_a_click_is_trusted_and_the_answer_says_what_changed(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            TRUSTED + "<button onclick=\"out.textContent = 'Hello'\">Greet</button><p id=out></p>"
        )
        await agent.snapshot()
        done = await agent.click("text=Greet")
        assert "button" in done.did
        assert done.snapshot is not None
        assert "Hello" in done.snapshot
        assert done.changes is not None
        log = await agent.log()
        assert ["click", True] in log
        assert all(is_trusted for _, is_trusted in log)


async def test_double_right_and_modified_clicks_arrive_in_the_page(house: House, web: Web) -> None:
    is_trusted = not lacks(house, "trusted input")
    async with house.guest(web) as agent:
        await agent.show(
            """<button id=b>B</button><script>
            window.log = [];
            for (const kind of ["click", "dblclick", "contextmenu", "auxclick"])
              addEventListener(kind, (e) => {
                log.push([kind, e.detail, e.button, e.ctrlKey, e.shiftKey, e.altKey, e.isTrusted]);
                e.preventDefault();
              });
            </script>"""
        )
        await agent.click("#b", double_click=True, snapshot="none")
        assert await agent.log() == [
            ["click", 1, 0, False, False, False, is_trusted],
            ["click", 2, 0, False, False, False, is_trusted],
            ["dblclick", 2, 0, False, False, False, is_trusted],
        ]
        await agent.run("() => { log.length = 0 }")
        await agent.click("#b", button="right", snapshot="none")
        menu = next(event for event in await agent.log() if event[0] == "contextmenu")
        assert menu[2:] == [2, False, False, False, is_trusted]
        await agent.run("() => { log.length = 0 }")
        await agent.click("#b", modifiers=["Shift", "Alt"], snapshot="none")
        assert await agent.log() == [["click", 1, 0, False, True, True, is_trusted]]
        await agent.run("() => { log.length = 0 }")
        await agent.click("#b", snapshot="none")
        plain = ["click", 1, 0, False, False, False, is_trusted]
        assert await agent.log() == [plain], "nothing held"


async def test_a_click_that_navigates_returns_the_new_page(house: House, web: Web) -> None:
    goal = web.page("<h1>There</h1>", title="Goal")
    async with house.guest(web) as agent:
        await agent.show(f"<a href='{goal}'>Go</a>")
        done = await agent.click("text=Go")
        assert (done.url, done.title) == (goal, "Goal")
        assert done.snapshot is not None
        assert "There" in done.snapshot


async def test_titles_changed_by_scripts_are_fresh_after_an_action(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<button onclick=\"document.title = 'Two'\">B</button>", title="One")
        assert (await agent.click("text=B")).title == "Two"
        assert [tab.title for tab in (await agent.tabs()).tabs] == ["Two"]


async def test_an_element_that_cannot_be_clicked_is_refused_with_the_reason(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<button id=off disabled>Off</button><button id=under>Under</button>"
            "<div id=over style='position:fixed;inset:0;background:#fff'></div>"
        )
        error = await refused_soon(NotActionable, agent, ops.Click(target="#off"))
        assert error.details["reason"] == "disabled"
        error = await refused_soon(NotActionable, agent, ops.Click(target="#under"))
        assert error.details["reason"] == "covered"
        await refused_soon(NotFound, agent, ops.Click(target="#nowhere"))


async def test_a_click_waits_for_an_element_that_appears_later(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<script>window.log = []; setTimeout(() => {
              const b = document.createElement("button");
              b.textContent = "Late"; b.onclick = () => log.push("clicked");
              document.body.append(b);
            }, 150)</script>"""
        )
        await agent.click("text=Late", snapshot="none")
        assert await agent.log() == ["clicked"]


async def test_a_ref_is_valid_as_long_as_its_element_and_never_reused(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show("<button id=a>A</button><button id=b>B</button>")
        refs = _refs(await agent.snapshot())
        assert _refs(await agent.snapshot()) == refs, "an element keeps its ref"
        await agent.run("() => document.querySelector('#a').remove()")
        await refused(StaleRef, agent.click(refs["A"]))
        await agent.show("<button>A</button><button>B</button>")
        await refused(StaleRef, agent.click(refs["B"]))
        assert not set(_refs(await agent.snapshot()).values()) & set(refs.values())


async def test_hover_scroll_and_mouse_coordinates_work(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            TRUSTED + "<button id=b style='position:absolute;left:100px;top:100px;width:80px;"
            "height:40px'>B</button><div style='height:3000px'></div><p id=end>End</p>"
        )
        await agent.call(ops.Hover(target="#b"))
        assert await agent.run("() => document.querySelector('#b').matches(':hover')")
        await agent.call(ops.MouseMoveXy(x=700, y=500))
        assert not await agent.run("() => document.querySelector('#b').matches(':hover')")
        await agent.call(ops.MouseClickXy(x=140, y=120))
        assert ["click", True] in await agent.log()
        moved = await agent.call(ops.Scroll(direction="down"))
        assert moved.moved
        assert moved.y > 0
        await agent.call(ops.MouseWheel(x=300, y=300, delta_y=200))
        await agent.wait(selector="body")
        assert ["wheel", True] in await agent.log()
        moved = await agent.call(ops.Scroll(target="#end"))
        assert await agent.run("() => scrollY > 1000")
        top = await agent.call(ops.Scroll(x=0, y=0))
        assert top.y == 0


def _refs(snapshot: str) -> dict[str, str]:
    """Return the refs of the buttons by name."""
    found = {}
    for line in snapshot.splitlines():
        if "button" in line:
            found[line.split('"')[1]] = line.split("[ref=")[1].split("]")[0]
    return found


STICKY = {
    "a fixed footer": ("<div style='height:2000px'></div>", "position:fixed;bottom:0;left:0"),
    "a fixed header": ("<div style='height:2000px'></div>", "position:fixed;top:0;left:0"),
    "a sticky header": ("<div style='height:2000px'></div>", "position:sticky;top:0"),
}


@pytest.mark.parametrize("where", ["start", "end", "center"])
@pytest.mark.parametrize("bar", STICKY)
async def test_an_element_under_a_fixed_or_sticky_bar_is_clicked(
    house: House, web: Web, bar: str, where: str
) -> None:
    space, style = STICKY[bar]
    async with house.guest(web) as agent:
        await agent.show(
            f"<nav style='{style};height:120px;width:100%;background:#eee;z-index:1'>Bar</nav>"
            f"{space}<button id=b onclick='log.push(1)'>B</button>{space}"
            "<script>window.log = []</script>"
        )
        await agent.run(f"() => b.scrollIntoView({{ block: '{where}' }})")
        await agent.click("#b", snapshot="none")
        assert await agent.log() == [1]


async def test_an_element_under_a_sticky_bar_inside_a_scroller_is_clicked(
    house: House, web: Web
) -> None:
    rows = "".join(f"<p style='height:30px;margin:0'><button>R{n}</button></p>" for n in range(40))
    async with house.guest(web) as agent:
        await agent.show(
            "<div id=part style='height:200px;width:400px;overflow:auto'>"
            "<div style='position:sticky;top:0;height:60px;background:#eee'>Head</div>"
            f"{rows}<div style='position:sticky;bottom:0;height:60px;background:#eee'>Foot</div>"
            "</div><script>window.log = []; part.onclick = (e) => log.push(e.target.textContent)"
            "</script>"
        )
        for name in ("R20", "R3", "R22", "R39", "R0"):
            await agent.click(f'text="{name}"', snapshot="none")
        assert await agent.log() == ["R20", "R3", "R22", "R39", "R0"]


async def test_an_element_in_a_frame_under_a_fixed_bar_of_its_parent_is_clicked(
    house: House, web: Web
) -> None:
    inner = web.page("<button id=b onclick='parent.log.push(1)'>Inside</button>")
    async with house.guest(web) as agent:
        await agent.show(
            "<nav style='position:fixed;bottom:0;left:0;height:120px;width:100%;background:#eee'>"
            "Bar</nav><div style='height:2000px'></div>"
            f"<iframe src='{inner}' style='height:60px;border:0'></iframe>"
            "<div style='height:2000px'></div><script>window.log = []</script>"
        )
        frame = "document.querySelector('iframe')"
        await agent.run(f"() => {frame}.scrollIntoView({{ block: 'end' }})")
        await agent.click("text=Inside", snapshot="none")
        assert await agent.log() == [1]


async def test_the_hint_for_a_covered_element_fits_what_covers_it(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<body style='margin:0'><button id=b>B</button>"
            "<nav style='position:fixed;top:0;left:0;height:90px;width:100%'>Bar</nav>"
        )
        error = await refused_soon(NotActionable, agent, ops.Click(target="#b"))
        assert "keeps its place" in error.hint
        assert "answer" not in error.hint
        await agent.show(
            "<button id=b>B</button><div role=dialog style='position:fixed;inset:0'>Sure?</div>"
        )
        error = await refused_soon(NotActionable, agent, ops.Click(target="#b"))
        assert "Close or answer" in error.hint
