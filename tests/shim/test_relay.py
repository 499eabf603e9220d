"""The relay between a client and brokers that restart. No I/O: lines in, lines out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roost.errors import Timeout
from roost.local.deadline import Deadline
from roost.shim.lines import TooLong
from roost.shim.relay import INVALID_REQUEST, PARSE_ERROR, SIGN_SECONDS, TRIES, Relay
from roost.vocabulary import CALL_SECONDS

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
        self.now = 0.0
        self.relay = Relay(deadline=lambda seconds: Deadline(seconds, lambda: self.now))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.relay.check()

    def client_says(self, *messages: object) -> None:
        for message in messages:
            self.relay.from_client(json.dumps(message).encode())

    def broker_says(self, *messages: object) -> None:
        for message in messages:
            self.relay.from_broker(json.dumps(message).encode())

    def connect(self, software: str = "1", *, pings: bool = True, note: str | None = None) -> None:
        self.relay.connected(software, answers_pings=pings, note=note)

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
    """Return a client that has completed the handshake with a broker."""
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


def test_requests_before_the_broker_connects_are_sent_once_it_does() -> None:
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


def test_an_unanswered_handshake_is_sent_to_the_next_broker() -> None:
    wire = Wire()
    wire.connect()
    wire.client_says(INITIALIZE)
    wire.heard_by_broker()

    wire.relay.lost()
    wire.connect()
    assert wire.heard_by_broker() == [{"repeat": INITIALIZE}]
    wire.broker_says(answer(0))

    assert wire.heard_by_client() == [answer(0)]


def test_only_requests_that_were_sent_before_are_marked_as_repeated(wire: Wire) -> None:
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


def text_of(told: dict[str, Any]) -> str:
    return str(told["result"]["content"][0]["text"])


def test_a_request_that_outlives_several_brokers_is_given_up(wire: Wire) -> None:
    """The request may be what kills the brokers."""
    wire.client_says(call(1, "browser_snapshot"))
    for _ in range(TRIES - 1):
        wire.relay.lost()
        wire.connect()
    assert wire.heard_by_client() == []

    wire.relay.lost()
    wire.connect()

    (told,) = wire.heard_by_client()
    assert told["id"] == 1
    assert text_of(told).startswith("INTERRUPTED: ")
    assert not wire.relay.waits


def test_without_a_broker_everybody_who_waits_is_told_why(wire: Wire) -> None:
    wire.client_says(call(1))
    wire.relay.lost()
    wire.client_says(call(2), {"jsonrpc": "2.0", "id": 3, "method": "tools/list"})

    wire.relay.give_up(Timeout("No broker answers."))

    sent, unsent, listing = wire.heard_by_client()
    assert sent["result"]["isError"] is True
    assert text_of(sent).startswith("INTERRUPTED: ")
    assert listing["error"]["data"]["code"] == "TIMEOUT"
    first, second = text_of(unsent).split("\n")
    assert first == "TIMEOUT: No broker answers."
    assert second.startswith("hint: ")
    assert "structuredContent" not in unsent["result"]
    assert not wire.relay.waits


def test_another_release_of_the_broker_may_have_other_tools(wire: Wire) -> None:
    wire.relay.lost()
    wire.connect("2")

    assert wire.heard_by_client() == [
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    ]


def test_a_restart_of_the_same_release_sends_no_notice_of_changed_tools(wire: Wire) -> None:
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
def test_malformed_lines_of_a_broker_are_not_passed_on(wire: Wire, line: bytes) -> None:
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


def test_blank_lines_are_ignored(wire: Wire) -> None:
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


# --- a broker that is silent ---------------------------------------------------------------------


def code_of(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"]).partition(":")[0]


@pytest.mark.parametrize("pings", [True, False], ids=["asked", "of an older release"])
def test_a_call_is_answered_for_a_broker_that_gives_no_sign_of_life(pings: bool) -> None:
    wire = Wire()
    wire.connect(pings=pings)
    wire.client_says(call(1))
    assert wire.heard_by_broker() == [call(1)]
    wire.wait(CALL_SECONDS - 0.1)
    assert wire.heard_by_broker() == []
    wire.wait(0.1)
    assert wire.heard_by_broker() == ([{"ping": True}] if pings else [])
    assert wire.relay.patience == SIGN_SECONDS
    wire.wait(SIGN_SECONDS - 0.1)
    assert wire.heard_by_client() == []
    wire.wait(0.2)
    (told,) = wire.heard_by_client()
    assert (told["id"], code_of(told)) == (1, "TIMEOUT")
    assert not wire.relay.waits
    wire.broker_says(answer(1))
    assert wire.heard_by_client() == [], "what comes too late is dropped"


@pytest.mark.parametrize("sign", [{"pong": True}, answer(9)], ids=["a pong", "any answer"])
def test_a_broker_that_works_answers_itself_however_late(sign: dict[str, Any]) -> None:
    wire = Wire()
    wire.connect()
    wire.client_says(call(1))
    for _ in range(5):
        wire.wait(CALL_SECONDS)
        assert {"ping": True} in wire.heard_by_broker() or wire.now == CALL_SECONDS
        wire.broker_says(sign)
        wire.wait(SIGN_SECONDS - 0.1)
    assert wire.heard_by_client() == []
    wire.broker_says(answer(1))
    assert wire.heard_by_client() == [answer(1)]


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        ({"time": 60}, 60),
        ({"waitSeconds": 2.5}, 2.5),
        ({"timeout": 60_000}, 60),
        ({"timeout": "x"}, 0),
    ],
)
def test_a_call_that_asks_to_wait_has_its_deadline_that_much_later(
    arguments: dict[str, Any], more: float
) -> None:
    wire = Wire()
    wire.connect()
    wire.client_says(call(1, **arguments))
    assert wire.relay.patience == CALL_SECONDS + more


def test_calls_that_no_broker_can_be_reached_for_are_answered_at_their_deadline() -> None:
    wire = Wire()
    wire.connect()
    wire.client_says(call(1), call(2, time=60))
    wire.relay.lost()
    assert wire.relay.patience == CALL_SECONDS
    wire.wait(CALL_SECONDS)
    wire.relay.check()
    (told,) = wire.heard_by_client()
    assert (told["id"], code_of(told)) == (1, "TIMEOUT")
    assert wire.relay.patience == 60, "the other call has more time"


def test_without_waiting_calls_there_is_no_deadline() -> None:
    wire = Wire()
    wire.connect()
    assert wire.relay.patience is None
    wire.client_says(call(1))
    wire.relay.lost()
    wire.wait(CALL_SECONDS)
    assert wire.relay.patience is None
    assert wire.heard_by_broker() == []


# --- a broker of another release -----------------------------------------------------------------


def test_the_first_answer_to_a_call_carries_the_one_time_notice() -> None:
    wire = Wire()
    wire.connect(note="The broker is older.")
    text = {"content": [{"type": "text", "text": "done"}]}
    wire.client_says({"jsonrpc": "2.0", "id": 0, "method": "ping"}, call(1), call(2))
    wire.broker_says(answer(0), {**answer(1), "result": text}, {**answer(2), "result": text})
    plain, noted, again = wire.heard_by_client()
    assert plain == answer(0)
    assert [part["text"] for part in noted["result"]["content"]] == [
        "done",
        "note: The broker is older.",
    ]
    assert again["result"] == text


def test_a_line_of_very_many_values_is_answered_and_not_passed_on(wire: Wire) -> None:
    wire.client_says(call(9, values=[[]] * 100_000))
    (refused,) = wire.heard_by_client()
    assert (refused["id"], refused["error"]["data"]["code"]) == (9, "TOO_LARGE")
    assert wire.heard_by_broker() == []
    wire.client_says(call(10, text="[,{" * 100_000))
    assert [message["id"] for message in wire.heard_by_broker()] == [10]
