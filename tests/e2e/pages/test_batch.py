"""A batch in real browsers: what happens in the middle is answered as in single calls."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Any

from roost import ops
from roost.api.views import BatchView
from roost.errors import Interrupted
from roost.testing.waits import started
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Answer, Web

FORM = """
<form onsubmit="event.preventDefault(); out.textContent = n.value + ' likes ' + c.value">
<label>Name <input id=n></label>
<label>Colour <select id=c><option>red<option>green</select></label>
<button>Save</button></form><p id=out></p>
"""


async def batch(agent: Agent, *steps: dict[str, Any], **more: Any) -> BatchView:
    return await agent.call(ops.Batch(steps=list(steps), **more))


def codes(view: BatchView) -> list[str]:
    return ["ok" if step.error is None else step.error["code"] for step in view.steps]


async def test_a_form_is_filled_in_and_the_diff_comes_once(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(FORM)
        await agent.snapshot()
        done = await batch(
            agent,
            {"tool": "type", "target": "text=Name", "text": "Ada"},
            {"tool": "select_option", "target": "#c", "values": ["green"]},
            {"tool": "find", "text": "Save"},
            {"tool": "click", "target": "@last"},
            {"tool": "wait_for", "text": "likes"},
            {"tool": "evaluate", "function": "() => out.textContent"},
            snapshot="diff",
        )
        assert codes(done) == ["ok"] * 6
        assert done.steps[5].answer["value"] == "Ada likes green"
        assert all("snapshot" not in step.answer for step in done.steps)
        assert done.snapshot is not None
        assert "Ada likes green" in done.snapshot
        assert done.changes is not None
        again = await batch(agent, {"tool": "browser_page_state"}, snapshot="diff")
        assert "likes" not in (again.snapshot or ""), "the diff was read"


async def test_the_last_ref_is_the_elements_own_and_not_one_that_a_page_writes(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<button id=wrong onclick='this.textContent = 1'>Other</button>"
            "<button onclick=\"out.textContent = 'right'\">Find [ref=e1] (e1) me</button>"
            "<p id=out></p>"
        )
        await agent.snapshot()
        find = {"tool": "find", "text": "Find [ref=e1]"}
        done = await batch(agent, find, {"tool": "click", "target": "@last"})
        assert codes(done) == ["ok", "ok"]
        assert done.steps[1].answer["ref"] == done.steps[0].answer["ref"]
        done = await batch(agent, {"tool": "hover", "target": "@last"})
        assert codes(done) == ["BAD_REQUEST"], "@last does not reach into another batch"
        assert await agent.run("() => out.textContent") == "right"


async def test_a_dialog_in_the_middle_is_told_and_can_be_answered(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<button onclick=\"document.title = confirm('Sure?')\">Ask</button>")
        click = {"tool": "click", "target": "button"}
        read = {"tool": "evaluate", "function": "() => document.title"}
        done = await batch(agent, click, read, read, snapshot="diff")
        assert codes(done) == ["ok", "DIALOG_OPEN"]
        assert done.steps[0].answer["dialog"]["message"] == "Sure?"
        assert done.not_begun == 1
        assert done.snapshot is None
        await agent.answer(accept=False)
        answer = {"tool": "handle_dialog", "accept": True}
        done = await batch(agent, click, answer, read)
        assert codes(done) == ["ok", "ok", "ok"]
        assert done.steps[2].answer["value"] == "true"


async def test_a_navigation_in_the_middle_leads_the_next_steps_to_the_next_page(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        goal = web.page("<h1>Goal</h1><button onclick=\"document.title = 'done'\">Go on</button>")
        await agent.show(f"<a href='{goal}'>Leave</a>")
        old = (await agent.call(ops.Find(text="Leave"))).ref
        done = await batch(
            agent,
            {"tool": "click", "target": "text=Leave"},
            {"tool": "click", "target": "text=Go on"},
            {"tool": "evaluate", "function": "() => document.title"},
            {"tool": "click", "target": old},
            snapshot="diff",
        )
        assert codes(done) == ["ok", "ok", "ok", "STALE_REF"]
        assert done.steps[2].answer["value"] == "done"
        assert "Goal" in (done.snapshot or "")


async def test_twenty_steps_have_the_effect_of_twenty_calls(house: House, web: Web) -> None:
    steps: list[dict[str, Any]] = [
        {"tool": "type", "target": "text=Name", "text": "Ada"},
        {"tool": "select_option", "target": "#c", "values": ["green"]},
        {"tool": "click", "target": "text=Save"},
        {"tool": "hover", "target": "text=Save"},
        {"tool": "press_key", "key": "Tab"},
    ] * 4
    events = "['click', 'input', 'change', 'submit', 'keydown', 'focusin']"
    listen = f"<script>log = []; for (const kind of {events}) addEventListener(kind, e => "
    listen += "log.push(kind + ' ' + e.target.id + ' ' + e.isTrusted), true)</script>"
    seen = []
    for way in ("calls", "batch"):
        async with house.guest(web) as agent:
            await agent.show(FORM + listen)
            if way == "batch":
                done = await batch(agent, *steps, snapshot="none")
                assert codes(done) == ["ok"] * 20
            else:
                for number in range(1, 21):
                    await agent.call(ops.Batch(steps=steps).operation(number))  # type: ignore[arg-type]
            seen.append((await agent.log(), await agent.run("() => out.textContent")))
    assert len(seen[0][0]) > 20
    assert seen[0] == seen[1]


async def test_a_pause_in_the_middle_stops_the_next_step(house: House, web: Web) -> None:
    async with house.agent(web) as agent, house.operator() as operator:
        held = threading.Event()
        slow = web.serve(Answer(b"x", held=held))
        await agent.show("<p id=out>0</p>")
        waits = {"tool": "evaluate", "function": f"() => fetch({slow!r}).then(() => 1)"}
        count = {"tool": "evaluate", "function": "() => ++out.textContent"}
        op = ops.Batch(steps=[count, waits, count, count])
        calling = await started(agent.client.call(op))
        async with asyncio.timeout(agent.patience):
            while (await agent.call(ops.BatchProgress(digest=op.digest))).done != 1:
                await agent.call(ops.Ping())
        await operator.call(ops.SessionPause(session=agent.session))
        held.set()
        async with asyncio.timeout(agent.patience):
            done = await calling
        assert codes(done) == ["ok", "ok", "PAUSED"]
        assert done.not_begun == 1
        await operator.call(ops.SessionResume(session=agent.session))
        assert await agent.run("() => out.textContent") == "1"


async def test_a_crash_in_the_middle_is_told_and_the_next_steps_are_not_begun(
    own_house: House, web: Web
) -> None:
    async with own_house.agent(web) as agent:
        await agent.go(web.there(web.page("<h1>Victim</h1>", title="Victim")))
        # So that its process can be told from the others.
        await agent.run("() => { ballast = new Uint8Array(15e7).fill(1) }")
        hangs = {"tool": "evaluate", "function": "() => new Promise(() => {})"}
        title = {"tool": "evaluate", "function": "() => document.title"}
        op = ops.Batch(steps=[title, hangs, title, {"tool": "reload"}])
        calling = await started(agent.client.call(op))
        async with asyncio.timeout(agent.patience):
            while (await agent.call(ops.BatchProgress(digest=op.digest))).done != 1:
                await agent.call(ops.Ping())
        os.kill(await own_house.largest_renderer(), signal.SIGKILL)
        async with asyncio.timeout(agent.patience):
            done = await calling
        assert codes(done) == ["ok", "TAB_CRASHED"]
        assert done.not_begun == 2
        done = await batch(agent, title, {"tool": "reload"}, title, stop_on_error=False)
        assert codes(done) == ["TAB_CRASHED", "ok", "ok"]
        assert done.steps[2].answer["value"] == "Victim"


async def test_an_interrupted_batch_tells_what_was_done_and_one_that_reads_is_repeated(
    own_house: House, web: Web
) -> None:
    house = own_house
    async with house.agent(web) as agent:
        await agent.show("<p id=out>0</p>")
        count = {"tool": "evaluate", "function": "() => ++out.textContent"}
        hangs = {"tool": "evaluate", "function": "() => new Promise(() => {})"}
        op = ops.Batch(steps=[count, count, hangs, count])
        calling = await started(agent.client.call(op))
        async with asyncio.timeout(agent.patience):
            while (await agent.call(ops.BatchProgress(digest=op.digest))).done != 2:
                await agent.call(ops.Ping())
        await asyncio.to_thread(house.kill_broker)
        async with asyncio.timeout(agent.patience):
            error = await refused(Interrupted, calling)
        assert error.details == {"done": 2, "of": 4}
        assert await agent.run("() => out.textContent") == "2"
        wait = {"tool": "wait_for", "selector": "#late", "timeout": 20}
        reads = ops.Batch(steps=[{"tool": "session_list"}, wait])
        calling = await started(agent.client.call(reads))
        await agent.call(ops.Ping())
        await asyncio.to_thread(house.kill_broker)
        # The client may not have noticed the end of its connection. A read is repeated; a script
        # sent into that connection would be INTERRUPTED.
        await agent.call(ops.Ping())
        await agent.run("() => { out.id = 'late' }")
        async with asyncio.timeout(agent.patience):
            assert codes(await calling) == ["ok", "ok"]
