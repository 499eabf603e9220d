from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.broker import audit as audit_room
from roost.broker.audit import Audit
from roost.errors import TabGone, UrlBlocked
from roost.testing.house import fake_house
from roost.testing.waits import error_of

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
        {"v": 1, "at": "2001-09-09T01:46:40.250+00:00", "kind": "call", "op": "x", "text": "a\nb ☃"}
    ]


def test_a_lone_surrogate_does_not_stop_the_trail(path: Path) -> None:
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


def test_the_trail_continues_in_the_existing_file(path: Path) -> None:
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


def test_lines_that_a_full_disk_does_not_take_are_written_when_it_has_room(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    audit = Audit(path)
    audit.write(NOW, "call", {"number": 0})
    with full_disk(monkeypatch, takes=7):
        for number in range(1, 4):
            audit.write(NOW, "call", {"number": number})
    audit.write(NOW, "call", {"number": 4})
    audit.close()

    assert [entry["number"] for entry in entries(path)] == [0, 1, 2, 3, 4]
    assert caplog.text.count("audit trail cannot be written") == 1


def test_a_gap_in_the_trail_says_how_many_lines_are_missing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.broker.audit.UNWRITTEN_LINES", 2)
    audit = Audit(path)
    with full_disk(monkeypatch):
        for number in range(5):
            audit.write(NOW, "call", {"number": number})
    audit.write(NOW, "call", {"number": 5})
    audit.write(NOW, "call", {"number": 6})
    audit.close()

    shown = [entry.get("number", entry["kind"]) for entry in entries(path)]
    assert shown == [0, 1, "audit gap", 6]
    assert entries(path)[2]["lost"] == 4


@pytest.mark.parametrize("what", ["replace", "open"])
def test_a_new_file_that_cannot_begin_leaves_the_old_one_in_use(
    what: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.broker.audit.ROTATE_BYTES", 200)
    audit = Audit(path)
    with monkeypatch.context() as full:
        full.setattr(f"roost.broker.audit.os.{what}", no_space)
        for number in range(6):
            audit.write(NOW, "call", {"number": number})
    audit.write(NOW, "call", {"number": 6})
    audit.close()

    written = entries(path.with_name("audit.jsonl.1")) + entries(path)
    assert [entry["number"] for entry in written] == list(range(7))


def test_a_trail_that_was_removed_begins_again(path: Path) -> None:
    audit = Audit(path)
    audit.reopen()
    path.unlink()
    audit.reopen()
    audit.write(NOW, "call", {})
    audit.close()

    assert len(entries(path)) == 1


def no_space(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, takes: int = 0) -> Iterator[None]:
    """Let the disk accept so many more bytes, and then none."""
    left = takes
    really = os.write

    def write(fd: int, data: bytes) -> int:
        nonlocal left
        taken, left = data[:left], max(0, left - len(data))
        return really(fd, taken) if taken else no_space()

    with monkeypatch.context() as patched:
        patched.setattr("roost.broker.audit.os.write", write)
        yield


def test_the_trail_is_read_back_in_pages(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_room, "OLDER_LINES", 4)
    audit = Audit(path)
    for number in range(10):
        audit.write(NOW, "call", {"number": number, "session": f"s{number % 2}"})

    lines, older = audit.older(None)
    assert [json.loads(line)["number"] for line in lines] == [6, 7, 8, 9]
    audit.write(NOW, "call", {"number": 10, "session": "s0"})  # what comes later changes nothing
    lines, older = audit.older(older)
    assert [json.loads(line)["number"] for line in lines] == [2, 3, 4, 5]
    lines, older = audit.older(older)
    assert [json.loads(line)["number"] for line in lines] == [0, 1]
    assert older is None

    lines, older = audit.older(None, "s1")
    assert [json.loads(line)["number"] for line in lines] == [3, 5, 7, 9]
    lines, older = audit.older(older, "s1")
    assert [json.loads(line)["number"] for line in lines] == [1]
    audit.close()


def test_reading_back_goes_on_in_the_file_before_and_reads_little_at_a_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_room, "ROTATE_BYTES", 2000)
    monkeypatch.setattr(audit_room, "OLDER_BYTES", 300)
    audit = Audit(path)
    for number in range(30):
        audit.write(NOW, "call", {"number": number, "session": "s"})
    audit.close()
    assert Path(f"{path}.1").exists()
    kept = [json.loads(line)["number"] for file in (Path(f"{path}.1"), path)
            for line in file.read_bytes().splitlines()]  # fmt: skip

    read: list[int] = []
    older: str | None = None
    for _ in range(100):
        lines, older = audit.older(older)
        assert sum(map(len, lines)) <= 300
        read = [json.loads(line)["number"] for line in lines] + read
        if older is None:
            break
    assert read == kept


def test_a_page_of_a_file_that_is_gone_is_empty_and_nonsense_is_refused(path: Path) -> None:
    audit = Audit(path)
    audit.write(NOW, "call", {})
    assert audit.older("1:5") == ([], None)
    with pytest.raises(ValueError, match="int"):
        audit.older("nonsense")
    with pytest.raises(ValueError, match="unpack"):
        audit.older("1:2:3")
    audit.close()
