"""The Stop hook as Claude Code runs it: under ``sh -c``, JSON on stdin, servers under a wrapper."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home
from roost.local.processes import Process
from tests.hook.clients import SOURCE, WRAPPER, coding_client, stop_input
from tests.support.house import broker_of, real_home

PROMPT = "Make the tests pass.\nThen say so."
pytestmark = pytest.mark.slow
LOOP: dict[str, Any] = {"prompt": PROMPT, "maxIterations": 3}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Return one Roost for all tests. Each test starts its own clients."""
    with real_home(tmp_path_factory.mktemp("roost")) as home:
        yield home


@pytest.fixture
def empty_home(tmp_path: Path) -> Iterator[Home]:
    with real_home(tmp_path / "roost") as home:
        yield home


def transcript(folder: Path, *messages: str) -> str:
    lines = [
        {"type": "assistant", "message": {"id": str(n), "content": [{"type": "text", "text": m}]}}
        for n, m in enumerate(messages)
    ]
    file = folder / "transcript.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(file)


def hook(home: Home, given: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run the hook below a program without a server of Roost."""
    environ = {"ROOST_HOME": os.fspath(home.path), "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", WRAPPER, "-m", "roost", "hook", "stop"]
    return subprocess.run(command, input=given, env=environ, capture_output=True, timeout=30)


def allowed(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_stop_hook_blocks_only_the_session_that_has_a_loop(home: Home) -> None:
    with coding_client(home, {"loop": LOOP}) as looping, coding_client(home, {}) as other:
        assert other.stops() is None
        assert looping.stops() == {
            "decision": "block",
            "reason": PROMPT,
            "systemMessage": "Roost focus loop: iteration 1/3",
        }
        assert other.stops() is None
        held = looping.stops({"stop_hook_active": True})
        assert held is not None
        assert held["systemMessage"].endswith("iteration 2/3"), "others took none of its turns"


def test_roost_hook_stop_runs_the_stop_hook(home: Home) -> None:
    """Within its second, that is: on a busy machine not at every try."""
    loop = {"prompt": PROMPT, "maxIterations": 0}
    with coding_client(home, {"loop": loop}, hook="-m roost hook stop") as client:
        held = next(filter(None, (client.stops() for _ in range(10))))
        assert held["reason"] == PROMPT


def test_each_of_two_loops_goes_on_with_its_own_prompt(home: Home) -> None:
    with (
        coding_client(home, {"loop": {"prompt": "one", "maxIterations": 0}}) as one,
        coding_client(home, {"loop": {"prompt": "two"}}) as two,
    ):
        held = [client.stops() for client in (one, two, one)]
    assert [h and (h["reason"], h["systemMessage"].partition(": ")[2]) for h in held] == [
        ("one", "iteration 1 (no limit)"),
        ("two", "iteration 1/20"),
        ("one", "iteration 2 (no limit)"),
    ]


def test_a_client_without_roost_is_never_blocked_by_another_clients_loop(home: Home) -> None:
    """Both clients have this test as their ancestor, like two clients in one terminal."""
    with coding_client(home, {"loop": LOOP}) as looping, coding_client(home) as bare:
        assert bare.stops() is None
        assert looping.stops() is not None


def test_two_servers_of_one_client_are_told_apart_by_the_session_id(home: Home) -> None:
    servers: list[dict[str, Any]] = [
        {"environ": {"CLAUDE_CODE_SESSION_ID": "s-1"}, "loop": LOOP},
        {"environ": {"CLAUDE_CODE_SESSION_ID": "s-2"}},
    ]
    with coding_client(home, *servers) as client:
        assert client.stops({"session_id": "s-2"}) is None
        assert client.stops({"session_id": "s-1"}) is not None
        assert client.stops({"session_id": "another"}) is None


def test_a_hook_without_a_known_ancestor_is_matched_by_its_session_id(home: Home) -> None:
    with coding_client(home, {"environ": {"CLAUDE_CODE_SESSION_ID": "s-3"}, "loop": LOOP}):
        assert allowed(hook(home, json.dumps(stop_input(session_id="s-4")).encode()))
        done = hook(home, json.dumps(stop_input(session_id="s-3")).encode())
        assert json.loads(done.stdout)["decision"] == "block"


@pytest.mark.parametrize(
    "said", ["So.\n<promise>All  tests pass</promise>", "all tests PASS, I am done"]
)
def test_the_phrase_in_the_last_message_lets_the_agent_stop(
    said: str, home: Home, tmp_path: Path
) -> None:
    with coding_client(home, {"loop": {**LOOP, "completionPhrase": "all tests pass"}}) as client:
        assert client.stops({"transcript_path": transcript(tmp_path, said, "not yet")})
        assert client.stops({"transcript_path": transcript(tmp_path, "not yet", said)}) is None
        assert client.stops() is None, "the loop has ended"


def test_the_phrase_counts_also_where_the_transcript_is_not_written_yet(home: Home) -> None:
    with coding_client(home, {"loop": {**LOOP, "completionPhrase": "DONE"}}) as client:
        assert client.stops({"last_assistant_message": "Not abandoned."})
        assert client.stops({"last_assistant_message": "DONE."}) is None


def test_the_iteration_limit_lets_the_agent_stop(home: Home) -> None:
    with coding_client(home, {"loop": LOOP}) as client:
        assert [client.stops() is not None for _ in range(5)] == [True, True, True, False, False]


def test_malformed_input_blocks_nobody(home: Home) -> None:
    with coding_client(home, {"loop": LOOP}) as client:
        for given in ("", "{", "[]", "null", '"x"', "\ufeff\0", "9" * 99, "[" * 9999):
            assert client.stops(given) is None, given
        assert client.stops('{"session_id": 7, "transcript_path": 7}') is not None


def test_without_a_broker_the_agent_stops_and_none_is_started(empty_home: Home) -> None:
    assert allowed(hook(empty_home, json.dumps(stop_input()).encode()))
    assert broker_of(empty_home) is None


def test_a_broker_that_does_not_answer_is_not_waited_for(empty_home: Home, tmp_path: Path) -> None:
    empty_home.operator_token()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "s"))
        deaf.listen()
        me = Process(os.getpid(), "now")
        write_endpoint(empty_home, Endpoint(tmp_path / "s", me, "0", 1))
        assert allowed(hook(empty_home, json.dumps(stop_input()).encode()))
        empty_home.endpoint.unlink()


def test_a_pipe_that_stays_open_is_not_waited_for(empty_home: Home) -> None:
    environ = {"ROOST_HOME": os.fspath(empty_home.path), "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "roost", "hook", "stop"]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        assert process.wait(30) == 0
