"""Dialogs are reported or answered, and no call hangs because of one."""

from __future__ import annotations

import asyncio

from roost import ops
from roost.errors import DialogOpen, NotFound
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Web

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


async def test_every_other_call_is_refused_while_a_dialog_is_open(house: House, web: Web) -> None:
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


async def test_answering_a_dialog_that_is_not_open_is_an_error(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        await refused(NotFound, agent.answer(True))


async def test_a_dialog_that_opens_by_itself_interrupts_a_waiting_call(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show("<script>go = () => setTimeout(() => alert('Boo'), 50)</script>")
        waiting = asyncio.get_running_loop().create_task(agent.wait(text="never there"))
        await agent.run("() => { go() }")
        await refused(DialogOpen, waiting)
        await agent.answer(True)
        assert await agent.run("() => 1") == 1


async def test_the_caller_answers_a_beforeunload_dialog(house: House, web: Web) -> None:
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


async def test_closing_a_tab_opens_no_beforeunload_dialog(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<input><script>onbeforeunload = (e) => e.preventDefault()</script>")
        await agent.type("input", "unsaved")
        assert (await agent.call(ops.Close())).tabs == []


async def test_a_tab_can_leave_a_page_that_alerts_in_a_loop(house: House, web: Web) -> None:
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


async def test_evaluate_reports_the_dialog_that_it_opened(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(ASKS)
        await refused(DialogOpen, agent.run("() => confirm('From a script')"))
        await agent.answer(True)
        assert await agent.run("() => 1") == 1
