"""Which keeper's link a driver gets (roost.drivers.keeping); real ones: see the drivers' tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_link import ScriptedLink

from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.keeping import Keeping
from roost.local.home import Home


class Ended(ScriptedLink):
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def kept(folder: Path) -> Keeping:
    home = Home(folder)
    home.create()
    (home.path / "keepers").mkdir(mode=0o700)
    return Keeping(home, "chromium", ChromiumOptions())


async def test_of_two_keepers_the_newer_one_counts(tmp_path: Path) -> None:
    keeping, older, newer = kept(tmp_path), Ended(), Ended()
    keeping.linked(older)
    keeping.linked(newer)

    assert await keeping.link() == (newer, False)
    assert (older.is_closed, newer.is_closed) == (True, False)


async def test_a_keeper_that_came_by_itself_is_not_a_new_browser(tmp_path: Path) -> None:
    keeping, link = kept(tmp_path), Ended()
    keeping.linked(link)

    assert await keeping.link() == (link, False)


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"pid": 1}', b'{"pid": 1, "a": 2}'])
async def test_a_damaged_record_names_no_keeper(tmp_path: Path, record: bytes) -> None:
    keeping = kept(tmp_path)
    path = tmp_path / "keepers" / "chromium.json"
    path.write_bytes(record)
    path.chmod(0o600)

    await keeping.ended()


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE) as process:
        yield process
        process.communicate(b"\n")


async def test_a_number_that_is_somebody_elses_by_now_is_left_alone(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    keeping = kept(tmp_path)
    path = tmp_path / "keepers" / "chromium.json"
    path.write_text(f'{{"pid": {stranger.pid}, "processStarted": "another time"}}')
    path.chmod(0o600)
    await keeping.ended()

    assert stranger.poll() is None
