"""A batch is several operations in one call, each like a call of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from roost import core
from roost.api import operations as ops
from roost.api.door import Admission
from roost.api.views import BatchView
from roost.errors import BadRequest, SessionGone
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of, started, until
from roost.wire.hello import ClientKind

URL = "https://site.test/"
NEVER = {"tool": "browser_evaluate", "function": "() => new Promise(() => {})"}
HREF = {"tool": "evaluate", "function": "() => location.href"}


def go(path: str) -> dict[str, Any]:
    return {"tool": "browser_navigate", "url": URL + path}


async def batch(agent: Admission, *steps: dict[str, Any], **more: Any) -> BatchView:
    return await agent.api.call(ops.Batch(steps=list(steps), **more))


def home_of(agent: Admission) -> str:
    assert agent.welcome.session is not None
    return agent.welcome.session


def codes(view: BatchView) -> list[str]:
    return ["ok" if step.error is None else step.error["code"] for step in view.steps]


async def test_twenty_steps_have_the_effect_of_twenty_calls(tmp_path: Path) -> None:
    steps = [go("start")]
    for number in range(9):
        steps += [{"tool": "tabs", "action": "new", "url": f"{URL}{number}"}, HREF]
    steps.append({"tool": "browser_close"})
    assert len(steps) == 20
    seen = []
    for way in ("calls", "batch"):
        async with fake_house(tmp_path / way) as house:
            agent = house.admit()
            if way == "calls":
                for number in range(1, 21):
                    await agent.api.call(ops.Batch(steps=steps).operation(number))  # type: ignore[arg-type]
            else:
                done = await batch(agent, *steps)
                assert (done.of, len(done.steps), done.failed, done.not_begun) == (20, 20, 0, 0)
                assert [done.steps[n].answer.value for n in (2, 4)] == [URL + "0", URL + "1"]
            tabs = await agent.api.call(ops.Tabs(action="list"))
            seen.append(([(tab.tab, tab.url) for tab in tabs.tabs], audited(house)))
    assert seen[0][0] == seen[1][0]
    assert seen[1][1][:-1] == seen[0][1], "the audit trail has a line for each step"
    assert seen[1][1][-1] == "browser_batch"


def audited(house: FakeHouse) -> list[str]:
    lines = map(json.loads, house.home.audit.read_text(encoding="utf-8").splitlines())
    return [line["op"] for line in lines if line.get("kind", line.get("event")) == "call"]


async def test_a_batch_stops_at_the_first_error_and_says_which_step(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        done = await batch(agent, go("a"), {"tool": "close", "tab": "t9"}, go("b"))
        assert codes(done) == ["ok", "TAB_GONE"]
        assert (done.of, done.not_begun) == (3, 1)
        assert (await batch(agent, HREF)).steps[0].answer.value == URL + "a"


async def test_a_batch_goes_on_after_errors_if_asked_to(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        steps = [{"tool": "close", "tab": "t9"}, go("b"), HREF]
        done = await batch(house.admit(), *steps, stop_on_error=False)
        assert codes(done) == ["TAB_GONE", "ok", "ok"]
        assert done.steps[2].answer.value == URL + "b"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"tool": "browser_batch", "steps": [HREF]}, "Step 2: tool: there is no batch in a batch"),
        ({"tool": "broker_stop"}, "Step 2: tool: there is no such tool"),
        ({"tool": "session_pause"}, "Step 2: tool: there is no such tool"),
        ({"tool": "browser_clik"}, "Step 2: tool: there is no such tool"),
        ({"url": URL}, "Step 2: tool: there is no such tool"),
        ({"tool": "browser_click"}, "Step 2: target:"),
        ({"tool": "browser_navigate", "url": URL, "speed": 1}, "Step 2: speed:"),
    ],
)
async def test_a_batch_with_a_wrong_step_is_refused_before_anything_is_done(
    tmp_path: Path, step: dict[str, Any], said: str
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        refusal = await error_of(BadRequest, batch(agent, go("a"), step))
        assert refusal.message.startswith(said)
        assert refusal.details["step"] == 2
        assert house.browser.pages == {}


def test_a_step_may_name_its_tool_and_arguments_as_models_do() -> None:
    asked = ops.Click(target="e1", snapshot="none")
    for step in (
        {"tool": "browser_click", "target": "e1"},
        {"tool": "click", "target": "e1", "tab": None},
        {"name": "browser_click", "arguments": {"target": "e1"}},
        {"op": "browser_click", "args": {"ref": "e1"}},
    ):
        assert ops.Batch(steps=[step]).operations == (asked,)


async def test_a_session_of_the_batch_is_that_of_its_steps(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, other = house.admit(), house.admit()
        await agent.api.call(ops.SessionOpen(session="second"))
        done = await batch(agent, go("a"), HREF, session="second")
        assert codes(done) == ["ok", "ok"]
        assert (await agent.api.call(ops.Tabs(action="list"))).tabs == []
        await error_of(SessionGone, batch(other, go("a"), session="second"))


async def test_a_batch_whose_time_is_over_tells_what_was_done(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        op = ops.Batch(steps=[go("a"), NEVER, go("b"), go("c")])
        done = await agent.api.call(op, timeout=0.5)
        assert codes(done) == ["ok", "TIMEOUT"]
        assert done.not_begun == 2
        assert (await batch(agent, HREF)).steps[0].answer.value == URL + "a"


async def test_a_crash_and_a_pause_in_the_middle_are_answered_as_in_single_calls(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent, operator = house.admit(), house.admit(house.hello(ClientKind.CLI))
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        running = await started(batch(agent, NEVER, HREF, HREF, stop_on_error=False))
        await operator.api.call(ops.SessionPause(session=home_of(agent)))
        house.driver.crash(house.handle(tab))
        assert codes(await running) == ["TAB_CRASHED", "PAUSED", "PAUSED"]


async def test_cancelling_a_batch_cancels_the_rest_of_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        running = await started(batch(agent, go("a"), NEVER, go("b")))
        await until(lambda: [row.done for row in house.state.batches.values()] == [1])
        running.cancel()
        await asyncio.wait({running})
        assert (await batch(agent, HREF)).steps[0].answer.value == URL + "a"
        assert not house.state.batches


async def test_a_long_batch_holds_up_neither_other_agents_nor_other_calls(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent, other = house.admit(), house.admit()
        running = await started(batch(agent, go("a"), NEVER))
        await until(lambda: [row.done for row in house.state.batches.values()] == [1])
        assert codes(await batch(other, go("b"), HREF)) == ["ok", "ok"]
        new = await agent.api.call(ops.Tabs(action="new", url=URL + "c"))
        assert new.opened is not None
        running.cancel()
        await asyncio.wait({running})


async def test_a_ref_that_the_step_before_did_not_return_is_an_error_of_the_step(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        done = await batch(house.admit(), go("a"), {"tool": "click", "target": "@last"})
        assert codes(done) == ["ok", "BAD_REQUEST"]
        assert done.steps[1].error is not None
        assert "returned no ref" in done.steps[1].error["message"]


async def test_an_agent_is_told_how_far_its_own_batch_has_come(tmp_path: Path) -> None:
    op = ops.Batch(steps=[go("a"), HREF, NEVER, go("b")])
    async with fake_house(tmp_path) as house:
        agent, stranger = house.admit(), house.admit()
        running = await started(agent.api.call(op))
        await until(lambda: [row.done for row in house.state.batches.values()] == [2])
        known = await agent.api.call(ops.BatchProgress(digest=op.digest))
        assert (known.done, known.of) == (2, 4)
        assert (await stranger.api.call(ops.BatchProgress(digest=op.digest))).done is None
        running.cancel()
        await asyncio.wait({running})
        assert (await agent.api.call(ops.BatchProgress(digest=op.digest))).done is None


async def test_only_batches_that_act_are_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[int] = []
    monkeypatch.setattr(core, "record_batch", lambda state, *row: recorded.append(row[2]))
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        reads = ops.Batch(steps=[{"tool": "tabs", "action": "list"}, {"tool": "session_list"}])
        assert reads.only_reads()
        assert codes(await agent.api.call(reads)) == ["ok", "ok"]
        assert recorded == []
        assert not ops.Batch(steps=[{"tool": "session_list"}, HREF]).only_reads()
        await batch(agent, {"tool": "session_list"}, go("a"))
        assert recorded == [0, 1]
