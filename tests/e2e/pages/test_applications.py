# ruff: noqa: E501 - a document on one line reads better than a folded one
"""What real applications do, and simple pages do not. ``tests/soak/test_tasks.py`` runs the applications.

Each test is a small copy of what one of them did: editors in frames, sliders, drawings, parts that come late.
"""

from __future__ import annotations

import re
import threading

from roost import ops
from tests.support.house import House
from tests.support.local_web import Answer, Request, Web

EDITOR = "<body contenteditable aria-label='Rich Text Area'></body>"
SLIDER = """<input id=s type=range min=0 max=10 value=3 aria-label=Days><script>
window.log = [];
s.onkeyup = () => log.push(s.value);
</script>"""
DRAWING = """<svg width=400 height=300 style="cursor: crosshair">
<g id=node style="cursor: move"><rect width=100 height=40 fill=silver></rect><text x=10 y=20 pointer-events=none>timestamp</text>
<rect id=out x=96 y=15 width=10 height=10 style="cursor: crosshair"></rect></g>
<g style="cursor: move"><rect x=200 y=200 width=100 height=40 fill=silver></rect><text x=210 y=220 pointer-events=none>debug</text>
<rect id=in x=194 y=215 width=10 height=10 style="cursor: crosshair"></rect></g>
</svg><script>
window.log = [];
addEventListener("mousedown", (e) => log.push("down " + e.target.id));
addEventListener("mouseup", (e) => log.push("up " + e.target.id));
</script>"""


def refs_below(snapshot: str, words: str) -> list[str]:
    """Return the refs in the lines after the one with these words."""
    return re.findall(r"\[ref=(\w+)\]", snapshot.partition(words)[2])


async def test_an_editor_that_is_the_whole_body_of_a_frame_can_be_typed_into(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(f'<iframe srcdoc="{EDITOR}"></iframe>')
        shown = await agent.snapshot()
        assert 'textbox "Rich Text Area"' in shown
        (editor,) = refs_below(shown, "iframe [ref=")[:1]
        done = await agent.type(editor, "apples")
        assert "apples" in (done.snapshot or "")


async def test_the_parts_of_a_label_get_no_lines_of_their_own(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<label style='cursor: pointer'><span style='cursor: pointer'><input type=checkbox aria-label=Paid></span>"
            "<div style='cursor: pointer'></div><div style='cursor: pointer'><p>Paid</p></div></label>"
        )
        shown = await agent.snapshot()
        assert re.sub(r"\[ref=\w+\]", "[ref]", shown) == '- checkbox "Paid" [ref]'


async def test_a_link_that_leads_nowhere_is_shown_without_an_address(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<a href='#'>Deploy</a> <a href='javascript:void 0'>Menu</a> <a href='#top'>Top</a>"
        )
        assert re.findall(r"/url: (.*)", await agent.snapshot()) == ['"#top"']


async def test_a_slider_reaches_its_value_by_a_key(house: House, web: Web) -> None:
    """Applications store a slider's value when the key or the mouse button is released."""
    async with house.guest(web) as agent:
        await agent.show(SLIDER)
        await agent.snapshot()
        for value in (7, 0, 10):
            done = await agent.fill("#s", value)
            assert 'slider "Days" [active]' in (done.snapshot or "")
            assert (await agent.log())[-1] == str(value)
            assert await agent.run("() => s.value") == str(value)


async def test_a_slider_that_ignores_keys_gets_its_value_nevertheless(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(SLIDER + "<script>s.onkeydown = (e) => e.preventDefault()</script>")
        done = await agent.fill("#s", 7)
        assert ': "7"' in (done.snapshot or "")
        assert await agent.run("() => s.value") == "7"


async def test_the_parts_of_a_drawing_have_refs_and_can_be_dragged(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(DRAWING)
        shown = await agent.snapshot()
        assert shown.count("[cursor=move]") == 2
        out, *_ = refs_below(shown, "text: timestamp")
        entry, *_ = refs_below(shown, "text: debug")
        await agent.call(ops.Drag(start_target=out, end_target=entry))
        assert await agent.log() == ["down out", "up in"]


async def test_an_element_with_a_cursor_for_dragging_has_a_ref(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<div style='cursor: grab'>inject <b>now</b></div>")
        shown = re.sub(r"\[ref=\w+\]", "[ref]", await agent.snapshot())
        assert shown == "- generic [ref] [cursor=grab]: inject now"


async def test_a_click_on_a_canvas_says_where_it_was_and_how_to_click_elsewhere(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show("<canvas id=c width=200 height=100></canvas><button>Plain</button>")
        (note,) = (await agent.click("#c")).notes or []
        assert note.startswith("This is a drawing, and the click was at its middle.")
        assert not (await agent.click("text=Plain")).notes


async def test_navigate_waits_for_the_parts_that_an_application_loads(
    house: House, web: Web
) -> None:
    page = _application(web)
    async with house.guest(web) as agent:
        arrived = await agent.go(page, snapshot="diff")
        assert "The last row" in (arrived.snapshot or "")


async def test_an_action_that_leaves_after_its_request_shows_the_next_page(
    house: House, web: Web
) -> None:
    page, save = _application(web), web.serve(Answer(b"saved", kind="text/plain"))
    async with house.guest(web) as agent:
        await agent.show(
            f"""<button onclick='publish()'>Publish</button><script>
            const publish = async () => {{ await fetch("{save}", {{method: "POST"}}); location = "{page}" }};
            </script>"""
        )
        await agent.snapshot()
        done = await agent.click("text=Publish")
        assert "The last row" in (done.snapshot or "")


def _application(web: Web) -> str:
    """Return the address of a page that draws a button, and later what a request brings."""
    drawn = threading.Event()

    def release(request: Request) -> Answer:
        drawn.set()
        return Answer(b"", 204)

    rows = web.serve(Answer(b"<p>The last row</p>", kind="text/plain", held=drawn))
    script = f"""
    const draw = (html) => document.body.insertAdjacentHTML("beforeend", html);
    draw("<button>Menu</button>");
    fetch("{rows}").then(async (answer) => draw(await answer.text()));
    setTimeout(() => {{ new Image().src = "{web.serve(release)}" }}, 250);
    """
    loaded = web.serve(Answer(script.encode(), kind="text/javascript"))
    return web.serve(f"<!doctype html><body><script src='{loaded}'></script>".encode())
