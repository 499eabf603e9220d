"""One connected client (roost.frontends.cdp.client): answers, limits, and disconnection."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from roost.api.sockets import SocketEar
from roost.errors import PoolFull, Unauthorized
from roost.frontends.cdp.client import ORDERS, Client
from roost.testing.waits import until
from tests.frontends.cdp.cdp_stage import ROOT
from tests.frontends.cdp.cdp_stub_door import StubDoor, StubSeat

DOWNLOAD = (
    b'{"method":"Browser.downloadWillBegin",'
    b'"params":{"frameId":"T-mine","guid":"%s"},"sessionId":"ROOT"}'
)


class StubSocket:
    """The client's end of the connection. ``is_full``: the client does not read."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.is_full = False
        self.is_held = False
        self.ear: SocketEar | None = None

    def listen(self, ear: SocketEar) -> None:
        self.ear = ear

    def write(self, text: bytes) -> None:
        self.heard.append(json.loads(text))

    def hold(self) -> None:
        assert not self.is_held
        self.is_held = True

    def go_on(self) -> None:
        assert self.is_held
        self.is_held = False

    def say(self, number: int, method: str, session: str = "", **params: Any) -> None:
        assert self.ear is not None
        message = {"id": number, "method": method, "params": params}
        self.ear.said(json.dumps(message | ({"sessionId": session} if session else {})))

    def leave(self) -> None:
        assert self.ear is not None
        self.ear.left()


async def seated(**more: Any) -> tuple[Client, StubSeat, StubSocket, asyncio.Task[None]]:
    door, socket, client = StubDoor(), StubSocket(), Client(**more)
    await client.sit(door, "right")
    running = asyncio.get_running_loop().create_task(client.run(socket))
    await until(lambda: socket.ear is not None)
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
    socket.leave()
    await running
    assert seat.closed == 1


async def test_the_brokers_refusals_are_answers() -> None:
    _, seat, socket, running = await seated()
    seat.failing = PoolFull("All taken.")
    socket.say(1, "Target.createTarget", url="about:blank")
    await until(lambda: bool(socket.heard))
    assert socket.heard[0]["error"]["message"] == "POOL_FULL: All taken."
    socket.leave()
    await running


async def test_one_slow_request_to_the_broker_does_not_delay_others() -> None:
    _, seat, socket, running = await seated()
    seat.may_open.clear()
    socket.say(1, "Target.createTarget", url="about:blank")
    socket.say(2, "Browser.getVersion")
    await until(lambda: bool(socket.heard))
    assert [one["id"] for one in socket.heard] == [2]
    socket.leave()
    await running  # it is given up when the client goes


async def test_a_client_that_does_not_read_is_cut_off_at_the_limit() -> None:
    client, seat, socket, running = await seated(unread_bytes=10_000)
    socket.is_full = True
    for _ in range(30):
        seat.ear.heard(ROOT, DOWNLOAD % (b"x" * 1000))
    await running
    assert client.is_too_slow
    assert seat.closed == 1


async def test_a_client_that_reads_is_not_cut_off_however_much_it_gets() -> None:
    client, seat, socket, running = await seated(unread_bytes=10_000)
    for _ in range(30):
        seat.ear.heard(ROOT, DOWNLOAD % (b"x" * 1000))
    assert len(socket.heard) == 30
    assert not client.is_too_slow
    socket.leave()
    await running


async def test_the_answer_to_browser_close_is_heard_before_the_end() -> None:
    _, seat, socket, running = await seated()
    socket.say(1, "Browser.close")
    await running
    assert socket.heard == [{"id": 1, "result": {}}]
    assert seat.closed == 1


async def test_the_client_ends_when_the_session_ends() -> None:
    _, seat, _, running = await seated()
    seat.ear.ended()
    await running
    assert seat.closed == 1


async def test_unread_frames_arrive_in_order_when_the_client_reads_again() -> None:
    client, seat, socket, running = await seated()
    socket.is_full = True
    for number in range(3):
        seat.ear.heard(ROOT, DOWNLOAD % str(number).encode())
    assert socket.heard == []
    socket.is_full = False
    client.has_room()
    assert [one["params"]["guid"] for one in socket.heard] == ["0", "1", "2"]
    socket.leave()
    await running


async def test_a_client_with_too_many_unanswered_commands_waits_for_answers() -> None:
    _, seat, socket, running = await seated(unanswered_bytes=1000)
    seat.unanswered_bytes = 1001
    socket.say(1, "Browser.getVersion")
    assert socket.is_held
    seat.unanswered_bytes = 999
    seat.ear.heard(ROOT, DOWNLOAD % b"x")
    assert not socket.is_held
    socket.leave()
    await running


async def test_a_client_with_many_orders_at_the_broker_waits_for_them() -> None:
    _, seat, socket, running = await seated()
    seat.may_open.clear()
    for number in range(ORDERS + 1):
        socket.say(number, "Target.createTarget", url="about:blank")
    await until(lambda: socket.is_held)
    seat.may_open.set()
    await until(lambda: len(socket.heard) == ORDERS + 1)
    await until(lambda: not socket.is_held)
    socket.leave()
    await running


async def test_a_session_that_ends_before_its_browser_answered_ends_the_client() -> None:
    door, socket, client = StubDoor(), StubSocket(), Client()
    await client.sit(door, "right")
    door.seats[0].ear.ended()
    await client.run(socket)
    assert door.seats[0].closed == 1
