"""Every way to an operation meets the session's policy (``roost.broker.work.policy``)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.api.operations import OPERATIONS
from roost.broker.doors.caller import Caller
from roost.daemon.wiring import FAKE
from roost.drivers.events import RequestSent
from roost.errors import BadRequest, PolicyDenied, RoostError, Unauthorized
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import error_of
from roost.vocabulary import OPERATOR

URL = "https://site.test/"
DENY_ALL = '[[rule]]\nverdict = "deny"\noperations = ["*"]\n'
ARGUMENTS: dict[str, dict[str, Any]] = {
    "browser_navigate": {"url": URL},
    "browser_find": {"text": "x"},
    "browser_get": {"what": "title"},
    "browser_is": {"state": "visible", "target": "e1"},
    "browser_wait_for": {"text": "x"},
    "browser_zoom_screenshot": {"x": 0, "y": 0, "width": 5, "height": 5},
    "browser_type": {"target": "e1", "text": "x"},
    "browser_fill_form": {"fields": [{"target": "e1", "value": "x"}]},
    "browser_select_option": {"target": "e1", "values": ["x"]},
    "browser_press_key": {"key": "Enter"},
    "browser_drag": {"startTarget": "e1", "endTarget": "e2"},
    "browser_file_upload": {"paths": [], "target": "e1"},
    "browser_handle_dialog": {"accept": True},
    "browser_evaluate": {"function": "() => 1"},
    "browser_press_sequentially": {"text": "x"},
    "browser_hold_key": {"key": "a"},
    "browser_mouse_click_xy": {"x": 1, "y": 1},
    "browser_mouse_move_xy": {"x": 1, "y": 1},
    "browser_mouse_drag_xy": {"startX": 1, "startY": 1, "endX": 2, "endY": 2},
    "browser_network_request": {"index": 1},
    "browser_har": {"action": "start"},
    "browser_storage_state": {"action": "save", "filename": "state.json"},
    "browser_tabs": {"action": "new", "url": URL},
    "page_open": {"name": "page", "url": URL},
    "session_open": {"url": URL},
}
TARGETED = ("browser_get", "browser_is", "browser_click", "browser_triple_click", "browser_hover")
IN_PAGE = ("act",)
"""What acts is judged in the page, which the fake driver does not have (tests/e2e)."""
JUDGED_BY_TAB = ("browser_evaluate", "browser_handle_dialog")


def an_operation(name: str) -> Any:
    arguments = ARGUMENTS.get(name, {"target": "e1"} if name in TARGETED else {})
    return ops.parse(name, arguments)


async def set_policy(house: FakeHouse, session: str, policy: str) -> None:
    await Caller(house.broker, OPERATOR).call(ops.PolicySet(session=session, policy=policy))


@pytest.mark.parametrize(
    "name",
    [
        kind.op
        for kind in OPERATIONS.values()
        if kind.conduct and ("act" not in kind.conduct or kind.op in JUDGED_BY_TAB)
    ],
)
async def test_an_operation_that_the_policy_denies_is_refused(tmp_path: Path, name: str) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url=URL))
        session = house.state.agents[agent.agent].own_session
        await set_policy(house, session, DENY_ALL)
        error = await error_of(PolicyDenied, agent.api.call(an_operation(name)))
        assert "rule 1" in error.message
        step = {"tool": name, **ARGUMENTS.get(name, {})}
        if OPERATIONS[name].audience in ops.STEP_AUDIENCES:
            view = await agent.api.call(ops.Batch(steps=[step]))
            assert (view.steps[0].error or {})["code"] == "POLICY_DENIED"
        operator = Caller(house.broker, OPERATOR)
        operation: Any = an_operation(name)
        if isinstance(operation, ops.PageOperation):
            tab = next(iter(house.state.tabs))
            changed: Any = operation.model_copy(update={"tab": tab})
            await _not_denied(operator.call(changed))


async def _not_denied(call: Any) -> None:
    try:
        await call
    except PolicyDenied as error:
        raise AssertionError("the operator is never judged") from error
    except RoostError:
        pass  # the fake driver cannot do it


async def test_an_agent_started_with_a_policy_has_it_in_every_session(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        hello = replace(house.hello(), policy=DENY_ALL, project_policy="careful")
        agent = house.admit(hello)
        await error_of(PolicyDenied, agent.api.call(ops.Navigate(url=URL)))
        other = await agent.api.call(ops.SessionOpen(session="other"))
        denied = agent.api.call(ops.Tabs(action="new", url=URL, session="other"))
        await error_of(PolicyDenied, denied)
        view = await agent.api.call(ops.PolicyShow(session=other.id))
        assert [layer["source"] for layer in view.layers] == [".roost.toml (careful)", "--policy"]
        assert not view.is_open


async def test_an_agent_whose_policy_is_wrong_is_not_admitted(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        with pytest.raises(BadRequest, match="nearest is 'careful'"):
            house.admit(replace(house.hello(), policy="carful"))
        assert not house.state.agents


async def test_only_the_person_sets_and_reloads_policies(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        session = house.state.agents[agent.agent].own_session
        for operation in (
            ops.PolicySet(session=session, policy="open"),
            ops.PolicyReload(),
            ops.PolicyForget(session=session),
        ):
            await error_of(Unauthorized, agent.api.call(operation))
        operator = Caller(house.broker, OPERATOR)
        await operator.call(ops.PolicySet(session=session, policy="careful"))
        wrong = ops.PolicySet(session=session, policy="[limits]\ntabz = 1")
        await error_of(BadRequest, operator.call(wrong))
        view = await agent.api.call(ops.PolicyShow())
        assert [layer["source"] for layer in view.layers] == ["the person (careful)"]


async def test_explain_names_the_verdict_and_the_rule(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy="careful"))
        session = house.state.agents[agent.agent].own_session
        operator = Caller(house.broker, OPERATOR)
        for action, verdict in (
            ("evaluate", "ask"), ("browser_evaluate", "ask"), ("login", "ask"), ("upload", "ask"),
            ("file_upload", "ask"), ("download", "ask"), ("click", "allow"), ("cdp", "deny"),
            ("navigate", "allow"), ("read", "allow"),
        ):  # fmt: skip
            asked = ops.PolicyExplain(session=session, action=action, url="site.test/x?y")
            view = await operator.call(asked)
            assert (view.verdict, view.origin) == (verdict, "https://site.test"), action
            assert view == await agent.api.call(ops.PolicyExplain(action=action, url="site.test/x"))
        await error_of(BadRequest, operator.call(asked.model_copy(update={"action": "clik"})))


async def test_actions_of_a_minute_are_counted_once_a_call(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy="[limits]\nactions_per_minute = 2"))
        await agent.api.call(ops.Navigate(url=URL))
        await agent.api.call(ops.Navigate(url=URL))
        error = await error_of(PolicyDenied, agent.api.call(ops.Navigate(url=URL)))
        assert error.retry_after_ms
        house.clock.advance(60.0)
        await agent.api.call(ops.Navigate(url=URL))


async def test_a_policy_of_the_configuration_that_cannot_be_read_leaves_the_old_one(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        given = ["careful"]
        house.broker.read_policy = lambda: _config(given[0])
        operator = Caller(house.broker, OPERATOR)
        await operator.call(ops.PolicyReload())
        given[0] = "[[rule]]\nverdict = 'maybe'"
        await error_of(BadRequest, operator.call(ops.PolicyReload()))
        view = await operator.call(ops.PolicyShow())
        assert [layer["source"] for layer in view.layers] == ["config.toml (careful)"]
        agent = house.admit()
        explained = await agent.api.call(ops.PolicyExplain(action="evaluate", url=URL))
        assert explained.verdict == "ask"


async def test_a_token_and_a_devtools_client_meet_the_same_policy(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy=DENY_ALL))
        session = house.state.agents[agent.agent].own_session
        token = (await agent.api.call(ops.SessionToken())).token
        visit = house.door.visit(token)
        await error_of(PolicyDenied, visit.api.call(ops.Navigate(url=URL)))
        with pytest.raises(PolicyDenied, match="cdp|DevTools"):
            await house.door.look(token)
        assert house.state.sessions[session].layers


def _config(text: str) -> Any:
    from roost.broker.policy_text import read_policy

    return (read_policy(text, "config.toml"),)


async def test_a_policy_in_the_journal_survives_the_broker(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), policy=DENY_ALL))
        session = house.state.agents[agent.agent].own_session
        await set_policy(house, session, "lockdown")
    async with fake_house(tmp_path) as house:
        again = house.admit(replace(house.hello(), resume=agent.welcome.secret))
        error = await error_of(PolicyDenied, again.api.call(ops.Navigate(url=URL)))
        assert "lockdown" in json.dumps(error.to_wire())


async def test_a_recording_and_a_body_leave_out_what_came_from_origins_that_are_not_listed(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = (await agent.api.call(ops.Navigate(url=URL))).tab
        session = house.state.agents[agent.agent].own_session
        await agent.api.call(ops.Har(action="start"))
        handle = house.handle(tab)
        for number, url in enumerate((f"{URL}inside", "https://frame.example/outside")):
            sent = RequestSent(
                handle=handle, request=f"r{number}", url=url, method="GET", kind="document"
            )
            house.broker.heard(FAKE, sent)
        await set_policy(house, session, 'origins = ["site.test"]')
        requests = (await agent.api.call(ops.NetworkRequests())).requests
        outside = next(one.index for one in requests if "outside" in one.url)
        error = await error_of(PolicyDenied, agent.api.call(ops.NetworkRequest(index=outside)))
        assert error.details["rule"] == "the origin is not among `origins`"
        saved = await agent.api.call(ops.Har(action="stop"))
        written = Path(saved.path or "").read_text(encoding="utf-8")  # noqa: ASYNC240
        assert "inside" in written
        assert "outside" not in written
        assert saved.requests == written.count('"startedDateTime"')
