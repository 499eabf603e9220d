from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from roost.errors import Timeout
from roost.local.lock import Lock

HOLD = """
import sys
from pathlib import Path
from roost.local.lock import Lock
lock = Lock(Path(sys.argv[1]))
print(lock.try_acquire(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


def test_only_one_process_holds_the_lock_at_a_time(path: Path) -> None:
    first, second = Lock(path), Lock(path)

    assert first.try_acquire()
    assert first.is_held
    assert not second.try_acquire()
    assert not second.is_held
    first.release()
    assert second.try_acquire()
    second.release()


def test_a_holder_cannot_take_the_lock_twice(path: Path) -> None:
    lock = Lock(path)
    assert lock.try_acquire()

    assert not lock.try_acquire()
    lock.release()
    lock.release()
    assert not lock.is_held


def test_a_wait_that_is_too_long_ends_in_a_typed_error(path: Path) -> None:
    with Lock(path):
        with pytest.raises(Timeout) as caught:
            Lock(path).acquire(0.05)
        assert str(path) in caught.value.message


def test_a_waiting_process_gets_the_lock_when_it_is_released(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, waiter = Lock(path), Lock(path, timeout_seconds=30)
    assert holder.try_acquire()
    looked = 0

    def select(*_: object) -> None:
        nonlocal looked
        looked += 1
        if looked == 3:
            holder.release()

    monkeypatch.setattr("roost.local.deadline.select.select", select)

    with waiter:
        assert waiter.is_held
    assert looked == 3
    assert not waiter.is_held


def test_a_killed_holder_releases_the_lock(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        assert not Lock(path).try_acquire()

        other.send_signal(signal.SIGKILL)
        other.wait(timeout=10)

        with Lock(path, timeout_seconds=10) as lock:
            assert lock.is_held


def test_a_child_process_does_not_inherit_the_lock(path: Path) -> None:
    lock = Lock(path)
    assert lock.try_acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False):
        lock.release()

        with Lock(path) as again:
            assert again.is_held


def test_the_lock_file_stays_and_only_this_user_can_read_it(path: Path) -> None:
    with Lock(path):
        inode = path.stat().st_ino
    with Lock(path):
        pass

    assert path.stat().st_ino == inode
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "victim")

    with pytest.raises(OSError, match="a.lock"):
        Lock(path).try_acquire()
    assert not (tmp_path / "victim").exists()


def test_failed_tries_leak_no_descriptor(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Lock(path)
    with Lock(path):
        before = os.listdir("/dev/fd")
        for _ in range(20):
            lock.try_acquire()
        assert os.listdir("/dev/fd") == before

    def no_locks(*_: object) -> None:
        raise OSError("no locks on this file system")

    monkeypatch.setattr("roost.local.lock.fcntl.flock", no_locks)
    before = os.listdir("/dev/fd")
    with pytest.raises(OSError, match="file system"):
        lock.try_acquire()
    assert os.listdir("/dev/fd") == before


def test_a_lock_whose_file_was_removed_is_not_current_and_can_be_taken_again(path: Path) -> None:
    with Lock(path) as lock:
        assert lock.is_current()
        path.unlink()
        assert not lock.is_current()
        assert lock.retake()
        assert lock.is_current()
        assert not Lock(path).try_acquire()


def test_a_lock_that_another_has_taken_meanwhile_is_not_taken_back(path: Path) -> None:
    with Lock(path) as first:
        path.unlink()
        with Lock(path) as second:
            assert not first.retake()
            assert first.is_held
            assert second.is_current()
            assert not first.is_current()


def test_a_file_that_is_removed_while_it_is_locked_gives_no_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = fcntl.flock

    def removed_in_between(fd: int, how: int) -> None:
        really(fd, how)
        path.unlink()

    with monkeypatch.context() as patched:
        patched.setattr("roost.local.lock.fcntl.flock", removed_in_between)
        assert not Lock(path).try_acquire()
    assert Lock(path).try_acquire()
