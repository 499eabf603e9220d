"""A native host as a process; the test plays the browser and the broker."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from roost.api.door import LinkEnd
from roost.errors import Unsupported
from roost.host.native import native_message
from roost.local.home import Home
from roost.local.processes import Peer
from roost.wire.framing import encode
from roost.wire.hello import ClientKind, Hello, Welcome
from tests.support.link_door import LinkDoor

SECONDS = 15.0
HELLO = {"kind": "chromium", "product": "Chromium/1", "run": "r", "install": "i", "extension": "1"}


class Broker(LinkDoor):
    """A minimal broker that accepts one link of each name."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.frames: asyncio.Queue[Any] = asyncio.Queue()
        self.hellos: list[Hello] = []
        self.link: LinkEnd | None = None

    async def listen(self) -> None:
        await self.open(self._linked)

    def _linked(self, link: LinkEnd) -> None:
        self.link = link
        link.start(lambda frame: self.frames.put_nowait(json.loads(frame)), lambda: None)

    async def close(self) -> None:
        if self.link is not None:
            self.link.close()
            self.link = None
        await super().close()

    async def next(self) -> Any:
        async with asyncio.timeout(SECONDS):
            return await self.frames.get()

    def send(self, frame: bytes) -> None:
        assert self.link is not None
        self.link.send(frame)

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        if self.link is not None:
            raise Unsupported("Another profile is linked already.", hint="Use that one.")
        self.hellos.append(hello)
        return super().admit_link(hello, peer, link)


class Extension:
    """The browser's end of a host."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._in, self._out = process.stdin, process.stdout

    def say(self, message: Any) -> None:
        self._in.write(native_message(encode(message)))

    async def hears(self) -> Any:
        async with asyncio.timeout(SECONDS):
            length = int.from_bytes(await self._out.readexactly(4), sys.byteorder)
            return json.loads(await self._out.readexactly(length))

    async def hears_state(self, state: str) -> Any:
        """Return the next report about the broker."""
        while True:
            message = await self.hears()
            if message.get("method") == "Roost.link" and message["params"]["state"] == state:
                return message["params"]

    async def hang_up(self) -> int:
        self._in.close()
        async with asyncio.timeout(SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def extension(home: Home) -> AsyncIterator[Extension]:
    """Start a host with almost no environment, like a browser that was started from a menu."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "roost.host",
        "chrome-extension://who/",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"ROOST_HOME": str(home.path), "LANG": "C"},
    )
    try:
        yield Extension(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Broker]:
    made = Broker(Home(folder / "home"))
    await made.listen()
    yield made
    await made.close()


async def test_the_host_names_its_browser_and_relays_messages_both_ways(tmp_path: Path) -> None:
    async with running(tmp_path) as broker, extension(broker.home) as one:
        one.say({"method": "Roost.hello", "params": HELLO})
        word, about = await broker.next()
        await one.hears_state("linked")
        assert word == "handover"
        assert (broker.hellos[0].kind, broker.hellos[0].browser) == (
            ClientKind.LINK,
            "mine-chromium",
        )
        assert {**about, **HELLO} == about
        assert (about["pid"], about["nextId"]) == (os.getpid(), 1)
        broker.send(b'{"id":1,"method":"A.b"}')
        assert await one.hears() == {"id": 1, "method": "A.b"}
        one.say({"id": 1, "result": {"text": "é☃😀" * 100_000}})
        assert (await broker.next())["result"]["text"] == "é☃😀" * 100_000
        assert await one.hang_up() == 0


async def test_a_broker_that_restarts_is_invisible_to_the_extension(tmp_path: Path) -> None:
    async with running(tmp_path) as broker, extension(broker.home) as one:
        one.say({"method": "Roost.hello", "params": HELLO})
        await broker.next()
        broker.send(b'{"id":7,"method":"A.b"}')
        await one.hears_state("linked")
        await one.hears()
        await broker.close()
        await one.hears_state("away")
        one.say({"method": "Tabs.removed", "params": {}})  # nobody hears it; state is asked anew
        await broker.listen()
        one.process.send_signal(signal.SIGUSR1)
        _, about = await broker.next()
        await one.hears_state("linked")
        assert about["nextId"] == 8
        assert one.process.returncode is None


async def test_protocol_sessions_are_handed_to_the_next_broker(tmp_path: Path) -> None:
    attached = {
        "sessionId": "r.1",
        "targetInfo": {"targetId": "F", "type": "page"},
        "waitingForDebugger": False,
    }
    async with running(tmp_path) as broker, extension(broker.home) as one:
        one.say({"method": "Roost.hello", "params": HELLO})
        await broker.next()
        one.say({"method": "Target.attachedToTarget", "params": attached})
        await broker.next()
        await broker.close()
        await one.hears_state("away")
        await broker.listen()
        one.process.send_signal(signal.SIGUSR1)
        _, about = await broker.next()
        assert [known["sessionId"] for known in about["sessions"]] == ["r.1"]


async def test_two_browsers_never_steal_each_others_link(tmp_path: Path) -> None:
    async with (
        running(tmp_path) as broker,
        extension(broker.home) as first,
        extension(broker.home) as second,
    ):
        first.say({"method": "Roost.hello", "params": HELLO})
        await broker.next()
        second.say({"method": "Roost.hello", "params": HELLO})
        refused = await second.hears_state("refused")
        assert refused["error"]["code"] == "UNSUPPORTED"
        assert "Another profile" in refused["error"]["message"]
        broker.send(b'{"id":1,"method":"A.b"}')
        await first.hears_state("linked")
        assert (await first.hears())["id"] == 1
        assert len(broker.hellos) == 1


async def test_the_host_waits_for_a_broker_and_never_starts_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with extension(home) as one:
        one.say({"method": "Roost.hello", "params": HELLO})
        await one.hears_state("away")
        assert not home.endpoint.exists()
        records = list((home.path / "hosts").iterdir())
        assert len(records) == 1
        assert await one.hang_up() == 0
        assert list((home.path / "hosts").iterdir()) == []


async def test_a_host_of_an_unknown_browser_ends(tmp_path: Path) -> None:
    async with extension(Home(tmp_path / "home")) as one:
        one.say({"method": "Roost.hello", "params": {**HELLO, "kind": "../mosaic"}})
        async with asyncio.timeout(SECONDS):
            assert await one.process.wait() == 0
