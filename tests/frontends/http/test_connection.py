"""A peer that has shown no token gets only some seconds and a small request head."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from roost.frontends.http import bodies, connection
from roost.testing.waits import answer_of
from tests.frontends.http.http_callers import HttpDoor, http_door

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(here: HttpDoor) -> Peer:
    return await asyncio.open_connection("127.0.0.1", here.port)


async def is_cut_off(peer: Peer) -> bool:
    reader, writer = peer
    try:
        rest = await answer_of(reader.read())
    except ConnectionResetError:
        rest = b""
    writer.close()
    return not rest


def asking(here: HttpDoor, *lines: str) -> bytes:
    head = ["GET /healthz HTTP/1.1", f"Host: 127.0.0.1:{here.port}", *lines, "", ""]
    return "\r\n".join(head).encode()


async def test_a_connection_that_shows_no_token_in_time_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_door(tmp_path) as here:
        await here.client.get("/healthz")
        monkeypatch.setattr(connection, "HELLO_SECONDS", 0.05)
        silent, halting, busy = [await connected(here) for _ in range(3)]
        halting[1].write(b"GET /healthz HTTP/1.1\r\nHost:")
        busy[1].write(asking(here))
        await answer_of(busy[0].readuntil(b"true}"))
        for peer in (silent, halting, busy):
            assert await is_cut_off(peer)


async def test_a_connection_that_has_shown_a_token_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_door(tmp_path) as here:
        await here.client.get("/healthz")
        monkeypatch.setattr(connection, "HELLO_SECONDS", 0.05)
        reader, writer = await connected(here)
        headers = f"Authorization: Bearer {here.operator.token}"
        writer.write(asking(here, headers).replace(b"/healthz", b"/nothing"))
        await answer_of(reader.readuntil(b"}"))
        assert await is_cut_off(await connected(here))  # a stranger's time is over meanwhile
        writer.write(asking(here))
        await answer_of(reader.readuntil(b'{"ok":true}'))
        writer.close()


async def test_a_request_that_came_is_answered_however_late_its_turn_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time to show a token ends in the turn of the loop in which the request is read."""
    original = connection.Connection.on_headers_complete

    def and_late(self: connection.Connection) -> None:
        original(self)
        self._late()

    monkeypatch.setattr(connection.Connection, "on_headers_complete", and_late)
    async with http_door(tmp_path) as here:
        answer = await here.raw(asking(here, "Connection: close"))
        assert answer.status == 200


async def test_a_body_that_does_not_come_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.05)
    async with http_door(tmp_path) as here:
        lines = (f"Authorization: Bearer {here.operator.token}", "Content-Length: 9")
        head = asking(here, *lines).replace(b"GET /healthz", b"POST /session")
        answer = await here.raw(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n{"))
        assert (answer.status, json.loads(answer.body)["code"]) == (408, "TIMEOUT")


async def test_a_head_without_end_is_cut_off(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        for endless in (
            b"GET /healthz HTTP/1.1\r\nX-Fill: " + b"x" * 70_000,
            b"GET /healthz HTTP/1.1\r\n" + b"X-Fill: x\r\n" * 7_000,
            b"GET /" + b"x" * 70_000,
        ):
            answer = await here.raw(endless)
            assert (answer.status, json.loads(answer.body)["code"]) == (431, "TOO_LARGE")


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00\r\n\r\n", b"HELLO\r\n\r\n", b"\0" * 64])
async def test_bytes_that_are_no_http_request_are_answered_with_an_error_object(
    garbage: bytes, tmp_path: Path
) -> None:
    async with http_door(tmp_path) as here:
        answer = await here.raw(garbage)
        error = json.loads(answer.body)
        assert (answer.status, error["code"], error["field"]) == (400, "BAD_REQUEST", "request")
        assert error["hint"]


async def test_requests_sent_ahead_are_answered_in_order(tmp_path: Path) -> None:
    async with http_door(tmp_path) as here:
        token = f"Authorization: Bearer {here.operator.token}"
        many = asking(here, token) + asking(here).replace(b"/healthz", b"/openapi.json")
        answer = await here.raw(many + asking(here, token, "Connection: close"))
        assert answer.status == 200
        assert [line for line in answer.body.split(b"\r\n") if line.startswith(b"HTTP/1.1")] == []
        assert answer.body.count(b"HTTP/1.1 401") == 1
        assert answer.body.index(b"HTTP/1.1 401") < answer.body.rindex(b"HTTP/1.1 200")
