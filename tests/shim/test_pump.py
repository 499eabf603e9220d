"""``roost mcp`` as a process: real pipes and signals, with a scripted broker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.shim import broker_connection, pump
from roost.vocabulary import AGENT_FRAME_BYTES
from tests.shim.stand_in_broker import Shim, StandInBroker, shim, stand_in_broker

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[StandInBroker]:
    with stand_in_broker(tmp_path / "home") as made:
        yield made


@pytest.fixture
def agent(broker: StandInBroker) -> Iterator[Shim]:
    with shim(broker.home) as made:
        yield made


def test_the_shim_says_hello_with_the_clients_first_message(
    broker: StandInBroker, agent: Shim
) -> None:
    named = {**PING, "params": {"clientInfo": {"name": "tester"}}}
    agent.hears(named)
    peer = broker.let_in()

    assert peer.says() == named
    (hello,) = broker.hellos
    assert hello.name == f"tester · {os.path.basename(os.getcwd())}"
    assert hello.cwd == os.getcwd()
    peer.hears(PONG)
    assert agent.says() == PONG


def test_a_broker_of_another_release_is_told_about_once(broker: StandInBroker, agent: Shim) -> None:
    call = {**PING, "method": "tools/call", "params": {"name": "browser_tabs"}}
    agent.hears(call)
    first = broker.let_in(software="0.0.1")
    assert first.says() == call
    first.hears({**PONG, "result": {"content": []}})
    (note,) = agent.says()["result"]["content"]
    assert "0.0.1" in note["text"]

    first.close()
    again = broker.let_in(software="0.0.1")
    agent.hears({**call, "id": 2})
    assert again.says() == {**call, "id": 2}
    again.hears({**PONG, "id": 2, "result": {"content": []}})
    assert agent.says()["result"]["content"] == []

    agent.process.terminate()
    assert agent.ends() == 0
    assert agent.complains().count("`roost stop && roost up`") == 1


@pytest.mark.parametrize("number", pump.SIGNALS)
def test_a_signal_ends_the_shim_with_a_goodbye(
    broker: StandInBroker, agent: Shim, number: signal.Signals
) -> None:
    agent.hears(PING)
    peer = broker.let_in()
    peer.says()

    agent.process.send_signal(number)

    assert peer.says() == {"goodbye": True}
    assert agent.ends() == 0
    assert agent.complains() == ""


def test_a_signal_ends_the_shim_even_while_it_waits_for_the_welcome(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.hears(PING)
    peer = broker.at_the_door()

    agent.process.terminate()

    assert peer.says() is None
    assert agent.ends() == 0
    assert agent.complains() == ""


def test_a_client_that_does_not_read_can_still_speak(broker: StandInBroker, agent: Shim) -> None:
    agent.hears(PING)
    peer = broker.let_in()
    peer.says()
    notice = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"x": "y" * 100_000}}
    peer.hears(*[notice] * 50)

    agent.hears({**PING, "id": 2})

    assert peer.says() == {**PING, "id": 2}
    assert [agent.says() for _ in range(50)] == [notice] * 50


def test_the_end_of_stdin_ends_the_shim_with_a_goodbye(broker: StandInBroker, agent: Shim) -> None:
    agent.hears(PING)
    peer = broker.let_in()
    peer.says()
    peer.hears(PONG)
    assert agent.says() == PONG

    agent.stdin.close()

    assert peer.says() == {"goodbye": True}
    assert agent.ends() == 0


def test_calls_under_way_when_stdin_ends_are_still_answered(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.hears(PING)
    agent.stdin.close()
    peer = broker.let_in()
    assert peer.says() == PING

    peer.hears(PONG)

    assert agent.says() == PONG
    assert peer.says() == {"goodbye": True}
    assert agent.ends() == 0


def test_a_client_that_is_gone_is_not_waited_for(broker: StandInBroker, agent: Shim) -> None:
    agent.hears(PING)
    peer = broker.let_in()
    peer.says()

    agent.stdin.close()
    agent.stdout.close()

    assert peer.says() == {"goodbye": True}
    assert agent.ends() == 0


def test_a_lost_connection_is_resumed_and_what_was_under_way_repeated(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.hears(PING)
    first = broker.let_in(secret="agent_x.secret")
    first.says()
    first.close()

    second = broker.let_in()

    assert broker.hellos[1].resume == "agent_x.secret"
    assert second.says() == {"repeat": PING}
    second.hears(PONG)
    assert agent.says() == PONG


def test_an_agent_that_has_ended_meanwhile_begins_anew(broker: StandInBroker, agent: Shim) -> None:
    agent.hears(PING)
    first = broker.let_in()
    first.says()
    first.close()
    refusal = {"code": "UNAUTHORIZED", "message": "resume: that agent has ended.", "hint": "x"}
    broker.at_the_door().hears({"error": refusal})

    second = broker.let_in()

    assert broker.hellos[-1].resume is None
    assert second.says() == {"repeat": PING}


def test_a_broker_that_was_stopped_is_brought_back_only_by_a_request(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.hears(PING)
    first = broker.let_in()
    first.says()
    first.hears({"stopping": True})
    first.close()

    told = agent.says()
    assert told["error"]["data"]["code"] == "INTERRUPTED"
    assert len(broker.hellos) == 1
    agent.hears({**PING, "id": 2})
    second = broker.let_in()
    assert second.says() == {**PING, "id": 2}


def test_the_reason_of_a_refused_hello_reaches_client_and_person(
    broker: StandInBroker, agent: Shim
) -> None:
    refusal = {"code": "BAD_REQUEST", "message": "tools: no tool x.", "hint": "Give core."}
    agent.hears(PING)
    broker.at_the_door().hears({"error": refusal})

    told = agent.says()

    assert told["id"] == 1
    assert told["error"]["data"] == refusal
    agent.stdin.close()
    assert agent.ends() == 0
    assert "BAD_REQUEST: tools: no tool x." in agent.complains()


def test_garbage_is_answered_and_the_next_message_passes(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.stdin.write(b"\xff\x00nonsense\n")
    agent.hears(["batch"], PING)
    peer = broker.let_in()

    assert [agent.says()["error"]["code"] for _ in range(2)] == [-32700, -32600]
    assert peer.says() == PING


def test_a_message_too_large_is_answered_and_the_next_one_passes(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.hears({**PING, "params": {"x": "y" * AGENT_FRAME_BYTES}})
    told = agent.says()
    assert told["id"] == 1
    assert told["error"]["data"]["code"] == "TOO_LARGE"

    agent.hears({**PING, "id": 2})
    assert broker.let_in().says() == {**PING, "id": 2}


def test_large_messages_pass_whole_in_both_directions(broker: StandInBroker, agent: Shim) -> None:
    large = {**PING, "params": {"x": "é" * 500_000}}
    answer = {**PONG, "result": {"x": "ü" * 1_000_000}}
    agent.hears(large)
    peer = broker.let_in()

    assert peer.says() == large
    peer.hears(answer)
    assert agent.says() == answer


def test_a_broker_that_closes_at_once_again_and_again_is_not_called_without_end(
    broker: StandInBroker, agent: Shim
) -> None:
    agent.hears(PING)
    for _ in range(pump.TRIES):
        peer = broker.let_in()
        peer.says()
        peer.close()

    told = agent.says()

    assert told["error"]["data"]["code"] == "INTERRUPTED"


def test_usage_is_told_on_stderr_and_stdout_stays_empty(tmp_path: Path) -> None:
    from roost.local.home import Home

    with shim(Home(tmp_path / "home"), "--jar=mine") as wrong:
        assert wrong.says() is None
        assert wrong.ends() == 2
        assert "--jar" in wrong.complains()


def test_names_of_agents_are_bounded() -> None:
    assert len(broker_connection.agent_name("x" * 1000, "/y")) == broker_connection.NAME_CHARS
