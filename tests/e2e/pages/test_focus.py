"""Pages see themselves as visible and focused, and new lines arrive as text."""

from __future__ import annotations

import asyncio

import pytest

from roost import ops
from roost.errors import Timeout
from tests.support.agent import refused
from tests.support.house import House, lacks
from tests.support.local_web import Web

SEEN = "() => [document.hasFocus(), document.visibilityState]"
FIELD = """<input id=field><p id=inner></p><script>
  window.log = [];
  for (const kind of ["focus", "blur"])
    field.addEventListener(kind, () => log.push([kind, field.matches(":focus")]));
  addEventListener("click", () => log.push(["click", document.hasFocus()]));
</script>"""


async def test_a_page_is_shown_and_focused_when_it_has_been_opened(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show("<p>Hi</p>")
        assert await agent.run(SEEN) == [True, "visible"]


async def test_a_clicked_field_is_focused_for_styles_and_scripts(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show(FIELD)
        await agent.click("#field")
        assert await agent.log() == [["focus", True], ["click", True]]
        assert await agent.run("() => document.querySelector(':focus-within input:focus').id")


async def test_pages_of_two_sessions_are_each_focused_while_their_agent_acts(
    house: House, web: Web
) -> None:
    async with house.agent(web) as one, house.agent(web) as two:
        for agent in (one, two):
            await agent.show(FIELD)
        for _ in range(2):
            for agent in (one, two):
                await agent.click("#field")
        for agent in (one, two):
            clicks = [focused for kind, focused in await agent.log() if kind == "click"]
            assert clicks == [True, True]
            if not lacks(house, "focus of several pages"):
                assert await agent.run(SEEN) == [True, "visible"], "also while another agent acts"


async def test_other_pages_get_the_focus_while_one_page_is_frozen(house: House, web: Web) -> None:
    async with house.agent(web) as frozen, house.agent(web) as other:
        await other.show(FIELD)
        await frozen.show("<p>Frozen</p>")
        await frozen.run("() => { setTimeout(() => { for (;;); }) }")
        await refused(Timeout, frozen.call(ops.Evaluate(function="() => 1"), timeout=1.0))
        await other.click("#field")
        assert ["click", True] in await other.log()
        await frozen.go("about:blank")


LINES = "for i in range(3):\n    print(i)\n\nsum(range(101))"


async def test_new_lines_press_no_key_in_editable_elements(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<div id=editor contenteditable style="white-space: pre-wrap">old</div><script>
            window.log = [];
            editor.addEventListener("keydown", (event) => log.push(event.key));
            </script>"""
        )
        await agent.type("#editor", LINES)
        text = await agent.run("() => editor.innerText.replace(/\\n+/g, '\\n').trim()")
        assert text == LINES.replace("\n\n", "\n")
        assert await agent.log() == []


async def test_an_editor_that_handles_paste_or_input_gets_the_lines_unchanged(
    house: House, web: Web
) -> None:
    """The editor works like CodeMirror: events change its model, and the element shows the
    model."""
    async with house.guest(web) as agent:
        await agent.show(
            """<div id=editor contenteditable></div><script>
            window.model = ""; window.log = [];
            const take = (text, event) => {
              model += text; editor.textContent = model; event.preventDefault();
            };
            editor.addEventListener("paste", (event) =>
              take(event.clipboardData.getData("text/plain"), event));
            editor.addEventListener("beforeinput", (event) => {
              if (event.data) take(event.data, event);
            });
            editor.addEventListener("keydown", (event) => {
              if (event.key === "Enter") log.push(event.shiftKey ? "run" : "indent");
            });
            </script>"""
        )
        await agent.type("#editor", LINES)
        assert await agent.run("() => model") == LINES
        assert await agent.log() == []


@pytest.mark.parametrize(
    "box", ["<div id=box contenteditable></div>", "<textarea id=box></textarea>"]
)
async def test_a_message_of_several_lines_is_not_sent_by_its_new_lines(
    house: House, web: Web, box: str
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            box
            + """<script>window.log = [];
            box.addEventListener("keydown", (event) => {
              if (event.key === "Enter" && !event.shiftKey) {
                event.preventDefault(); log.push((box.value ?? box.innerText).trim());
              }
            });</script>"""
        )
        await agent.type("#box", "Hello\nWorld")
        assert await agent.log() == []
        await agent.press("Enter")
        assert [text.split() for text in await agent.log()] == [["Hello", "World"]]


async def test_several_lines_arrive_in_an_editor_inside_a_frame(house: House, web: Web) -> None:
    """Block editors have their canvas in a frame."""
    inner = web.page("<div id=editor contenteditable>Start</div>")
    async with house.agent(web) as agent:
        await agent.show(f"<iframe src='{inner}'></iframe>")
        await agent.wait(selector="iframe")
        await agent.type("#editor", "One\nTwo")
        shown = await agent.run(
            """() => { const inside = frames[0].document;
            return [inside.querySelector(":focus")?.id, inside.hasFocus(),
                    inside.body.innerText.trim().split(/\\n+/)]; }"""
        )
        assert shown == ["editor", True, ["One", "Two"]]


async def test_many_agents_can_type_at_the_same_time(house: House, web: Web) -> None:
    async with house.agent(web) as one, house.agent(web) as two, house.agent(web) as three:
        agents = (one, two, three)
        for agent in agents:
            await agent.show("<input id=field><div id=editor contenteditable></div>")

        async def work(number: int) -> None:
            for turn in range(4):
                await agents[number].type("#field", f"{number} {turn}")
                await agents[number].type("#editor", f"{number} {turn}")

        await asyncio.gather(*(work(number) for number in range(3)))
        for number, agent in enumerate(agents):
            typed = await agent.run("() => [field.value, editor.innerText.trim()]")
            assert typed == [f"{number} 3"] * 2
