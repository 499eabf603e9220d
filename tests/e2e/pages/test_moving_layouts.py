"""A click reaches its target or nothing, even if the page moves elements under the pointer."""

from __future__ import annotations

import re

import pytest

from roost import ops
from roost.errors import NotActionable
from tests.support.agent import refused
from tests.support.house import House, lacks
from tests.support.local_web import Web

LOG = """<script>
  window.log = [];
  for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick",
                      "auxclick", "contextmenu"])
    addEventListener(kind, (event) => {
      const where = event.target.closest("[id]");
      log.push(`${kind} ${where ? where.id : event.target.localName}`);
    });
</script>"""
ROWS = """<style>button, summary { display: block; height: 40px; width: 200px; margin: 0 }
  body { margin: 0 } #menu { height: 40px; overflow: hidden } #menu:hover { height: 120px }</style>
  <div id=menu>Products</div>
  <button id=before>Rename</button><button id=archive>Archive</button>
  <button id=delete>Delete</button><button id=after>Share</button>
  <button id=last>Print</button>"""
"""While the pointer is over the menu, everything below is 80 px (two buttons) lower."""


async def _presses(agent: object, target: str = "#archive", **how: object) -> list[str]:
    await agent.click(target, snapshot="none", **how)  # type: ignore[attr-defined]
    return await agent.log()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("how", [{}, {"button": "right"}, {"button": "middle"}])
async def test_a_menu_that_closes_as_the_pointer_leaves_it_moves_no_click_to_a_neighbour(
    house: House, web: Web, how: dict[str, str]
) -> None:
    if lacks(house, "trusted input"):
        pytest.skip("untrusted events are given to the target itself")
    async with house.guest(web) as agent:
        await agent.show(LOG + ROWS)
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        await agent.run("() => { log.length = 0 }")
        log = await _presses(agent, **how)
        wanted = {"right": "contextmenu", "middle": "auxclick"}.get(how.get("button", ""), "click")
        assert f"{wanted} archive" in log
        assert {line.split()[1] for line in log} == {"archive"}, log


