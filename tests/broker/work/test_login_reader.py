"""Logins are read in a separate process (roost.broker.work.login_reader)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

import pytest

from roost.broker.work import login_reader
from roost.errors import BadRequest, Internal
from roost.testing.waits import SECONDS, error_of, started, until

STATE = {"cookies": [{"name": "a", "value": "☃", "domain": "site.test"}]}


async def test_what_was_read_comes_back_whole(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps(STATE))
    kind, harvest = await login_reader.source(tmp_path / "state.json", ["site.test"], "source")
    contents = await login_reader.storage_state(json.dumps(STATE).encode(), "filename")
    assert kind == "storage state"
    assert [one.name for one in harvest.cookies] == ["a"]
    assert list(contents.cookies) == harvest.cookies
    _, none = await login_reader.source(tmp_path / "state.json", ["other.test"], "source")
    assert none.cookies == []


async def test_what_the_reader_refuses_is_refused_with_its_own_error(tmp_path: Path) -> None:
    missing = login_reader.source(tmp_path / "missing", (), "source")
    assert (await error_of(BadRequest, missing)).details["field"] == "source"
    nonsense = login_reader.storage_state(b"\xff nonsense", "filename")
    assert (await error_of(BadRequest, nonsense)).details["field"] == "filename"


async def test_a_reader_that_breaks_is_an_error_of_roosts_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(login_reader, "_COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    await error_of(Internal, login_reader.storage_state(b"{}", "filename"))


async def test_a_call_that_ends_early_ends_the_process_that_reads_for_it(tmp_path: Path) -> None:
    pipe = tmp_path / "cookies.txt"
    os.mkfifo(pipe)
    reading = await started(login_reader.source(pipe, (), "source"))
    opened = list[int]()

    def is_read() -> bool:
        with contextlib.suppress(OSError):  # nobody reads it yet
            opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    await until(is_read)
    assert len(readers()) == 1, "nothing is written, so it reads for ever"
    reading.cancel()
    await asyncio.wait({reading}, timeout=SECONDS)
    os.close(opened[0])
    assert readers() == []


def readers() -> list[int]:
    """Return our child processes that read logins."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    lines = {int(pid): Path(f"/proc/{pid}/cmdline") for pid in children}
    return [pid for pid, line in lines.items() if b"roost.profiles" in line.read_bytes()]
