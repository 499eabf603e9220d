"""A person's own Firefox with its remote agent: input is trusted, reaches the right tab, and is
synthetic while another program has the agent's session.

The test's own control of Firefox needs that session, too, so it waits until Roost has released it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from roost import ops
from roost.errors import NotActionable, NotFound
from tests.e2e.extension.own_house import OwnHouse, own_house
from tests.e2e.pages import test_clicking, test_dialogs, test_dragging, test_filling_in
from tests.support.agent import TRUSTED, refused
from tests.support.house import House
from tests.support.local_web import Web
from tests.support.own_firefox import OwnFirefox

pytestmark = pytest.mark.timeout(240)
PAGE = (
    TRUSTED
    + """<style>#h:hover { color: rgb(255, 0, 0) }</style><button id=b>B</button><input id=i>
<div id=h>Over</div><a id=l href="/mine-2">Link</a><button disabled>Off</button>
<button id=w onclick="window.open('/mine-1')">Window</button>
<a id=t href="/mine-2" target=_blank>T</a>
<form onsubmit="event.preventDefault(); window.sent = i2.value"><input id=i2></form>"""
)

GESTURES = (
    TRUSTED
    + """<button id=b>B</button><button id=c>C</button><input id=i value=old>
<p id=from draggable=true>From</p><p id=to>To</p><div style="height: 3000px"></div><script>
c.addEventListener("contextmenu", (event) => event.stopPropagation());
to.ondragover = (event) => event.preventDefault();
to.ondrop = () => { to.textContent = "Dropped" };
addEventListener("scroll", () => { to.textContent = "Scrolled" });
</script>"""
)
CHOSEN = [
    test_clicking.test_a_click_that_navigates_returns_the_new_page,
    test_dialogs.test_an_action_answers_with_the_dialog_it_opened,
    test_dragging.test_a_page_that_follows_the_mouse_sees_every_step,
    test_dragging.test_dragging_between_points_moves_a_slider,
    test_filling_in.test_enter_and_space_operate_the_focused_element,
    test_filling_in.test_keys_and_key_combinations_have_their_usual_effect,
]
vars().update({test.__name__: test for test in CHOSEN})


@pytest.fixture(scope="module")
def own(web: Web) -> Iterator[OwnHouse]:
    with own_house(web, OwnFirefox, has_remote=True) as own:
        yield own


@pytest.fixture
def house(own: OwnHouse) -> House:
    return own.house


async def test_input_is_trusted_in_the_tab_that_is_meant_and_in_no_other(
    own: OwnHouse,
) -> None:
    async with own.agent("Ann") as ann, own.agent("Bob") as bob:
        await asyncio.gather(ann.show(PAGE, title="Ann's"), bob.show(PAGE, title="Bob's"))
        await asyncio.gather(*(ann.click("#b") for _ in range(5)), bob.type("#i", "Bob was here"))
        assert [one for one in await ann.log() if one[0] == "click"] == [["click", True]] * 5
        assert "click" not in {kind for kind, _ in await bob.log()}
        assert all(is_trusted for _, is_trusted in await bob.log())
        assert await ann.run("() => i.value") == ""
        assert await bob.run("() => i.value") == "Bob was here"


async def test_mouse_and_keys_act_like_a_persons_input(
    own: OwnHouse,
) -> None:
    async with own.agent("Mouse") as agent:
        page = (await agent.show(PAGE, title="Mouse")).tab
        await agent.call(ops.Hover(target="#h"))
        assert await agent.run("() => getComputedStyle(h).color") == "rgb(255, 0, 0)"
        await agent.type("#i2", "sent", submit=True)
        assert await agent.run("() => window.sent") == "sent"
        await refused(NotActionable, agent.click("button[disabled]"))
        by_key = await agent.click("#l", tab=page, modifiers=["Control"])
        by_wheel = await agent.click("#l", tab=page, button="middle")
        by_link = await agent.click("#t", tab=page)
        by_script = await agent.click("#w", tab=page)
        assert None not in (by_key.opened, by_wheel.opened, by_link.opened, by_script.opened)
        async with asyncio.timeout(30):  # they are there, and on their way
            while {tab.url for tab in (await agent.tabs()).tabs if tab.tab != page} != set(
                own.pages[1:]
            ):
                pass
        marks = "() => document.querySelectorAll('iframe').length + window.length"
        assert await agent.run(marks, tab=page) == 0, "nothing of ours is left in the page"


async def test_all_gestures_are_trusted_and_have_their_effect(own: OwnHouse) -> None:
    async with own.agent("Mouse") as agent:
        await agent.show(GESTURES, title="Gestures")
        await agent.click("#b", double_click=True)
        for target in ("#b", "#c"):
            await agent.click(target, button="right")
        await agent.click("#i")
        await agent.press("Control+a")
        await agent.press("x")
        assert await agent.run("() => i.value") == "x"
        await agent.call(ops.Drag(start_target="#from", end_target="#to"))
        assert await agent.run("() => to.textContent") == "Dropped"
        await agent.call(ops.MouseWheel(x=300, y=300, delta_y=200))
        await agent.wait(text="Scrolled")
        log = await agent.log()
        # The drop is Roost's own: Firefox finishes a drag only in the tab in front.
        assert [kind for kind, is_trusted in log if not is_trusted] == ["drop"]
        assert {"click", "dblclick", "keydown", "input", "dragstart", "wheel"} <= {
            kind for kind, _ in log
        }
        assert log.count(["contextmenu", True]) == 2
        # Here Firefox would show its own menu, and ask no page.
        await agent.click("#b", button="right", modifiers=["Shift"])
        assert ["contextmenu", False] in await agent.log()


async def test_input_reaches_frames_and_file_choosers_ask_the_agent(
    own: OwnHouse,
) -> None:
    inner = own.web.page(TRUSTED + "<button>Inside</button>").replace("127.0.0.1", "localhost")
    ask = "const f = document.createElement('input'); f.type = 'file';"
    ask += "f.onchange = () => out.textContent += f.files[0].name;"
    ask += "this.id === 'u' ? f.click() : setTimeout(() => f.click(), 500)"
    async with own.agent("Files") as agent:
        await agent.show(
            f"<iframe src='{inner}'></iframe><button id=u onclick=\"{ask}\">U</button>"
            f'<button id=later onclick="{ask}">L</button><p id=out>'
        )
        snapshot = await agent.snapshot()
        ref = snapshot.split('button "Inside" [ref=')[1].split("]")[0]
        await agent.click(ref)
        frame = ref.split("e")[0]
        assert frame, "in a frame of another site"
        assert "Inside" in await agent.snapshot()
        shown = await agent.click("#u")
        assert shown.chooser is not None
        file = agent.house.work / "given.txt"
        file.write_text("given")
        await agent.call(ops.FileUpload(paths=[str(file)]))
        assert await agent.run("() => out.textContent") == "given.txt"
        await agent.click("#later")
        async with asyncio.timeout(30):
            while await agent.run("() => out.textContent") == "given.txt":
                with suppress(NotFound):
                    await agent.call(ops.FileUpload(paths=[str(file)]))


async def test_a_killed_broker_releases_the_remote_session_for_other_programs(
    own: OwnHouse,
) -> None:
    own.house.kill_broker()
    assert await own.active() == own.pages[0], "through all of the above"
    assert await own.browser.open_menus() == [], "nothing was shown to the person"
    async with own.browser.other_client(), own.agent("Ann") as agent:
        await agent.show(PAGE, title="Ann's")
        await agent.click("#b")
        assert [one for one in await agent.log() if one[0] == "click"] == [["click", False]]
    assert "stays synthetic" in own.house.log