async def test_a_double_click_on_a_moving_layout_reaches_its_target_alone(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(LOG + ROWS)
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        await agent.run("() => { log.length = 0 }")
        log = await _presses(agent, double_click=True)
        assert log[-1] == "dblclick archive"
        assert {line.split()[1] for line in log} == {"archive"}, log


async def test_a_layout_that_moves_at_each_mouse_move_is_reported_and_nothing_is_clicked(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(LOG + ROWS)
        await agent.call(ops.Hover(target="#last", snapshot="none"))  # a move has to follow
        await agent.run(
            """() => addEventListener("mousemove", () => {
              const menu = document.querySelector("#menu");
              menu.style.height = `${menu.offsetHeight + 60}px`;
              document.body.offsetHeight;  // Firefox draws hidden pages late
            }, true)"""
        )
        done = agent.call(ops.Click(target="#archive", snapshot="none"), timeout=4)
        error = await refused(NotActionable, done)
        assert error.details["reason"] == "missed"
        assert error.details["coveredBy"]
        assert error.page_said is not None
        assert "archive" in error.page_said
        assert "archive" not in error.message
        assert await agent.log() == []


async def test_a_target_that_moves_once_at_the_first_mouse_move_is_clicked(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + ROWS
            + """<script>
              addEventListener("mousemove", () => {
                document.querySelector("#before").style.height = "200px";
              }, { capture: true, once: true });
            </script>"""
        )
        log = await _presses(agent)
        assert "click archive" in log
        assert {line.split()[1] for line in log} == {"archive"}, log


async def test_a_hover_follows_its_target(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ROWS)
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        await agent.call(ops.Hover(target="#archive", snapshot="none"))
        over = "() => [...document.querySelectorAll('button:hover')].map((one) => one.id)"
        assert await agent.run(over) == ["archive"]


async def test_a_drag_begins_at_its_source_on_a_moving_layout(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(LOG + ROWS)
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        await agent.run("() => { log.length = 0 }")
        drag = ops.Drag(start_target="#archive", end_target="#last", snapshot="none")
        await agent.call(drag)
        log = await agent.log()
        assert "mousedown archive" in log
        assert "mouseup last" in log
        assert "mousedown delete" not in log


async def test_a_check_box_that_moves_is_checked_and_not_its_neighbour(
    house: House, web: Web
) -> None:
    rows = "".join(
        f"<label style='display:block;height:40px'><input type=checkbox id=c{number}>"
        f"<span id=s{number}>Row {number}</span></label>"
        for number in range(1, 6)
    )
    async with house.guest(web) as agent:
        await agent.show(
            "<style>body { margin: 0 } #menu { height: 40px } #menu:hover { height: 120px }</style>"
            f"<div id=menu>Menu</div>{rows}"
        )
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        await agent.fill("#c2", True)
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        await agent.click("text=Row 4", snapshot="none")
        checked = "() => [...document.querySelectorAll(':checked')].map((one) => one.id)"
        assert await agent.run(checked) == ["c2", "c4"]


async def test_a_target_that_moves_away_when_pressed_is_not_reported_as_clicked(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + "<div id=card>"
            + ROWS
            + """</div><script>
              document.querySelector("#archive").addEventListener("mousedown", () => {
                document.querySelector("#before").style.height = "200px";
              });
            </script>"""
        )
        error = await refused(NotActionable, agent.click("#archive", snapshot="none"))
        assert error.details["reason"] == "moved"
        log = await agent.log()
        assert log.count("mousedown archive") == 1, "what the page heard is not given twice"
        assert not [line for line in log if line.startswith("click")], log


async def test_a_click_whose_target_moved_when_a_field_lost_focus_is_repeated(
    house: House, web: Web
) -> None:
    """When the field loses focus, a message appears and pushes the button down between press and
    release."""
    if lacks(house, "trusted input"):
        pytest.skip("untrusted events are given to the target itself")
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + """<style>button { display: block; height: 30px }</style>
            <input id=field><div id=message></div>
            <button id=save>Save</button><button id=cancel>Cancel</button><script>
              document.querySelector("#field").addEventListener("blur", () => {
                document.querySelector("#message").style.height = "30px";
              });
            </script>"""
        )
        await agent.type("#field", "x", snapshot="none")
        log = await _presses(agent, "#save")
        assert log.count("click save") == 1
        assert "click cancel" not in log


async def test_a_target_that_is_removed_when_pressed_counts_as_clicked(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + ROWS
            + """<script>
              document.querySelector("#archive").addEventListener("pointerdown", (event) => {
                event.target.remove();
              });
            </script>"""
        )
        done = await agent.click("#archive", snapshot="none")
        assert done.did.startswith("Clicked")
        assert "click delete" not in await agent.log()


async def test_a_menu_that_opens_over_its_button_when_pressed_counts_as_opened(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + """<button id=open style='position:absolute;left:0;top:0;width:99px;height:40px'>Open
            </button><script>
              document.querySelector("#open").addEventListener("mousedown", () => {
                const menu = document.createElement("div");
                menu.id = "list";
                menu.style = "position:absolute;inset:0;width:200px;height:200px;background:#eee";
                document.body.append(menu);
              });
            </script>"""
        )
        await agent.click("#open", snapshot="none")
        assert (await agent.log()).count("mousedown open") == 1


async def test_a_target_that_is_rerendered_when_the_pointer_enters_is_clicked(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + """<ul id=list></ul><script>
              const draw = () => {
                list.innerHTML = "<li><button id=a>Archive</button></li>"
                  + "<li><button id=d>Delete</button></li>";
              };
              draw();
              list.addEventListener("mouseenter", draw);
            </script>"""
        )
        ref = re.search(r'"Archive" \[ref=(e\d+)\]', await agent.snapshot())
        assert ref is not None
        log = await _presses(agent, ref[1])
        assert {line for line in log if "mousedown" in line} == {"mousedown a"}


async def test_a_drag_whose_element_follows_the_pointer_succeeds(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + """<style>body { margin: 0 } div { position: absolute; width: 80px; height: 40px }
            </style><div id=card style='left:0;top:0;background:#aaf'></div>
            <div id=zone style='left:300px;top:200px;background:#afa'></div><script>
              card.onpointerdown = () => { card.style.pointerEvents = "none"; carried = true };
              let carried = false;
              addEventListener("pointermove", ({ clientX: x, clientY: y }) => {
                if (carried) card.style.transform = `translate(${x - 40}px, ${y - 20}px)`;
              });
              addEventListener("pointerup", () => { carried = false });
            </script>"""
        )
        await agent.call(ops.Drag(start_target="#card", end_target="#zone", snapshot="none"))
        log = await agent.log()
        assert "pointerdown card" in log
        assert "pointerup zone" in log


async def test_children_and_labels_of_a_target_count_as_the_target(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<style>x-b { display: inline-block }</style>
            <button id=rich onclick='log.push(1)'><b>Rich</b> <i>text</i></button>
            <label id=label>Agree <input type=checkbox id=box style='opacity:0;width:1px'></label>
            <x-b id=host></x-b>
            <script>
              window.log = [];
              host.attachShadow({ mode: "open" }).innerHTML =
                "<button onclick='log.push(2)'><span>Inside</span></button>";
            </script>"""
        )
        await agent.click("#rich", snapshot="none")
        await agent.click("#host", snapshot="none")
        await agent.click("#label", snapshot="none")
        assert await agent.log() == [1, 2]
        assert await agent.run("() => box.checked") is True


@pytest.mark.parametrize("is_foreign", [False, True])
async def test_a_frame_that_moves_under_the_pointer_gets_no_press(
    house: House, web: Web, is_foreign: bool
) -> None:
    if lacks(house, "trusted input"):
        pytest.skip("untrusted events are given to the target itself")
    inner = web.page(LOG + "<body style='margin:0;background:#ccc'><p id=inner>Inner</p>")
    if is_foreign:
        inner = inner.replace(web.base, web.other_site)
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + f"""<style>body {{ margin: 0 }} #menu {{ height: 40px }}
              #menu:hover {{ height: 140px }}</style>
            <div id=menu>Menu</div><button id=target style='height:40px;width:200px'>Target</button>
            <iframe src='{inner}' style='display:block;height:300px;width:300px;border:0'>
            </iframe>"""
        )
        assert await agent.run("() => log", target="#inner") == []
        await agent.call(ops.Hover(target="#menu", snapshot="none"))
        log = await _presses(agent, "#target")
        assert "click target" in log
        assert await agent.run("() => log", target="#inner") == []


@pytest.mark.parametrize("is_foreign", [False, True])
async def test_a_target_in_a_frame_that_moves_is_clicked_and_nothing_else(
    house: House, web: Web, is_foreign: bool
) -> None:
    if lacks(house, "trusted input"):
        pytest.skip("untrusted events are given to the target itself")
    inner = web.page(LOG + ROWS)
    if is_foreign:
        inner = inner.replace(web.base, web.other_site)
    async with house.guest(web) as agent:
        await agent.show(
            LOG
            + f"""<style>body {{ margin: 0 }} #menu {{ height: 40px }}
              #menu:hover {{ height: 80px }}</style>
            <div id=menu>Menu</div>
            <iframe src='{inner}' style='display:block;height:160px;width:300px;border:0'></iframe>
            <button id=below style='height:200px;width:300px'>Below</button>"""
        )
        for target in ("text=Archive", "text=Delete"):
            await agent.call(ops.Hover(target="#menu", snapshot="none"))
            await agent.click(target, snapshot="none")
        inside = await agent.run("() => log", target="text=Archive")
        clicks = [line for line in inside if line.startswith("click")]
        assert clicks == ["click archive", "click delete"]
        assert await agent.log() == []
