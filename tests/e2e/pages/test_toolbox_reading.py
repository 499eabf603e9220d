"""Locators, ``get``, ``is``, boxes and waits, in both browsers and in frames.

They test ``roost.api.element_operations`` and ``roost.broker.work.element_readings``.
"""

from __future__ import annotations

from typing import Any

from roost import ops
from roost.errors import BadRequest, NotFound, Timeout
from roost.testing.waits import started
from tests.support.agent import Agent, refused, refused_soon
from tests.support.house import House
from tests.support.local_web import Answer, Web

PAGE = """
<label>Name <input id=name value=Ada></label>
<button onclick="log.push('one')" aria-label="First">1</button>
<button onclick="log.push('two')">Second</button>
<x-card></x-card><p id=late hidden>Late words</p>
<script>
  window.log = [];
  document.querySelector('x-card').attachShadow({mode: 'open'}).innerHTML =
    '<button onclick="log.push(\\'deep\\')">Deep</button>';
</script>"""


async def value(agent: Agent, what: Any, target: str | None = None, **more: Any) -> Any:
    return (await agent.call(ops.Get(what=what, target=target, **more))).value


async def test_locators_work_in_every_operation_with_a_target(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(PAGE)
        await agent.click('role=button[name="First"]', snapshot="none")
        await agent.click("xpath=//button[2]", snapshot="none")
        await agent.click("x-card >> role=button", snapshot="none")
        assert await agent.log() == ["one", "two", "deep"]
        await agent.type("label=Name", "Bob", snapshot="none")
        assert await value(agent, "value", "label=Name") == "Bob"
        await agent.fill("label=Name", "Eve")
        assert await agent.run("(e) => e.value", target="label=Name") == "Eve"
        await agent.call(ops.Hover(target="role=button >> nth=0", snapshot="none"))
        assert "Second" in await agent.snapshot(target="role=button[name=Second]")
        content = await agent.call(ops.GetContent(selector="role=button[name=Second]"))
        assert content.text == "Second"
        error = await refused(BadRequest, agent.click("role=button", snapshot="none"))
        assert error.details["reason"] == "ambiguous"
        assert len(error.details["suggestions"]) == 3
        await refused_soon(NotFound, agent, ops.Click(target="testid=none"))


async def test_values_and_states_come_from_the_frame_that_has_the_element(
    house: House, web: Web
) -> None:
    inner = web.page("<input id=in value=x disabled style='margin:0'><p data-testid=p>Inner</p>")
    async with house.guest(web) as agent:
        await agent.show(
            f"{PAGE}<iframe src='{inner}' style='position:absolute;left:50px;top:300px'></iframe>"
        )
        await agent.wait(selector="testid=p")
        assert await value(agent, "text", "testid=p") == "Inner"
        assert await value(agent, "count", "testid=p") == 1
        assert await value(agent, "count", "role=button") == 3
        assert await value(agent, "attr", "#in", name="value") == "x"
        assert await value(agent, "title") == "Test"
        assert str(await value(agent, "url")).startswith(web.base)
        box = await value(agent, "box", "testid=p")
        assert box["x"] > 50
        assert box["y"] > 300
        snapshot = await agent.snapshot(boxes=True)
        shown = await agent.snapshot(target="#in", boxes=True)
        left = round((await value(agent, "box", "#in"))["x"])
        assert f"[box={left}," in snapshot
        assert f"[box={left}," in shown
        states: tuple[tuple[Any, str, bool], ...] = (
            ("enabled", "#in", False),
            ("visible", "#in", True),
            ("visible", "#late", False),
            ("hidden", "testid=none", True),
            ("editable", "label=Name", True),
        )
        for state, target, expected in states:
            assert (await agent.call(ops.Is(state=state, target=target))).value is expected
        await refused(BadRequest, agent.call(ops.Get(what="text")))
        await refused(BadRequest, agent.call(ops.Get(what="attr", target="#in")))


async def test_waits_know_functions_states_loads_and_responses(house: House, web: Web) -> None:
    data = web.serve(Answer(b"{}", kind="application/json"))
    # In a tab of its own: requests of another test's page could keep the network from being idle.
    async with house.agent(web) as agent:
        await agent.show(
            f"{PAGE}<button id=go onclick=\"setTimeout(() => fetch('{data}').then(() => {{"
            'late.hidden = false; window.ready = 7 }), 50)">Go</button>'
        )
        await agent.wait(selector="#late", state="hidden", load_state="networkidle")
        await agent.click("#go", snapshot="none")
        await agent.wait(
            function="() => window.ready === 7", selector="text=Late words", response=data
        )
        await agent.wait(text="Late words", load_state="load", url="*")
        error = await refused(Timeout, agent.wait(response="/never", text="Late", timeout=0.3))
        assert "text 'Late' and response '/never'" in error.message
        thrown = await refused(BadRequest, agent.wait(function="() => { throw 'no' }"))
        assert thrown.page_said is not None
        await refused(BadRequest, agent.wait(state="hidden"))
        await refused(BadRequest, agent.wait(text="x", time=1))


async def test_a_highlighted_element_is_framed_for_the_person(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(PAGE)
        shown = await agent.call(ops.Highlight(target="role=button >> nth=0", label="Here"))
        assert shown.value is True
        count = "() => document.querySelectorAll('roost-highlight').length"
        assert await agent.run(count) == 1
        assert (await agent.call(ops.Highlight())).value is False
        assert await agent.run(count) == 0


async def test_a_regular_expression_that_explodes_holds_up_nobody_else(
    house: House, web: Web
) -> None:
    url = web.page(f"<p>{'a' * 60}b</p><button>Go</button>")
    async with house.agent(web) as agent, house.agent(web) as neighbour:
        await agent.go(url)
        await neighbour.go(url)
        explodes = ops.Find(regex="(a+)+$")
        finding = await started(agent.call(explodes, timeout=3))
        # All of this is answered while the expression runs, on a page of the same site.
        await neighbour.call(ops.Ping())
        await neighbour.click("text=Go")
        assert (await neighbour.call(ops.Find(regex="^a+b$"))).total == 1
        await neighbour.go(url)
        await refused(Timeout, finding)
        await agent.show("<h1>Later</h1>")
        assert "Later" in await agent.snapshot()
