from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roost.daemon.announcement import Announcement
from roost.local.endpoint import Endpoint, read_endpoint, write_endpoint
from roost.local.home import socket_path
from roost.local.lock import Lock
from roost.local.processes import Process
from roost.testing.house import FakeHouse, fake_house

ADDRESS = "http://127.0.0.1:1"


@asynccontextmanager
async def announced(folder: Path) -> AsyncIterator[tuple[FakeHouse, Announcement]]:
    async with fake_house(folder) as house:
        with Lock(house.home.broker_lock) as lock:
            token = house.home.operator_token()
            it = Announcement(house.home, lock, house.socket, token=token, http=ADDRESS)
            it.publish()
            yield house, it


def found(house: FakeHouse) -> bool:
    endpoint = read_endpoint(house.home)
    return endpoint is not None and endpoint.process.pid == os.getpid() and house.socket.is_bound()


REMOVALS: dict[str, Callable[[FakeHouse], None]] = {
    "socket": lambda house: socket_path(house.home).unlink(),
    "endpoint": lambda house: house.home.endpoint.unlink(),
    "lock": lambda house: house.home.broker_lock.unlink(),
    "token": lambda house: house.home.token.unlink(),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("what", REMOVALS)
async def test_removed_files_of_the_broker_are_restored(what: str, tmp_path: Path) -> None:
    async with announced(tmp_path) as (house, announcement):
        token = house.home.operator_token()
        REMOVALS[what](house)
        assert await announcement.renew()
        assert found(house)
        assert house.home.operator_token() == token
        assert not Lock(house.home.broker_lock).try_acquire()


async def test_a_home_that_another_broker_has_is_left_as_it_is(tmp_path: Path) -> None:
    async with announced(tmp_path) as (house, announcement):
        house.home.broker_lock.unlink()
        with Lock(house.home.broker_lock):
            theirs = Endpoint(tmp_path / "their-socket", Process(1, "then"), "0", 1)
            write_endpoint(house.home, theirs)
            assert not await announcement.renew()
            announcement.withdraw()
            assert read_endpoint(house.home) == theirs


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.EACCES])
async def test_a_file_that_cannot_be_examined_is_not_taken_for_removed(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with announced(tmp_path) as (house, announcement):
        before = house.home.endpoint.stat()

        def fails(*_: object, **__: object) -> os.stat_result:
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patched:
            patched.setattr("os.stat", fails)
            patched.setattr("os.lstat", fails)
            assert await announcement.renew()
        assert os.path.samestat(before, house.home.endpoint.stat())
        assert found(house)


async def test_a_broker_that_ends_withdraws_its_endpoint(tmp_path: Path) -> None:
    async with announced(tmp_path) as (house, announcement):
        announcement.withdraw()
        assert read_endpoint(house.home) is None
        announcement.withdraw()
