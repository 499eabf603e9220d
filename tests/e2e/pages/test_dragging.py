"""Dragging works on pages that follow mouse events, and with HTML5 drag and drop."""

from __future__ import annotations

from roost import ops
from tests.support.house import House, lacks
from tests.support.local_web import Web

BOXES = """
<style>.b { position: absolute; top: 50px; width: 80px; height: 80px; background: #ccc }</style>
<div id=from class=b style="left: 50px" %s>From</div><div id=to class=b style="left: 400px">To</div>
<script>window.log = []</script>
"""


async def test_a_page_that_follows_the_mouse_sees_every_step(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            BOXES % ""
            + """<script>
            let held = false;
            from.onmousedown = () => { held = true; log.push("down") };
            addEventListener("mousemove", (e) => held && log.push(e.buttons));
            addEventListener("mouseup", (e) => { held = false; log.push("up " + e.target.id) });
            </script>"""
        )
        await agent.call(ops.Drag(start_target="#from", end_target="#to"))
        log = await agent.log()
        assert log[0] == "down"
        assert log[-1] == "up to"
        assert log.count(1) >= 3, "the button is held on the way"


async def test_html5_drag_and_drop_transfers_its_data(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            BOXES % "draggable=true"
            + """<script>
            from.ondragstart = (e) => {
              e.dataTransfer.setData("text/plain", "cargo"); log.push(["start", e.isTrusted]);
            };
            to.ondragover = (e) => e.preventDefault();
            to.ondrop = (e) => {
              e.preventDefault();
              log.push([e.dataTransfer.getData("text/plain"), e.isTrusted]);
            };
            from.ondragend = () => log.push("end");
            </script>"""
        )
        await agent.call(ops.Drag(start_target="#from", end_target="#to"))
        is_trusted = not lacks(house, "trusted input")
        is_dropped_so = is_trusted and not lacks(house, "trusted drops")
        assert await agent.log() == [["start", is_trusted], ["cargo", is_dropped_so], "end"]
        await agent.click("#to", snapshot="none")


async def test_dragging_between_points_moves_a_slider(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<input id=r type=range min=0 max=100 value=0 "
            "style='position:absolute;left:0;top:100px;width:400px;height:20px;margin:0'>"
        )
        await agent.call(ops.MouseDragXy(start_x=8, start_y=110, end_x=200, end_y=110))
        assert 40 <= int(await agent.run("() => r.value")) <= 60
