"""The audit trail's documented schema (``roost.broker.audit_kinds``)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from roost.api import operations as ops
from roost.broker.audit_kinds import KINDS, schema
from roost.broker.doors.caller import Caller
from roost.broker.work import questions
from roost.errors import RoostError
from roost.testing.house import fake_house
from roost.vocabulary import OPERATOR, QuestionAnswer

ROOT = Path(__file__).parents[2]
URL = "https://site.test/?token=hidden"


def documented() -> dict[str, Any]:
    """Return the schema as the reference page shows it."""
    page = (ROOT / "docs/reference/audit.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    found = json.loads(block.group(1))
    assert isinstance(found, dict)
    return found


async def test_the_lines_that_a_broker_writes_fit_the_documented_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "WAIT_SHARE", 0.0)
    async with fake_house(tmp_path, pool=2) as house:
        operator = Caller(house.broker, OPERATOR)
        rule = '[[rule]]\nverdict = "ask"\noperations = ["evaluate"]\n'
        agent = house.admit(replace(house.hello(), policy=rule))
        await agent.api.call(ops.Navigate(url=URL))
        for number in range(3):
            await agent.api.call(ops.Tabs(action="new", url=f"{URL}&n={number}"))
        session = house.state.agents[agent.agent].own_session
        await error_of_any(agent.api.call(ops.Evaluate(function="() => 1")))
        await operator.call(ops.SessionAnswer(session=session, answer=QuestionAnswer.SESSION))
        await operator.call(ops.PolicySet(session=session, policy="open"))
        await operator.call(ops.PolicyForget(session=session))
        await agent.api.call(ops.SessionToken())
        await error_of_any(agent.api.call(ops.Snapshot(tab="t999")))
        await agent.api.call(ops.SessionDispose(session=session))
    lines = [json.loads(line) for line in house.home.audit.read_bytes().splitlines()]
    judge = jsonschema.Draft202012Validator(documented())
    for line in lines:
        judge.validate(line)
    kinds = {line["kind"] for line in lines}
    assert kinds >= {
        "call", "agent connected", "session opened", "tab evicted", "question asked",
        "question answered", "policy set", "approvals withdrawn", "session token issued",
        "session ended",
    }  # fmt: skip
    assert "hidden" not in house.home.audit.read_text(encoding="utf-8")


async def error_of_any(call: Any) -> None:
    with pytest.raises(RoostError):
        await call


def test_the_schema_notices_a_missing_and_an_unknown_field() -> None:
    judge = jsonschema.Draft202012Validator(documented())
    whole = {"v": 1, "at": "2026-11-18T09:00:00+00:00", "kind": "session opened", "session": "s1"}
    assert not judge.is_valid(whole)
    assert judge.is_valid({**whole, "name": "x"})
    assert not judge.is_valid({**whole, "name": "x", "password": "y"})
    assert not judge.is_valid({**whole, "name": "x", "v": 2})


def test_the_page_shows_the_schema_and_every_kind_that_the_sources_write() -> None:
    assert documented() == schema()
    written = set()
    patterns = r'WriteAudit\(\s*"([^"]+)"', r'_audit\(\s*"([^"]+)"', r'\.note\(\s*"([^"]+)"'
    for path in (ROOT / "src/roost").rglob("*.py"):
        if path.parts[-2] in ("core", "doors"):
            text = path.read_text(encoding="utf-8")
            written |= {kind for pattern in patterns for kind in re.findall(pattern, text)}
    assert written | {"call", "audit gap"} == set(KINDS)
