"""The host holds the session of a Firefox's remote agent for the broker (roost.host.remote)."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from roost.host import remote as remotes
from roost.host.remote import Remote


class FakeRelay:
    """The relay and the broker behind it."""

    def __init__(self) -> None:
        self.said: list[tuple[str, Any]] = []
        self.attended: dict[int, Callable[[], None]] = {}

    def say(self, word: str, what: Any) -> None:
        self.said.append((word, what))

    def pass_word(self, word: str, written: bytes) -> None:
        self.said.append((word, json.loads(written)))

    def attend(self, descriptor: int, work: Callable[[], None]) -> None:
        self.attended[descriptor] = work

    def forsake(self, descriptor: int) -> None:
        del self.attended[descriptor]

    def turn(self) -> None:
        for descriptor, work in list(self.attended.items()):
            os.set_blocking(descriptor, True)  # so that it waits for what must come
            work()
            if descriptor in self.attended:
                os.set_blocking(descriptor, False)


class Firefox:
    """A remote agent that gives out one session and records its commands."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.is_taken = False
        self.is_asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.over = threading.Event()

    def __call__(self, connection: ServerConnection) -> None:
        try:
            for text in connection:
                self._answer(connection, json.loads(text))
        except ConnectionClosed:
            pass
        self.over.set()

    def _answer(self, connection: ServerConnection, command: dict[str, Any]) -> None:
        self.heard.append(command)
        self.is_asked.set()
        assert self.may_answer.wait(10)
        answer = {"type": "success", "id": command["id"], "result": {"of": command["method"]}}
        if command["method"] == "session.new" and self.is_taken:
            answer |= {"type": "error", "message": "Maximum number of active sessions"}
        elif command["method"] == "hang.up":
            connection.close()
            return
        connection.send(json.dumps(answer))


@contextmanager
def listening(firefox: Firefox) -> Iterator[int]:
    with serve(firefox, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join(10)


@pytest.fixture
def firefox() -> Firefox:
    return Firefox()


@pytest.fixture
def relay(firefox: Firefox, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRelay]:
    with listening(firefox) as port:
        monkeypatch.setattr(remotes, "remote_port", lambda pid: port)
        yield FakeRelay()


def served(relay: FakeRelay) -> Remote:
    remote = Remote(os.getpid())
    remote.serve(relay)  # type: ignore[arg-type]
    return remote


def opened(relay: FakeRelay) -> Remote:
    remote = served(relay)
    remote.said("remote", "open")
    relay.turn()
    return remote


def test_the_remote_session_opens_on_request_and_carries_commands_and_answers(
    firefox: Firefox, relay: FakeRelay
) -> None:
    remote = served(relay)
    remote.said("note", {"for": "somebody else"})
    remote.said("remote", {"id": 7, "method": "too.early", "params": {}})
    assert firefox.heard == [], "nobody has asked for it yet"
    remote.said("remote", "open")
    relay.turn()
    assert relay.said == [("remote", {"opened": True})]
    capabilities = firefox.heard[0]["params"]["capabilities"]["alwaysMatch"]
    assert capabilities == {"unhandledPromptBehavior": {"default": "ignore"}}, "they are not ours"
    remote.said("remote", {"id": 7, "method": "input.it", "params": {"é": "ü"}})
    relay.turn()
    answer = {"type": "success", "id": 7, "result": {"of": "input.it"}}
    assert relay.said[1:] == [("remote", answer)]
    assert firefox.heard[-1]["params"] == {"é": "ü"}
    remote.close()


def test_the_remote_session_is_ended_explicitly_so_that_another_client_can_open_one(
    firefox: Firefox, relay: FakeRelay
) -> None:
    remote = opened(relay)
    remote.close()
    remote.close()
    assert firefox.over.wait(10)
    assert [command["method"] for command in firefox.heard] == ["session.new", "session.end"]
    assert relay.attended == {}


def test_opening_the_session_does_not_block_and_a_late_session_is_ended(
    firefox: Firefox, relay: FakeRelay
) -> None:
    firefox.may_answer.clear()
    remote = served(relay)
    remote.said("remote", "open")
    assert firefox.is_asked.wait(10)
    remote.close()
    assert relay.said == []
    assert relay.attended == {}
    firefox.may_answer.set()
    assert firefox.over.wait(10)
    remote.said("remote", "open")
    while not relay.said:
        relay.turn()
    assert relay.said == [("remote", {"opened": True})]
    asked = [command["method"] for command in firefox.heard]
    assert asked == ["session.new", "session.end", "session.new"]
    remote.close()


def test_a_session_that_another_client_holds_is_refused_and_left_alone(
    firefox: Firefox, relay: FakeRelay
) -> None:
    firefox.is_taken = True
    remote = opened(relay)
    ((_, answer),) = relay.said
    assert "Maximum number of active sessions" in answer["refused"]
    assert firefox.over.wait(10)
    assert [command["method"] for command in firefox.heard] == ["session.new"]
    remote.close()


def test_a_firefox_that_does_not_listen_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remotes, "remote_port", lambda pid: None)
    relay = FakeRelay()
    opened(relay)
    ((_, answer),) = relay.said
    assert "refused" in answer


def test_a_remote_agent_that_hangs_up_is_reported_and_can_be_opened_again(
    firefox: Firefox, relay: FakeRelay
) -> None:
    remote = opened(relay)
    remote.said("remote", {"id": 2, "method": "hang.up", "params": {}})
    while relay.attended:
        relay.turn()
    assert relay.said[-1] == ("remote", {"closed": True})
    remote.said("remote", "open")
    relay.turn()
    assert relay.said[-1] == ("remote", {"opened": True})
    remote.close()
