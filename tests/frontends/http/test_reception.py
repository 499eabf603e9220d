"""Connections of this user are accepted in turn, and those of other users never."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from roost import ops
from roost.frontends.http import connection, reception
from roost.frontends.http.reception import Reception
from roost.testing.waits import answer_of, turn, until
from tests.frontends.http.http_callers import HttpDoor, http_door
from tests.support.other_user import AS_NOBODY, needs_another_user

MANY = 1000 if os.environ.get("ROOST_SOAK") else 200
"""In `make test`, as many times the places as with the real limits in `make soak`."""
FLOOD = (
    AS_NOBODY
    + """
import select
kept = []
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    peer = socket.socket()
    peer.setblocking(False)
    peer.connect_ex(("127.0.0.1", int(sys.argv[1])))
    kept = [*kept[-500:], peer]
    try:
        kept[0].send(b"GET /healthz HTTP/1.1\\r\\nHost:")
    except OSError:
        pass
"""
)
ASK = (
    AS_NOBODY
    + """
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
try:
    peer.sendall(sys.argv[2].encode())
    said = b""
    while data := peer.recv(4096):
        said += data
except ConnectionError:
    pass
print(said.decode().partition(" ")[2][:3] or "nothing")
"""
)


def request(here: HttpDoor, path: str = "/healthz", *lines: str) -> bytes:
    host = f"Host: 127.0.0.1:{here.port}"
    token = f"Authorization: Bearer {here.operator.token}"
    return "\r\n".join([f"GET {path} HTTP/1.1", host, token, *lines, "", ""]).encode()


class Callers:
    """Callers that keep their connections open, as clients with a pool do."""

    def __init__(self, here: HttpDoor) -> None:
        self.here = here
        self._open: list[asyncio.StreamWriter] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.here.port)
        self._open.append(writer)
        return reader, writer

    async def ask(self, path: str = "/healthz") -> int:
        """Return the status of the answer."""
        reader, writer = await self.connect()
        writer.write(request(self.here, path))
        head = await reader.readuntil(b"\r\n\r\n")
        return int(head.split(b" ")[1])

    def leave(self) -> None:
        for writer in self._open:
            writer.close()
        self._open.clear()


@pytest.fixture(autouse=True)
def _many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4 * MANY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * MANY), hard))


@asynccontextmanager
async def callers(tmp_path: Path) -> AsyncIterator[Callers]:
    async with http_door(tmp_path) as here:
        await here.client.get("/healthz")  # loads what answers, and keeps one place
        many = Callers(here)
        try:
            yield many
        finally:
            many.leave()


@pytest.mark.slow
async def test_more_requests_at_once_than_places_are_all_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reception, "PLACES", MANY // 2)
    monkeypatch.setattr(reception, "CROWD", MANY // 4)
    # On a busy machine, no place may become free for longer than callers wait in reality.
    monkeypatch.setattr(reception, "PATIENCE_SECONDS", 60.0)
    async with callers(tmp_path) as many, await many.here.house.client() as agent:
        # One in ten wants the longest reply there is.
        paths = ["/openapi.json", *["/healthz"] * 9] * (MANY // 10)
        asking = asyncio.gather(*map(many.ask, paths))
        await turn()
        await answer_of(agent.call(ops.Ping()))  # who comes by the socket is served meanwhile
        assert not asking.done()
        assert set(await asking) == {200}


async def test_idle_connections_do_not_keep_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reception, "PLACES", 4)
    monkeypatch.setattr(reception, "CROWD", 2)
    async with callers(tmp_path) as many:
        for _ in range(20):
            assert await answer_of(many.ask("/openapi.json")) == 200


async def test_a_connection_that_waited_long_for_a_place_is_answered_503(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reception, "PLACES", 3)
    monkeypatch.setattr(reception, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(reception, "EXTRA", 1)
    async with callers(tmp_path) as many:
        await many.here.session("work")
        streams = [await answer_of(many.ask("/session/work/events")) for _ in range(2)]
        assert streams == [200, 200]
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", many.here.port)
            writer.write(request(many.here))
            said = (await answer_of(reader.read())).decode()
            writer.close()
            assert said.startswith("HTTP/1.1 503 ")
            assert "retry-after: " in said.lower()
            assert json.loads(said.partition("\r\n\r\n")[2])["code"] == "TIMEOUT"
        many.leave()
        while await answer_of(many.ask()) == 503:
            pass


async def test_silent_connections_of_this_user_give_their_places_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reception, "PLACES", 3)
    async with callers(tmp_path) as many:
        monkeypatch.setattr(connection, "HELLO_SECONDS", 0.1)
        for _ in range(9):
            await many.connect()
        assert await answer_of(many.ask()) == 200


async def test_without_descriptors_no_connection_is_accepted_until_some_are_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reception, "AGAIN_SECONDS", 0.01)

    class Full(socket.socket):
        tries = 0

        def accept(self) -> tuple[socket.socket, object]:
            self.tries += 1
            if self.tries < 3:
                raise OSError(24, "Too many open files")
            return super().accept()

    came = []

    class Guest(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            came.append(transport)
            transport.close()

    listening = Full()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    listening.setblocking(False)
    here = Reception(listening, lambda *_: Guest())
    here.open()
    _, writer = await asyncio.open_connection(*listening.getsockname())
    await until(lambda: came)
    writer.close()
    await here.aclose()


@needs_another_user
async def test_another_user_is_refused_with_or_without_a_token(tmp_path: Path) -> None:
    async with callers(tmp_path) as many:
        for path in ("/healthz", "/openapi.json"):
            text = request(many.here, path).decode()
            program = [sys.executable, "-c", ASK, str(many.here.port), text]
            child = await asyncio.create_subprocess_exec(*program, stdout=subprocess.PIPE)
            out, _ = await answer_of(child.communicate())
            assert (child.returncode, out.strip()) in ((0, b"403"), (0, b"nothing"))


@pytest.mark.slow
@needs_another_user
async def test_a_flood_by_another_user_costs_this_user_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reception, "PLACES", 8)
    monkeypatch.setattr(reception, "CROWD", 4)
    async with callers(tmp_path) as many:
        flood = await asyncio.create_subprocess_exec(
            sys.executable, "-c", FLOOD, str(many.here.port),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert flood.stdout is not None
            await answer_of(flood.stdout.readline())
            for _ in range(2 * reception.PLACES):
                assert await answer_of(many.ask()) == 200
            assert flood.returncode is None
        finally:
            with suppress(ProcessLookupError):
                flood.kill()
            await flood.communicate()
