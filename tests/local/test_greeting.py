"""Saying hello to a broker on a connected socket (roost.local.greeting)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from roost.errors import BadRequest, Unauthorized
from roost.local import greeting
from roost.local.greeting import greet
from roost.wire.hello import ClientKind, Hello

HELLO = Hello(token="t", kind=ClientKind.CLI)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, brokers = socket.socketpair()
    with ours, brokers:
        yield ours, brokers


def answers(broker: socket.socket, message: object) -> None:
    broker.sendall(json.dumps(message).encode() + b"\n")


def test_the_hello_is_sent_and_the_welcome_returned(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, broker = ends
    answers(broker, {"welcome": {"version": 1, "agent": "operator"}})
    assert greet(ours, HELLO).agent == "operator"
    assert json.loads(broker.recv(65536)) == {"hello": HELLO.to_wire()}


def test_a_refusal_is_raised_and_other_messages_are_no_welcome(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, broker = ends
    answers(broker, {"error": Unauthorized("No.").to_wire()})
    with pytest.raises(Unauthorized):
        greet(ours, HELLO)
    answers(broker, ["welcome"])
    with pytest.raises(BadRequest):
        greet(ours, HELLO)


def test_a_missing_or_silent_broker_does_not_block_forever(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, broker = ends
    monkeypatch.setattr(greeting, "HELLO_SECONDS", 0.05)
    with pytest.raises(TimeoutError):
        greet(ours, HELLO)
    broker.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError):
        greet(ours, HELLO)
