"""A keeper as a process: it outlives its broker, finds the next one, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roost.api.door import LinkEnd
from roost.local.broker_start import start_detached
from roost.local.home import Home, write_secret
from roost.local.processes import Process, end_tree, identify, wait_until_gone
from roost.testing.waits import until
from tests.support.link_door import LinkDoor

BROWSER = Path(__file__).parent / "stand_in_browser.py"
SECONDS = 15.0
"""Processes are slow to start on a busy machine; nothing waits this long in a run that passes."""


class Broker(LinkDoor):
    """A minimal broker for a keeper."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.links: asyncio.Queue[LinkEnd] = asyncio.Queue()
        self.frames: asyncio.Queue[Any] = asyncio.Queue()

    async def listen(self) -> None:
        await self.open(self.links.put_nowait)

    async def link(self) -> LinkEnd:
        async with asyncio.timeout(SECONDS):
            link = await self.links.get()
        link.start(
            lambda frame: self.frames.put_nowait(json.loads(frame)),
            lambda: self.frames.put_nowait("over"),
        )
        return link

    async def next(self) -> Any:
        async with asyncio.timeout(SECONDS):
            return await self.frames.get()

    async def call(self, link: LinkEnd, call: int, method: str, **params: Any) -> Any:
        command = {"id": call, "method": method, "params": params}
        link.send(json.dumps(command, separators=(",", ":")).encode())
        return await self.next()


def start_keeper(home: Home, *, away: float = 60.0, arguments: Sequence[str] = ()) -> Process:
    home.create()
    (home.path / "log").touch(mode=0o600)
    start_detached(
        home,
        [sys.executable, "-P", "-m", "roost.keeper"],
        ["--browser=b", f"--log={home.path / 'browser.log'}", f"--away={away}", "--",
         sys.executable, str(BROWSER), *arguments],
        log=home.path / "keeper.log",
        timeout_seconds=SECONDS,
    )  # fmt: skip
    fields = json.loads((home.path / "keepers" / "b.json").read_text(encoding="utf-8"))
    return Process(fields["pid"], fields["processStarted"])


@asynccontextmanager
async def kept(home: Home, **options: Any) -> AsyncIterator[tuple[Broker, LinkEnd, Process, Any]]:
    """Start a broker and a keeper, and return the link and its handover."""
    broker = Broker(home)
    await broker.listen()
    keeper = await asyncio.to_thread(start_keeper, home, **options)
    try:
        link = await broker.link()
        word, handover = await broker.next()
        assert word == "handover"
        yield broker, link, keeper, handover
    finally:
        await broker.close()
        await asyncio.to_thread(end_tree, keeper, 0.0)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


async def everything_is_gone(*processes: int | Process) -> None:
    for one in processes:
        process = identify(one) if isinstance(one, int) else one
        if process is not None:
            assert await asyncio.to_thread(wait_until_gone, process, SECONDS), process


async def test_the_first_broker_hears_who_the_browser_is_and_which_id_is_free(home: Home) -> None:
    async with kept(home) as (broker, link, _, handover):
        assert handover["product"] == "StandIn/1"
        assert handover["nextId"] == 2
        assert handover["sessions"] == []
        answer = await broker.call(link, 7, "Test.echo", text="Ünï ☃")
        assert answer["id"] == 7
        assert answer["result"]["echo"] == {"text": "Ünï ☃"}


async def test_the_next_broker_continues_with_the_last_brokers_ids(home: Home) -> None:
    async with kept(home) as (broker, link, keeper, handover):
        await broker.call(link, 41, "Test.echo")
        link.close()
        while await broker.next() != "over":
            pass
        again = await broker.link()
        word, second = await broker.next()
        assert (word, second["pid"]) == ("handover", handover["pid"])
        assert second["nextId"] == 42, "an id in flight cannot be used twice"
        assert (await broker.call(again, 42, "Test.echo"))["id"] == 42


async def test_a_signal_makes_the_keeper_look_for_the_new_broker_at_once(home: Home) -> None:
    async with kept(home) as (broker, link, keeper, _):
        await broker.close()
        link.close()
        # It finds nobody now, and waits longer each time: up to half a minute.
        broker = Broker(home)
        await broker.listen()
        os.kill(keeper.pid, signal.SIGUSR1)
        await broker.link()
        assert (await broker.next())[0] == "handover"
        await broker.close()


@pytest.mark.parametrize("how", ["told", "terminated", "left alone", "its browser ended"])
async def test_a_keeper_leaves_nothing_behind_however_it_ends(home: Home, how: str) -> None:
    async with kept(home, away=0.3 if how == "left alone" else 60.0) as (
        broker,
        link,
        keeper,
        handover,
    ):
        child = (await broker.call(link, 3, "Test.echo"))["result"]["child"]
        assert identify(child) is not None
        if how == "told":
            link.send(b'["end"]')
        elif how == "terminated":
            os.kill(keeper.pid, signal.SIGTERM)
        elif how == "left alone":
            await broker.close()
            link.close()
        else:
            link.send(b'{"id":4,"method":"Test.leave"}')
        if how != "left alone":
            word, why = await broker.next()
            assert word == "ended"
            assert why == ("browser" if how == "its browser ended" else "end")
        await everything_is_gone(keeper, handover["pid"], child)
        assert not (home.path / "keepers" / "b.json").exists()


async def test_a_keeper_that_ends_leaves_the_record_of_the_next_one_alone(home: Home) -> None:
    record = home.path / "keepers" / "b.json"
    async with kept(home) as (_, link, keeper, handover):
        write_secret(record, b'{"pid": 1}')
        link.send(b'["end"]')
        await everything_is_gone(keeper, handover["pid"])
    assert record.read_bytes() == b'{"pid": 1}'


@pytest.mark.parametrize("how", ["told", "killed"])
async def test_files_that_a_browser_made_outside_its_profile_are_removed_with_it(
    home: Home, tmp_path: Path, how: str
) -> None:
    """The stand-in ends neither by itself nor with its pipe, as Firefox does."""
    profile, folder, others = (tmp_path / name for name in ("profile", "socket", "others"))
    for one in (profile, folder, others):
        one.mkdir()
    for one in (folder, others):
        (one / "SingletonSocket").touch()
        (one / "SingletonCookie").symlink_to("17")
    (profile / "SingletonSocket").symlink_to(folder / "SingletonSocket")
    async with kept(home, arguments=[f"--user-data-dir={profile}"]) as found:
        broker, link, keeper, handover = found
        child = (await broker.call(link, 3, "Test.echo"))["result"]["child"]
        children = [one for one in (identify(handover["pid"]), identify(child)) if one is not None]
        (profile / "SingletonSocket").unlink()  # as a browser that ends in order does
        if how == "told":
            link.send(b'["end"]')
        else:
            os.kill(keeper.pid, signal.SIGKILL)
        await everything_is_gone(keeper, *children)
        await until(lambda: not folder.exists())
        assert sorted(one.name for one in others.iterdir()) == [
            "SingletonCookie",
            "SingletonSocket",
        ]


async def test_a_browser_that_cannot_run_is_reported_to_whoever_starts_it(home: Home) -> None:
    home.create()

    def start() -> None:
        start_detached(
            home,
            [sys.executable, "-P", "-m", "roost.keeper"],
            ["--browser=b", f"--log={home.path / 'browser.log'}", "--", "/nonexistent"],
            log=home.path / "keeper.log",
            timeout_seconds=SECONDS,
        )

    with pytest.raises(Exception, match="BROWSER_LOST"):
        await asyncio.to_thread(start)
