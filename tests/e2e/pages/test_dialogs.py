"""Dialogs: answered, or reported; never a hang."""

from __future__ import annotations

import asyncio

from roost import ops
from roost.errors import DialogOpen, NotFound
from tests.support.local_web import Web
from tests.support.pages_house import House, refused

ASKS = """<script>window.log = []</script>
<button id=alert onclick="alert('Hear this'); log.push('after')">Alert</button>
<button id=confirm onclick="log.push(confirm('Sure?'))">Confirm</button>
<button id=prompt onclick="log.push(prompt('Name?', 'Nobody'))">Prompt</button>
"""


async def test_an_action_answers_with_the_dialog_it_opened(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        done = await agent.click("#alert")
        assert done.dialog is not None
        assert (done.dialog.kind, done.dialog.message) == ("alert", "Hear this")
        answered = await agent.answer(True)
        assert answered.dialog is None
        assert await agent.log() == ["after"]


async def test_everything_else_is_refused_while_it_stands(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        await agent.click("#confirm")
        for operation in (
            ops.Snapshot(),
            ops.Click(target="#alert"),
            ops.Evaluate(function="() => 1"),
            ops.TakeScreenshot(),
            ops.WaitFor(text="x"),
            ops.GetContent(),
        ):
            error = await refused(DialogOpen, agent.call(operation))
            assert error.details["kind"] == "confirm"
        await agent.answer(False)
        assert await agent.log() == [False]


async def test_confirm_and_prompt_get_the_callers_answer(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        await agent.click("#confirm")
        await agent.answer(True)
        shown = await agent.click("#prompt")
        assert shown.dialog is not None
        assert shown.dialog.default == "Nobody"
        await agent.answer(True, "Ada")
        await agent.click("#prompt")
        await agent.answer(False)
        assert await agent.log() == [True, "Ada", None]


async def test_answering_without_a_dialog_says_that_there_is_none(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        await refused(NotFound, agent.answer(True))


async def test_a_dialog_that_opens_by_itself_interrupts_what_waits(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<script>go = () => setTimeout(() => alert('Boo'), 50)</script>")
        waiting = asyncio.get_running_loop().create_task(agent.wait(text="never there"))
        await agent.run("() => { go() }")
        await refused(DialogOpen, waiting)
        await agent.answer(True)
        assert await agent.run("() => 1") == 1


async def test_a_page_that_asks_before_it_is_left_is_answered_by_the_caller(
    house: House, web: Web
) -> None:
    goal = web.page("Goal", title="Goal")
    async with house.guest(web) as agent:
        asking = "<input><script>onbeforeunload = (e) => e.preventDefault()</script>"
        first = await agent.show(asking)
        await agent.type("input", "unsaved")
        error = await refused(DialogOpen, agent.go(goal))
        assert error.details["kind"] == "beforeunload"
        await agent.answer(False)
        assert await agent.run("() => location.href") == first.url
        assert await agent.run("() => document.querySelector('input').value") == "unsaved"
        await refused(DialogOpen, agent.go(goal))
        done = await agent.answer(True)
        assert done.url == goal


async def test_closing_a_tab_asks_nobody(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<input><script>onbeforeunload = (e) => e.preventDefault()</script>")
        await agent.type("input", "unsaved")
        assert (await agent.call(ops.Close())).tabs == []


async def test_a_page_that_alerts_in_a_loop_can_be_left(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        await agent.show("<button onclick=\"for (;;) alert('Again')\">Go</button>")
        other = await agent.open(web.page("Other"))
        tab = (await agent.tabs()).tabs[0].tab
        done = await agent.call(ops.Click(target="button", tab=tab))
        assert done.dialog is not None
        for _ in range(3):
            again = await agent.answer(True, tab=tab)
            assert again.dialog is not None
            assert again.dialog.message == "Again"
        assert await agent.run("() => document.body.textContent", tab=other) == "Other"
        left = await agent.call(ops.Close(tab=tab))
        assert [row.tab for row in left.tabs] == [other]


async def test_evaluate_that_opens_a_dialog_is_told_so(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        await refused(DialogOpen, agent.run("() => confirm('From a script')"))
        await agent.answer(True)
        assert await agent.run("() => 1") == 1
