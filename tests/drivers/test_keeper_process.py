"""Which keeper's link a driver gets. Real keepers are tested with the drivers."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.drivers.chromium.launch import ChromiumOptions
from roost.drivers.keeper_process import KeeperProcess
from roost.errors import BrowserLost
from roost.local.home import Home, write_secret
from roost.local.processes import identify
from roost.testing.waits import SECONDS, answer_of, error_of, started
from tests.drivers.scripted_link import ScriptedLink

IGNORES_USR1 = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN); print(flush=True); input()",
]


class ClosableLink(ScriptedLink):
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def kept(folder: Path) -> KeeperProcess:
    home = Home(folder)
    home.create()
    (home.path / "keepers").mkdir(mode=0o700)
    return KeeperProcess(home, "chromium", ChromiumOptions())


async def test_the_newer_of_two_keepers_for_one_browser_is_used(tmp_path: Path) -> None:
    keeper, older, newer = kept(tmp_path), ClosableLink(), ClosableLink()
    keeper.linked(older)
    keeper.linked(newer)

    assert await keeper.link() == (newer, False)
    assert (older.is_closed, newer.is_closed) == (True, False)


async def test_a_keeper_that_came_by_itself_is_not_a_new_browser(tmp_path: Path) -> None:
    keeper, link = kept(tmp_path), ClosableLink()
    keeper.linked(link)

    assert await keeper.link() == (link, False)


async def test_a_browser_that_cannot_be_started_for_lack_of_descriptors_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks_descriptors(options: ChromiumOptions, profile: Path) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(ChromiumOptions, "command", lambda options, profile: [sys.executable])
    monkeypatch.setattr(ChromiumOptions, "prepare", lacks_descriptors)
    error = await error_of(BrowserLost, kept(tmp_path).link())
    assert os.strerror(errno.EMFILE) in error.message


def test_a_broker_that_ends_does_not_wait_for_the_start_of_its_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker holds its lock until it has ended, and the next broker waits for the lock."""
    has_begun, may_end = threading.Event(), threading.Event()

    def takes_its_time(options: ChromiumOptions, profile: Path) -> None:
        has_begun.set()
        may_end.wait(SECONDS)

    async def broker() -> None:
        starting = await started(kept(tmp_path).link())
        await asyncio.to_thread(has_begun.wait, SECONDS)
        starting.cancel()

    monkeypatch.setattr(ChromiumOptions, "command", lambda options, profile: [sys.executable])
    monkeypatch.setattr(ChromiumOptions, "prepare", takes_its_time)
    ending = threading.Thread(target=asyncio.run, args=(broker(),))
    ending.start()
    ending.join(SECONDS / 2)
    has_ended = not ending.is_alive()
    may_end.set()
    ending.join()
    assert has_ended


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"pid": 1}', b'{"pid": 1, "a": 2}'])
async def test_a_damaged_record_names_no_keeper(tmp_path: Path, record: bytes) -> None:
    keeper = kept(tmp_path)
    path = tmp_path / "keepers" / "chromium.json"
    path.write_bytes(record)
    path.chmod(0o600)

    await keeper.ended()


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE) as process:
        yield process
        process.communicate(b"\n")


async def test_a_pid_that_now_belongs_to_another_process_is_left_alone(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    keeper = kept(tmp_path)
    path = tmp_path / "keepers" / "chromium.json"
    path.write_text(f'{{"pid": {stranger.pid}, "processStarted": "another time"}}')
    path.chmod(0o600)
    await keeper.ended()

    assert stranger.poll() is None


def recorded(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Record this process as the keeper of a browser that is still starting."""
    keeper = identify(process.pid)
    assert keeper is not None
    fields = {"pid": keeper.pid, "processStarted": keeper.started, "isStarting": True}
    write_secret(folder / "keepers" / "chromium.json", json.dumps(fields).encode())


@pytest.fixture
def starter() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process like a keeper whose browser is starting: it ignores the broker's signal."""
    with subprocess.Popen(IGNORES_USR1, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


async def test_a_keeper_that_an_earlier_broker_began_to_start_is_waited_for(
    tmp_path: Path, starter: subprocess.Popen[bytes]
) -> None:
    keeper, link = kept(tmp_path), ClosableLink()
    recorded(tmp_path, starter)
    linking = await started(keeper.link())
    keeper.linked(link)
    assert await answer_of(linking) == (link, False)


async def test_a_keeper_that_dies_during_its_start_is_not_waited_for(
    tmp_path: Path, starter: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, link, loop = kept(tmp_path), ClosableLink(), asyncio.get_running_loop()
    monkeypatch.setattr(keeper, "_start", lambda: loop.call_soon_threadsafe(keeper.linked, link))
    recorded(tmp_path, starter)
    linking = await started(keeper.link())
    starter.kill()
    starter.wait()
    assert await answer_of(linking) == (link, True)


async def test_no_browser_is_started_while_the_record_cannot_be_read(tmp_path: Path) -> None:
    keeper = kept(tmp_path)
    path = tmp_path / "keepers" / "chromium.json"
    path.write_bytes(b"{}")
    path.chmod(0o644)

    await error_of(BrowserLost, keeper.link())


async def test_a_full_disk_is_named_as_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = kept(tmp_path)

    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(keeper, "_start", full)
    error = await error_of(BrowserLost, keeper.link())
    assert "No space left on device" in error.message
