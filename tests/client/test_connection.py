from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from roost.api.broker import Notice
from roost.client.connection import BrokerConnection, ConnectionLost
from roost.errors import BadRequest, RoostError, TabGone, Unauthorized
from roost.local.broker_start import connect
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import answer_of, error_of, started, until
from roost.wire.hello import Hello

URL = "https://site.test/"
NEVER = {"function": "() => new Promise(() => {})"}


async def opened(
    house: FakeHouse, hello: Hello | None = None, notices: list[Notice] | None = None
) -> BrokerConnection:
    sock = connect(house.home)
    heard = [] if notices is None else notices
    connection, welcome = await BrokerConnection.open(sock, hello or house.hello(), heard.append)
    assert welcome.agent in house.state.agents
    return connection


async def test_a_call_returns_its_reply_or_raises_the_brokers_error(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        connection = await opened(house)
        assert await connection.call("ping", {}, None) == {}
        error = await error_of(TabGone, connection.call("browser_close", {"tab": "t9"}, None))
        assert error.details == {"tab": "t9"}
        await connection.aclose()


@pytest.mark.parametrize(
    ("change", "error"),
    [({"token": "guess"}, Unauthorized), ({"versions": (99,)}, BadRequest)],
)
async def test_a_refused_hello_raises_what_the_broker_says(
    change: dict[str, object], error: type[RoostError], tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        hello = replace(house.hello(), **change)  # type: ignore[arg-type]
        await error_of(error, BrokerConnection.open(connect(house.home), hello, print))


@pytest.mark.parametrize("said", [b"", b'{"welcome": {"version": "one"}}\n', b"\xff\n", b"[]\n"])
async def test_a_hello_without_a_welcome_is_a_lost_connection(said: bytes) -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    opening = await started(BrokerConnection.open(ours, Hello(token="x"), print))
    theirs.sendall(said)
    theirs.close()
    with pytest.raises(ConnectionLost):
        await answer_of(opening)


async def test_cancelling_a_call_cancels_it_at_the_broker(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        connection = await opened(house)
        await connection.call("browser_navigate", {"url": URL}, None)
        call = await started(connection.call("browser_evaluate", NEVER, None))
        await connection.call("ping", {}, None)
        assert len(house.broker.lanes) == 1
        call.cancel()
        await until(lambda: len(house.broker.lanes) == 0)
        assert call.cancelled()
        await connection.aclose()


async def test_every_waiting_call_fails_when_the_connection_ends(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        connection = await opened(house)
        await connection.call("browser_navigate", {"url": URL}, None)
        calls = [await started(connection.call("browser_evaluate", NEVER, None)) for _ in "abc"]
        await connection.call("ping", {}, None)
        for each in list(house.socket._connections):
            each._transport.abort()
        results = await answer_of(asyncio.gather(*calls, return_exceptions=True))
        assert [type(result) for result in results] == [ConnectionLost] * 3
        with pytest.raises(ConnectionLost):
            await connection.call("ping", {}, None)
        assert not connection.was_stopped
        await connection.aclose()


async def test_the_client_knows_whether_the_broker_stopped_on_purpose(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        connection = await opened(house)
        await house.socket.aclose()
        await answer_of(asyncio.wait({connection.ended}))
        assert connection.was_stopped
        await connection.aclose()


async def test_notices_of_the_broker_reach_the_caller(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        heard: list[Notice] = []
        connection = await opened(house, notices=heard)
        await connection.call("browser_navigate", {"url": URL}, None)
        await until(lambda: heard)
        assert heard[0].kind == "tab_opened"
        await connection.aclose()
