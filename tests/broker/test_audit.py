from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.broker.audit import Audit
from roost.errors import TabGone, UrlBlocked
from roost.testing.house import fake_house
from roost.testing.waiting import error_of

NOW = 1_000_000_000.25


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_entry_is_one_line_with_the_time_it_happened(path: Path) -> None:
    audit = Audit(path)
    audit.write(NOW, "call", {"op": "x", "left": None, "text": "a\nb ☃"})
    audit.close()

    assert path.read_text(encoding="utf-8").count("\n") == 1
    assert entries(path) == [
        {"at": "2001-09-09T01:46:40.250+00:00", "kind": "call", "op": "x", "text": "a\nb ☃"}
    ]


def test_half_a_surrogate_pair_does_not_stop_the_trail(path: Path) -> None:
    audit = Audit(path)
    audit.write(NOW, "call", {"name": "\ud800"})
    audit.write(NOW, "call", {"name": "next"})
    audit.close()

    assert entries(path)[1]["name"] == "next"


def test_addresses_lose_their_secrets(path: Path) -> None:
    audit = Audit(path)
    audit.write(NOW, "call", {"url": "https://me:pw@a.test/?token=1&page=2#sid=3"})
    audit.close()

    url = entries(path)[0]["url"]
    assert url == "https://[REDACTED]@a.test/?token=[REDACTED]&page=2#sid=[REDACTED]"


def test_it_goes_on_where_it_was(path: Path) -> None:
    for number in range(2):
        audit = Audit(path)
        audit.write(NOW, "start", {"number": number})
        audit.close()

    assert [entry["number"] for entry in entries(path)] == [0, 1]


def test_a_full_file_is_kept_once_and_a_new_one_begins(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.broker.audit.ROTATE_BYTES", 500)
    audit = Audit(path)
    for number in range(30):
        audit.write(NOW, "call", {"number": number})
    audit.close()

    older = path.with_name("audit.jsonl.1")
    numbers = [entry["number"] for entry in entries(older) + entries(path)]
    assert numbers == list(range(numbers[0], 30))
    assert older.stat().st_size <= 500
    assert sorted(file.name for file in path.parent.iterdir()) == ["audit.jsonl", "audit.jsonl.1"]
    for file in (path, older):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_symbolic_link_is_not_followed(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        Audit(path)


async def test_what_agents_do_is_on_the_record_and_what_they_type_is_not(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await agent.api.call(ops.Navigate(url="https://a.test/?password=hunter2"))
        await agent.api.call(ops.Evaluate(function='() => "hunter2"'))
        await agent.api.call(ops.Tabs(action="list"))
        await agent.api.call(ops.LoopStart(prompt="hunter2", completion_phrase="hunter2"))
        await error_of(TabGone, agent.api.call(ops.TakeScreenshot(tab="t77")))
        await error_of(UrlBlocked, agent.api.call(ops.Navigate(url="file:///hunter")))

        assert "hunter2" not in house.home.audit.read_text()
        assert agent.agent not in house.home.audit.read_text()
        calls = [entry for entry in entries(house.home.audit) if entry["kind"] == "call"]
        assert [(entry["op"], entry["outcome"]) for entry in calls] == [
            ("browser_navigate", "ok"),
            ("browser_evaluate", "ok"),  # reads that were answered leave no line; this may act
            ("loop_start", "ok"),
            ("browser_take_screenshot", "TAB_GONE"),
            ("browser_navigate", "URL_BLOCKED"),
        ]
        assert {entry["agent"] for entry in calls} == {agent.agent[:12]}
        assert {entry["session"] for entry in calls} == {agent.welcome.session}
        assert calls[0]["url"] == "https://a.test/?password=[REDACTED]"
        assert calls[3]["tab"] == "t77"


async def test_what_no_call_asked_for_is_on_the_record_too(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=1) as house:
        agent = house.admit()
        for _ in range(2):
            await agent.api.call(ops.Tabs(action="new"))
        house.door.leave(agent, goodbye=True)

        kinds = [entry["kind"] for entry in entries(house.home.audit) if entry["kind"] != "call"]
        assert kinds == [
            "session opened", "agent connected", "tab evicted", "session ended", "agent ended",
        ]  # fmt: skip
