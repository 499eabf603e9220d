"""Mouse buttons and keys that stay down: over several calls, for a time, and until the session
loses the tab. Also clicks three times, text at the focus and enlarged pictures."""

from __future__ import annotations

import asyncio
import base64

from roost import ops
from roost.drivers.pictures import picture_size
from roost.errors import BadRequest, Paused, TooLarge
from roost.vocabulary import JarPolicy
from tests.support.agent import Agent, refused
from tests.support.house import House, lacks
from tests.support.local_web import Web

BUTTON = """
<style>button { position: absolute; left: 50px; top: 50px; width: 100px; height: 100px }</style>
<button>B</button><script>
window.log = [];
for (const kind of ["mousedown", "mousemove", "mouseup", "click"])
  addEventListener(kind, (e) => log.push([kind, e.clientX, e.clientY, e.buttons]));
</script>
"""
KEYS = """
<input autofocus><script>
window.log = [];
for (const kind of ["keydown", "keyup"])
  addEventListener(kind, (e) => { if (!e.repeat) log.push([kind, e.key, e.shiftKey]) });
document.querySelector("input").focus();
</script>
"""


async def test_a_button_stays_down_from_call_to_call(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(BUTTON)
        await agent.call(ops.MouseDown(x=100, y=100))
        await agent.call(ops.MouseMoveXy(x=300, y=200))
        assert (await agent.log())[-1] == ["mousemove", 300, 200, 1]
        done = await agent.call(ops.MouseUp(x=320, y=210))
        assert done.did == "The left mouse button is up."
        log = await agent.log()
        assert ["mousedown", 100, 100, 1] in log
        assert ["mouseup", 320, 210, 0] in log
        await agent.run("() => { log.length = 0 }")
        await agent.call(ops.MouseClickXy(x=100, y=100))
        assert (await agent.log())[-1] == ["click", 100, 100, 0], "nothing is held any more"


async def test_press_and_release_without_points_happen_where_the_mouse_is(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(BUTTON)
        await agent.call(ops.MouseMoveXy(x=90, y=90))
        await agent.call(ops.MouseDown())
        await agent.call(ops.MouseUp())
        log = await agent.log()
        assert ["mousedown", 90, 90, 1] in log
        assert log[-1][:3] == ["click", 90, 90], "both on one element make a click"
        await refused(BadRequest, agent.call(ops.MouseDown(x=3)))


async def test_a_release_of_what_is_not_held_reaches_no_page(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(BUTTON)
        await agent.call(ops.MouseUp(x=100, y=100))
        assert [kind for kind, *_ in await agent.log()] == ["mousemove"]


async def test_html5_drags_and_sliders_work_over_several_calls(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<style>.b { position: absolute; top: 50px; width: 80px; height: 80px }</style>
            <div id=from class=b style="left: 50px" draggable=true>F</div>
            <div id=to class=b style="left: 400px">T</div>
            <input id=r type=range min=0 max=100 value=0
              style="position:absolute;left:0;top:200px;width:400px;height:20px;margin:0">
            <script>
            window.log = [];
            from.ondragstart = (e) => e.dataTransfer.setData("text/plain", "cargo");
            to.ondragover = (e) => e.preventDefault();
            to.ondrop = (e) => { e.preventDefault();
              log.push(e.dataTransfer.getData("text/plain")) };
            from.ondragend = () => log.push("end");
            </script>"""
        )
        await agent.call(ops.MouseDown(x=90, y=90))
        for x in (110, 200, 420, 430):
            await agent.call(ops.MouseMoveXy(x=x, y=90))
        await agent.call(ops.MouseUp(x=440, y=90))
        assert await agent.log() == ["cargo", "end"]
        await agent.call(ops.MouseDown(x=8, y=210))
        await agent.call(ops.MouseMoveXy(x=100, y=210))
        await agent.call(ops.MouseMoveXy(x=200, y=210))
        await agent.call(ops.MouseUp())
        assert 40 <= int(await agent.run("() => r.value")) <= 60


async def test_a_held_button_stays_with_the_frame_where_it_was_pressed(
    house: House, web: Web
) -> None:
    inner = web.page(
        "<style>html { height: 100% }</style><script>window.log = [];"
        "for (const kind of ['mousedown', 'mousemove', 'mouseup'])"
        "addEventListener(kind, (e) => { log.push([kind, e.clientX]); "
        "parent.postMessage(log, '*') })</script>"
    )
    async with house.guest(web) as agent:
        await agent.show(
            f"<iframe src='{inner}' style='position:absolute;left:100px;top:100px;width:200px;"
            "height:200px;border:0'></iframe><script>window.log = [];"
            "addEventListener('message', (e) => { window.log = e.data })</script>"
        )
        await agent.call(ops.MouseDown(x=150, y=150))
        move = agent.call(ops.MouseMoveXy(x=400, y=150))
        x = 420
        if lacks(house, "drags out of frames"):
            await refused(BadRequest, move)
            await agent.call(ops.MouseMoveXy(x=250, y=150))
            x = 270
        else:
            await move
        await agent.call(ops.MouseUp(x=x, y=150))
        while (log := await agent.log())[-1][0] != "mouseup":
            pass  # the frame's words are on their way
        assert log[0] == ["mousemove", 50]
        assert log[1] == ["mousedown", 50]
        assert ["mousemove", x - 120] in log, "outside of the frame, and still the frame's"
        assert log[-1] == ["mouseup", x - 100]


async def test_a_drag_follows_its_points_with_modifiers(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<div style="height:400px">D</div><script>window.log = [];
            addEventListener("mousemove", (e) =>
              e.buttons && log.push([e.clientX, e.clientY, e.shiftKey]));</script>"""
        )
        via = [ops.Point(x=200, y=50), ops.Point(x=200, y=250)]
        await agent.call(
            ops.MouseDragXy(
                start_x=20, start_y=50, end_x=60, end_y=250, via=via, modifiers=["Shift"]
            )
        )
        log = await agent.log()
        corners = [log.index([200, 50, True]), log.index([200, 250, True]), len(log) - 1]
        assert corners == sorted(corners)
        assert log[-1] == [60, 250, True]


async def test_a_key_is_held_for_its_time(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(KEYS)
        done = await agent.call(ops.HoldKey(key="Shift+ArrowRight", seconds=0.3))
        assert done.did == "Held Shift+ArrowRight for 0.3 s."
        assert await agent.log() == [
            ["keydown", "Shift", True],
            ["keydown", "ArrowRight", True],
            ["keyup", "ArrowRight", True],
            ["keyup", "Shift", False],
        ]
        await refused(BadRequest, agent.call(ops.HoldKey(key="Nothing", seconds=0.1)))


async def test_three_clicks_select_the_paragraph(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<p id=p style='margin:0;font:20px monospace'>One two three</p>"
            "<p>Four</p><script>window.log = [];"
            "addEventListener('click', (e) => log.push([e.detail, e.altKey]))</script>"
        )
        done = await agent.call(ops.TripleClick(target="#p"))
        assert done.did.endswith("three times.")
        assert [detail for detail, _ in await agent.log()] == [1, 2, 3]
        assert await agent.run("() => getSelection().toString().trim()") == "One two three"
        await agent.run("() => { log.length = 0; getSelection().removeAllRanges() }")
        await agent.call(ops.MouseClickXy(x=500, y=300))
        await agent.run("() => { log.length = 0 }")
        await agent.call(ops.MouseClickXy(x=20, y=10, click_count=3, modifiers=["Alt"]))
        assert await agent.log() == [[1, True], [2, True], [3, True]]


async def test_text_goes_where_the_focus_is(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<form onsubmit=\"event.preventDefault(); document.title = 'Sent'\">"
            "<input id=i value=Hello></form>"
        )
        await agent.run("() => { i.focus(); i.setSelectionRange(5, 5) }")
        await agent.call(ops.PressSequentially(text=", you"))
        assert await agent.run("() => i.value") == "Hello, you"
        done = await agent.call(ops.PressSequentially(text="!", submit=True))
        assert (await agent.run("() => i.value"), done.title) == ("Hello, you!", "Sent")


async def test_a_region_is_pictured_larger(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<body style='margin:0;background:linear-gradient(90deg,red,blue)'>")
        view = await agent.call(ops.ZoomScreenshot(x=100, y=50, width=120, height=80, scale=3))
        assert view.data is not None
        assert picture_size(base64.b64decode(view.data)) == (360, 240) == (view.width, view.height)
        assert (view.left, view.top, view.scale, view.mime_type) == (100, 50, 3, "image/png")
        await refused(BadRequest, agent.call(ops.ZoomScreenshot(x=90_000, y=0, width=9, height=9)))
        large = ops.ZoomScreenshot(x=0, y=0, width=10_000, height=10_000)
        await refused(TooLarge, agent.call(large))


async def _heard(agent: Agent, text: str) -> None:
    """Wait until the page's log has an entry of that kind."""
    while text not in [kind for kind, *_ in await agent.log()]:
        pass


async def test_a_pause_releases_the_button_without_a_click(house: House, web: Web) -> None:
    async with house.agent(web) as agent, house.operator() as operator:
        await agent.show(BUTTON)
        await agent.call(ops.MouseDown(x=100, y=100))
        await operator.call(ops.SessionPause(session=agent.session))
        await refused(Paused, agent.call(ops.MouseUp()))
        await operator.call(ops.SessionResume(session=agent.session))
        await _heard(agent, "mouseup")
        log = await agent.log()
        assert ["click", 100, 100, 0] not in log
        await agent.run("() => { log.length = 0 }")
        await agent.call(ops.MouseMoveXy(x=120, y=120))
        assert (await agent.log())[-1] == ["mousemove", 120, 120, 0]


async def test_a_pause_ends_a_held_key(house: House, web: Web) -> None:
    async with house.agent(web) as agent, house.operator() as operator:
        await agent.show(KEYS + "<script>onkeydown = () => console.log('down')</script>")
        async with asyncio.TaskGroup() as tasks:
            holding = tasks.create_task(agent.call(ops.HoldKey(key="w", seconds=25)))
            while not (await agent.call(ops.ConsoleMessages())).messages:
                pass  # the key is not down yet
            await operator.call(ops.SessionPause(session=agent.session))
        assert holding.result().did == "Released w early, because the tab was handed over."
        await operator.call(ops.SessionResume(session=agent.session))
        assert [kind for kind, *_ in await agent.log()] == ["keydown", "keyup"]


async def test_an_agent_that_left_holds_nothing_in_a_session_that_stays(
    house: House, web: Web
) -> None:
    async with house.agent(web, session="kept-mouse") as first:
        await first.show(BUTTON)
        await first.call(ops.MouseDown(x=100, y=100))
    async with house.agent(web, session="kept-mouse") as second:
        await second.take_over()
        await _heard(second, "mouseup")
        await second.call(ops.MouseMoveXy(x=120, y=120))
        assert (await second.log())[-1] == ["mousemove", 120, 120, 0]
        await second.call(ops.SessionDispose(session=second.session))


async def test_a_button_held_by_one_session_disturbs_no_other(house: House, web: Web) -> None:
    """Both sessions share a jar, so the two pages may share a process."""
    shared = {"jar": JarPolicy.SHARED}
    async with house.agent(web, **shared) as ada, house.agent(web, **shared) as bob:
        await ada.show(BUTTON)
        await bob.show(BUTTON + "<input style='position:absolute;top:200px'>")
        await ada.call(ops.MouseDown(x=100, y=100))
        await bob.call(ops.MouseMoveXy(x=70, y=70))
        await bob.call(ops.MouseClickXy(x=100, y=100))
        await bob.type("input", "text")
        assert await bob.run("() => document.querySelector('input').value") == "text"
        kinds = [(kind, buttons) for kind, _, _, buttons in await bob.log()]
        assert kinds[:5] == [
            ("mousemove", 0), ("mousemove", 0), ("mousedown", 1), ("mouseup", 0), ("click", 0),
        ]  # fmt: skip
        await ada.call(ops.MouseMoveXy(x=300, y=300))
        assert (await ada.log())[-1] == ["mousemove", 300, 300, 1], "and Ada still holds hers"
        await ada.call(ops.MouseUp())
        assert [kind for kind, *_ in await ada.log()].count("mouseup") == 1


async def test_a_drag_to_nowhere_leaves_no_button_down(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(BUTTON)
        drag = ops.MouseDragXy(start_x=300, start_y=300, end_x=90_000, end_y=300)
        if house.browser == "firefox":
            await refused(BadRequest, agent.call(drag))
        else:
            await agent.call(drag)
        await agent.run("() => { log.length = 0 }")
        await agent.call(ops.MouseClickXy(x=100, y=100))
        assert ["mousedown", 100, 100, 1] in await agent.log()


async def test_the_next_broker_finds_no_pressed_button(own_house: House, web: Web) -> None:
    async with own_house.agent(web) as agent:
        await agent.show(BUTTON)
        await agent.call(ops.MouseDown(x=100, y=100))
        own_house.kill_broker()
        await agent.wait(selector="button")  # a call that only reads is repeated
        await agent.call(ops.MouseMoveXy(x=120, y=120))
        assert (await agent.log())[-1] == ["mousemove", 120, 120, 0]
        await agent.run("() => { log.length = 0 }")
        await agent.call(ops.MouseClickXy(x=100, y=100))
        assert ["mousedown", 100, 100, 1] in await agent.log()


def test_both_managed_browsers_hold_buttons(house: House) -> None:
    assert not lacks(house, "held mouse buttons")
