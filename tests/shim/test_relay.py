"""What passes between a client and brokers that come and go. No I/O: lines in, lines out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost.errors import Timeout
from roost.shim.lines import TooLong
from roost.shim.relay import INVALID_REQUEST, PARSE_ERROR, TRIES, Relay

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "clientInfo": {"name": "tester", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(request: int | str, tool: str = "browser_click", **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}


def answer(request: int | str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request, "result": {}}


class Wire:
    """A relay with messages instead of lines."""

    def __init__(self) -> None:
        self.relay = Relay()

    def client_says(self, *messages: object) -> None:
        for message in messages:
            self.relay.from_client(json.dumps(message).encode())

    def broker_says(self, *messages: object) -> None:
        for message in messages:
            self.relay.from_broker(json.dumps(message).encode())

    def connect(self, software: str = "1") -> None:
        self.relay.connected(software)

    def heard_by_client(self) -> list[Any]:
        return _taken(self.relay.to_client)

    def heard_by_broker(self) -> list[Any]:
        return _taken(self.relay.to_broker)


def _taken(lines: list[bytes]) -> list[Any]:
    taken = [json.loads(line) for line in lines]
    lines.clear()
    return taken


@pytest.fixture
def wire() -> Wire:
    """A client that has shaken hands with a broker."""
    made = Wire()
    made.connect()
    made.client_says(INITIALIZE)
    made.broker_says(answer(0))
    made.client_says(INITIALIZED)
    assert made.heard_by_broker() == [INITIALIZE, INITIALIZED]
    assert made.heard_by_client() == [answer(0)]
    return made


def test_messages_pass_both_ways_as_they_are(wire: Wire) -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    wire.client_says(call(1))
    assert wire.relay.waits
    wire.broker_says(progress, answer(1))

    assert wire.heard_by_broker() == [call(1)]
    assert wire.heard_by_client() == [progress, answer(1)]
    assert not wire.relay.waits


def test_what_the_client_asks_before_there_is_a_broker_is_said_when_there_is_one() -> None:
    wire = Wire()
    wire.client_says(INITIALIZE)
    assert wire.heard_by_broker() == []
    assert wire.relay.waits

    wire.connect()

    assert wire.heard_by_broker() == [INITIALIZE]


def test_a_new_broker_is_told_the_handshake_and_the_client_hears_no_second_answer(
    wire: Wire,
) -> None:
    wire.relay.lost()
    wire.connect()

    again, initialized = wire.heard_by_broker()
    assert again == {**INITIALIZE, "id": again["id"]}
    assert initialized == INITIALIZED
    wire.broker_says(answer(again["id"]))
    assert wire.heard_by_client() == []


def test_a_handshake_under_way_is_simply_said_again() -> None:
    wire = Wire()
    wire.connect()
    wire.client_says(INITIALIZE)
    wire.heard_by_broker()

    wire.relay.lost()
    wire.connect()
    assert wire.heard_by_broker() == [{"repeat": INITIALIZE}]
    wire.broker_says(answer(0))

    assert wire.heard_by_client() == [answer(0)]


def test_what_was_under_way_is_marked_as_a_repetition_and_what_was_not_is_not(wire: Wire) -> None:
    wire.client_says(call(1), call("two"))
    wire.broker_says(answer(1))
    wire.relay.lost()
    wire.client_says(call(3))
    wire.heard_by_broker()

    wire.connect()

    assert wire.heard_by_broker()[2:] == [{"repeat": call("two")}, call(3)]


def test_what_the_client_has_cancelled_is_not_repeated(wire: Wire) -> None:
    cancelled = {
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
    }  # fmt: skip
    wire.client_says(call(1), cancelled)
    assert wire.heard_by_broker() == [call(1), cancelled]
    assert not wire.relay.waits

    wire.relay.lost()
    wire.connect()

    assert len(wire.heard_by_broker()) == 2  # the handshake


def test_a_request_that_outlives_several_brokers_is_given_up(wire: Wire) -> None:
    """It may be what kills them."""
    wire.client_says(call(1, "browser_snapshot"))
    for _ in range(TRIES - 1):
        wire.relay.lost()
        wire.connect()
    assert wire.heard_by_client() == []

    wire.relay.lost()
    wire.connect()

    (told,) = wire.heard_by_client()
    assert told["id"] == 1
    assert told["result"]["structuredContent"]["code"] == "INTERRUPTED"
    assert not wire.relay.waits


def test_without_a_broker_everybody_who_waits_is_told_why(wire: Wire) -> None:
    wire.client_says(call(1))
    wire.relay.lost()
    wire.client_says(call(2), {"jsonrpc": "2.0", "id": 3, "method": "tools/list"})

    wire.relay.give_up(Timeout("No broker answers."))

    sent, unsent, listing = wire.heard_by_client()
    assert sent["result"]["isError"] is True
    assert sent["result"]["structuredContent"]["code"] == "INTERRUPTED"
    assert unsent["result"]["structuredContent"]["code"] == "TIMEOUT"
    assert listing["error"]["data"]["code"] == "TIMEOUT"
    text = unsent["result"]["content"][0]["text"]
    first, second, third = text.split("\n")
    assert first == "TIMEOUT: No broker answers."
    assert second.startswith("hint: ")
    assert json.loads(third) == unsent["result"]["structuredContent"]
    assert not wire.relay.waits


def test_another_release_of_the_broker_may_have_other_tools(wire: Wire) -> None:
    wire.relay.lost()
    wire.connect("2")

    assert wire.heard_by_client() == [
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    ]


def test_the_same_release_after_a_restart_is_not_worth_a_word(wire: Wire) -> None:
    wire.relay.lost()
    wire.connect("1")

    assert wire.heard_by_client() == []


def test_a_broker_that_is_stopped_says_so_and_the_client_does_not_hear_it(wire: Wire) -> None:
    wire.broker_says({"stopping": True})

    assert wire.relay.was_stopped
    assert wire.heard_by_client() == []
    wire.relay.lost()
    wire.connect()
    assert not wire.relay.was_stopped


@pytest.mark.parametrize("line", [b"{", b"7", b"[]", b"null", b"\xff"])
def test_what_no_broker_says_is_not_passed_on(wire: Wire, line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever: the connection is given up
        wire.relay.from_broker(line)

    assert wire.heard_by_client() == []


@pytest.mark.parametrize("line", [b"{", b"\xff", b"nonsense", b"[" * 100_000])
def test_what_is_not_json_is_answered_and_goes_no_further(wire: Wire, line: bytes) -> None:
    wire.relay.from_client(line)

    (told,) = wire.heard_by_client()
    assert told["error"]["code"] == PARSE_ERROR
    assert told["id"] is None
    assert wire.heard_by_broker() == []


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        ([], None),
        ("x", None),
        (None, None),
        ([call(1)], None),
        ({"goodbye": True}, None),
        ({"repeat": call(1)}, None),
        ({"id": 5, "method": "ping"}, 5),
        ({"jsonrpc": "1.0", "id": True, "method": "ping"}, None),
    ],
)
def test_what_is_no_json_rpc_is_answered_and_goes_no_further(
    wire: Wire, message: object, request_id: int | None
) -> None:
    wire.client_says(message)

    (told,) = wire.heard_by_client()
    assert told["error"]["code"] == INVALID_REQUEST
    assert told["id"] == request_id
    assert wire.heard_by_broker() == []


def test_blank_lines_are_nothing(wire: Wire) -> None:
    wire.relay.from_client(b"")
    wire.relay.from_client(b" \r")

    assert wire.heard_by_client() == wire.heard_by_broker() == []


def test_a_line_too_long_is_answered_to_whoever_sent_it(wire: Wire) -> None:
    wire.relay.from_client(TooLong(11_000_000, b'{"jsonrpc":"2.0","id":8,"method"', b"}"))

    (told,) = wire.heard_by_client()
    assert told["id"] == 8
    assert told["error"]["data"]["code"] == "TOO_LARGE"


@pytest.mark.parametrize(
    "params",
    [
        {"clientInfo": {"name": "tester"}},
        {"_meta": {"io.modelcontextprotocol/clientInfo": {"name": "tester"}}},
    ],
)
def test_the_client_is_known_by_the_name_it_gives_itself(params: dict[str, Any]) -> None:
    wire = Wire()
    wire.client_says({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params})
    wire.client_says({"jsonrpc": "2.0", "id": 2, "method": "m", "params": {}})

    assert wire.relay.client_name == "tester"


@pytest.mark.parametrize("params", [None, [], {"clientInfo": 1}, {"clientInfo": {"name": 1}}])
def test_a_client_without_a_name_has_none(params: object) -> None:
    wire = Wire()
    wire.client_says({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})

    assert wire.relay.client_name is None
