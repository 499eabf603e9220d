"""One connected client (roost.frontends.cdp.client): answered, bounded, and cut off alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from cdp_stage import ROOT
from cdp_stub_door import StubDoor, StubSeat

from roost.errors import PoolFull, Unauthorized
from roost.frontends.cdp.client import Client
from roost.testing.waiting import until

DOWNLOAD = (
    b'{"method":"Browser.downloadWillBegin",'
    b'"params":{"frameId":"T-mine","guid":"%s"},"sessionId":"ROOT"}'
)


class StubSocket:
    """The client's end. ``may_read`` cleared: it does not read."""

    def __init__(self) -> None:
        self.says: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self.heard: list[dict[str, Any]] = []
        self.may_read = asyncio.Event()
        self.may_read.set()

    async def receive(self) -> str | bytes | None:
        return await self.says.get()

    async def send(self, text: str) -> None:
        await self.may_read.wait()
        self.heard.append(json.loads(text))

    def say(self, number: int, method: str, **params: Any) -> None:
        self.says.put_nowait(json.dumps({"id": number, "method": method, "params": params}))


async def seated(**more: Any) -> tuple[Client, StubSeat, StubSocket, asyncio.Task[None]]:
    door, socket, client = StubDoor(), StubSocket(), Client(**more)
    await client.sit(door, "right")
    running = asyncio.get_running_loop().create_task(client.run(socket))
    return client, door.seats[0], socket, running


async def test_a_wrong_token_gets_no_seat() -> None:
    with pytest.raises(Unauthorized):
        await Client().sit(StubDoor(), "wrong")


async def test_messages_are_answered_and_the_seat_is_given_up_at_the_end() -> None:
    _, seat, socket, running = await seated()
    socket.say(1, "Browser.getVersion")
    socket.say(2, "Target.createTarget", url="about:blank")
    socket.say(3, "Target.createBrowserContext")
    await until(lambda: len(socket.heard) == 3)
    answers = {one["id"]: one["result"] for one in socket.heard}
    assert answers == {1: {}, 2: {"targetId": "T-1"}, 3: {"browserContextId": "CONTEXT-new"}}
    socket.says.put_nowait(None)
    await running
    assert seat.closed == 1


async def test_the_brokers_refusals_are_answers() -> None:
    _, seat, socket, running = await seated()
    seat.failing = PoolFull("All taken.")
    socket.say(1, "Target.createTarget", url="about:blank")
    await until(lambda: bool(socket.heard))
    assert socket.heard[0]["error"]["message"] == "POOL_FULL: All taken."
    socket.says.put_nowait(None)
    await running


async def test_one_order_does_not_keep_the_others_waiting() -> None:
    _, seat, socket, running = await seated()
    seat.may_open.clear()
    socket.say(1, "Target.createTarget", url="about:blank")
    socket.say(2, "Browser.getVersion")
    await until(lambda: bool(socket.heard))
    assert [one["id"] for one in socket.heard] == [2]
    socket.says.put_nowait(None)
    await running  # it is given up when the client goes


async def test_a_client_that_does_not_read_is_cut_off_at_the_limit() -> None:
    client, seat, socket, running = await seated(unread_bytes=10_000)
    socket.may_read.clear()
    # The first frame is on its way and counts until it is read.
    for _ in range(30):
        seat.ear.heard(ROOT, DOWNLOAD % (b"x" * 1000))
    await running
    assert client.is_too_slow
    assert seat.closed == 1


async def test_a_client_that_reads_is_not_cut_off_however_much_it_gets() -> None:
    client, seat, socket, running = await seated(unread_bytes=10_000)
    for _ in range(30):
        seat.ear.heard(ROOT, DOWNLOAD % (b"x" * 1000))
        await until(lambda: not client._unread_bytes)
    assert len(socket.heard) == 30
    assert not client.is_too_slow
    socket.says.put_nowait(None)
    await running


async def test_the_answer_to_browser_close_is_heard_before_the_end() -> None:
    _, seat, socket, running = await seated()
    socket.say(1, "Browser.close")
    await running
    assert socket.heard == [{"id": 1, "result": {}}]
    assert seat.closed == 1


async def test_when_the_session_ends_so_does_the_client() -> None:
    _, seat, _, running = await seated()
    seat.ear.ended()
    await running
    assert seat.closed == 1
