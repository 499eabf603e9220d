"""Where HTTP listens, when it is loaded, and how it ends."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import roost.frontends.http.uvicorn_server as serving
from roost.broker.doors.door import BrokerDoor
from roost.errors import BadRequest
from roost.frontends.http.listener import bound
from roost.frontends.http.server import HttpServer
from roost.local.home import Home
from roost.testing.house import fake_house
from roost.testing.waits import SECONDS, answer_of, until
from tests.frontends.http.http_callers import http_door, plain_http


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def port_of(home: Home, port: int | None = None) -> int:
    with bound(home, port) as listening:
        host, found = listening.getsockname()
        assert host == "127.0.0.1"
        return int(found)


def test_the_port_stays_the_same_until_somebody_else_has_it(home: Home) -> None:
    first = port_of(home)
    assert port_of(home) == first
    assert stat.S_IMODE(home.http_port.stat().st_mode) == 0o600
    with socket.create_server(("127.0.0.1", first)):
        second = port_of(home)
    assert second != first
    assert port_of(home) == second


def test_a_port_asked_for_is_taken_or_refused_and_never_replaced(home: Home) -> None:
    free = port_of(home)
    assert port_of(home, free) == free
    with socket.create_server(("127.0.0.1", free)), pytest.raises(BadRequest) as refusal:
        bound(home, free)
    assert refusal.value.details["field"] == "port"
    assert str(free) in refusal.value.message


@pytest.mark.parametrize("kept", [b"", b"x", b"0", b"99999", b"-1"])
def test_an_invalid_stored_port_is_replaced(kept: bytes, home: Home) -> None:
    home.http_port.write_bytes(kept)
    home.http_port.chmod(0o600)
    assert port_of(home) > 0


def test_nobody_else_can_listen_beside_us(home: Home) -> None:
    with bound(home, None) as listening, socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(listening.getsockname())


async def test_small_answers_are_sent_without_delay(tmp_path: Path) -> None:
    """With delayed acknowledgements of the peer, each request would take 40 ms."""
    async with http_door(tmp_path) as here:
        await here.session("work")
        (connected,) = here.house.http._uvicorn._state.connections  # type: ignore[union-attr]
        sock = connected.transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_the_first_connection_loads_the_http_code_and_all_that_wait_are_answered(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        assert house.broker.http is not None
        async with plain_http(house.broker.http, timeout=SECONDS) as client:
            answers = await asyncio.gather(*(client.get("/healthz") for _ in range(20)))
        assert {answer.status_code for answer in answers} == {200}


@pytest.mark.slow
def test_a_broker_nobody_asks_over_http_has_not_loaded_it(tmp_path: Path) -> None:
    code = (
        "import sys, roost.daemon.wiring;"
        "print({'starlette', 'uvicorn', 'httptools', 'mcp'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.strip() == "set()"


async def test_a_server_that_was_never_started_or_never_asked_can_be_closed(home: Home) -> None:
    async with fake_house(home.path) as house:
        door: BrokerDoor = house.door
        await HttpServer(door, home).aclose()
        server = HttpServer(door, home)
        address = server.start()
        await server.aclose()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))


async def test_closing_ends_streams_and_calls_that_are_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "GOODBYE_SECONDS", 0.1)
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        here.house.driver.may_open.clear()
        path = "/session/work/tools/browser_navigate"
        loop = asyncio.get_running_loop()
        call = loop.create_task(session.send("POST", path, json={"url": "about:blank"}))
        await until(lambda: here.house.driver.asked)
        headers = {"authorization": f"Bearer {session.token}"}
        async with here.client.stream("GET", "/session/work/events", headers=headers) as stream:
            lines = stream.aiter_lines()
            await answer_of(anext(lines))
            closing = loop.create_task(here.house.http.aclose())
            async for _ in lines:
                pass
        await answer_of(closing)
        answer = await answer_of(call)
        assert (answer.status_code, answer.json()["code"]) == (503, "INTERRUPTED")
        with pytest.raises(httpx.ConnectError):
            await here.client.get("/healthz")
        here.house.driver.may_open.set()
