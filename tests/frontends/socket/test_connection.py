"""One peer on the socket: bad input is refused with an error, and other peers are not affected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.frontends.socket import connection
from roost.frontends.socket.connection import MESSAGES_A_TURN, Connection
from roost.local import processes
from roost.testing.faults import Peer
from roost.testing.house import FakeHouse, HeldPageDriver, fake_house
from roost.testing.waits import answer_of, until
from roost.vocabulary import AGENT_FRAME_BYTES, GRACE_SECONDS, MIB

URL = "https://site.test/"
NEVER = "() => new Promise(() => {})"


def deep(levels: int) -> bytes:
    return b'{"op":' + b"[" * levels + b"]" * levels + b"}\n"


@dataclass(frozen=True)
class Bad:
    """A message of a peer, and the error code it gets before the connection is closed."""

    name: str
    sent: bytes
    code: str


BEFORE_HELLO = [
    Bad("garbage", b"\xff\xfe\x00garbage\n", "BAD_REQUEST"),
    Bad("text", b"GET / HTTP/1.1\r\n", "BAD_REQUEST"),
    Bad("half a character", b'{"a": "\xc3"}\n', "BAD_REQUEST"),
    Bad("no object", b"[1, 2]\n", "BAD_REQUEST"),
    Bad("a number", b"7\n", "BAD_REQUEST"),
    Bad("deep", deep(40_000), "BAD_REQUEST"),
    Bad("many values", b"[%s1]\n" % (b"[]," * 100_000), "TOO_LARGE"),
    Bad("infinity", b'{"hello": 1e999}\n', "BAD_REQUEST"),
    Bad("no hello", b'{"op": "ping", "id": 1}\n', "UNAUTHORIZED"),
    Bad("hello of a wrong type", b'{"hello": []}\n', "BAD_REQUEST"),
    Bad("empty hello", b'{"hello": {}}\n', "BAD_REQUEST"),
    Bad("no token", b'{"hello": {"versions": [1]}}\n', "BAD_REQUEST"),
    Bad("wrong token", b'{"hello": {"versions": [1], "token": "guess"}}\n', "UNAUTHORIZED"),
    Bad("token of a wrong type", b'{"hello": {"versions": [1], "token": 1}}\n', "BAD_REQUEST"),
    Bad("no version", b'{"hello": {"versions": [], "token": "x"}}\n', "BAD_REQUEST"),
    Bad("other version", b'{"hello": {"versions": [9], "token": "x"}}\n', "BAD_REQUEST"),
    Bad("too large", b"x" * (AGENT_FRAME_BYTES + 1), "TOO_LARGE"),
]
AFTER_HELLO = [
    Bad("garbage", b"\x00\x01\x02\n", "BAD_REQUEST"),
    Bad("no object", b'"ping"\n', "BAD_REQUEST"),
    Bad("no verb", b"{}\n", "BAD_REQUEST"),
    Bad("no id", b'{"op": "ping"}\n', "BAD_REQUEST"),
    Bad("id true", b'{"op": "ping", "id": true}\n', "BAD_REQUEST"),
    Bad("id list", b'{"op": "ping", "id": []}\n', "BAD_REQUEST"),
    Bad("deep", deep(40_000), "BAD_REQUEST"),
    Bad("many values", b"[%s1]\n" % (b"[]," * 100_000), "TOO_LARGE"),
    Bad("watch of a wrong type", b'{"watch": 7}\n', "BAD_REQUEST"),
    Bad("too large", b'{"op": "' + b"x" * AGENT_FRAME_BYTES, "TOO_LARGE"),
]
BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("unknown operation", {"op": "browser_fly"}, "BAD_REQUEST"),
    ("operation of a wrong type", {"op": {"x": 1}}, "BAD_REQUEST"),
    ("no argument", {"op": "browser_navigate", "args": {}}, "BAD_REQUEST"),
    ("arguments of a wrong type", {"op": "ping", "args": [1]}, "BAD_REQUEST"),
    ("arguments null", {"op": "ping", "args": None}, "BAD_REQUEST"),
    ("argument nobody knows", {"op": "ping", "args": {"agent": "agent_0"}}, "BAD_REQUEST"),
    ("argument of a wrong type", {"op": "browser_navigate", "args": {"url": 1}}, "BAD_REQUEST"),
    ("timeout of a wrong type", {"op": "ping", "timeoutMs": "1"}, "BAD_REQUEST"),
    ("timeout true", {"op": "ping", "timeoutMs": True}, "BAD_REQUEST"),
    ("timeout below zero", {"op": "ping", "timeoutMs": -1}, "BAD_REQUEST"),
    ("timeout too long", {"op": "ping", "timeoutMs": 1e12}, "BAD_REQUEST"),
    ("half a surrogate pair", {"op": "browser_close", "args": {"tab": "\ud800"}}, "BAD_REQUEST"),
    ("the person's own", {"op": "broker_stop"}, "UNAUTHORIZED"),
    ("no such tab", {"op": "browser_close", "args": {"tab": "t1"}}, "TAB_GONE"),
]


@pytest.mark.parametrize("bad", BEFORE_HELLO, ids=lambda bad: bad.name)
async def test_a_stranger_that_talks_nonsense_is_told_so_and_cut_off(
    bad: Bad, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        other = house.admit()
        peer = await Peer.dial(house.home)
        peer.write(bad.sent)
        said = await peer.hear_the_end()
        assert [message["error"]["code"] for message in said] == [bad.code]
        assert said[0]["error"]["hint"]
        assert list(house.state.agents) == [other.agent]
        await other.api.call(ops.Navigate(url=URL))
        await peer.close()


@pytest.mark.parametrize("bad", AFTER_HELLO, ids=lambda bad: bad.name)
async def test_an_agent_that_talks_nonsense_is_cut_off_and_nobody_else(
    bad: Bad, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        peer, other = await Peer.admitted(house), await Peer.admitted(house)
        assert "ok" in await other.call("browser_navigate", url=URL)
        peer.write(bad.sent)
        said = await peer.hear_the_end()
        assert [m["error"]["code"] for m in said if "error" in m] == [bad.code]
        assert (await other.call("browser_evaluate", function="() => 7"))["ok"]["value"] == 7
        # It may come back within the grace: nonsense is not a goodbye.
        assert len(house.state.agents) == 2
        await peer.close()
        await other.close()


@pytest.mark.parametrize(("name", "call", "code"), BAD_CALLS, ids=lambda row: str(row)[:40])
async def test_a_bad_call_is_answered_and_the_connection_goes_on(
    name: str, call: dict[str, Any], code: str, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        peer.say(id=1, **call)
        answer = await peer.hear()
        assert (answer["id"], answer["error"]["code"]) == (1, code)
        assert "\ud800" not in str(answer)
        assert (await peer.call("ping"))["ok"] == {}
        await peer.close()


async def test_half_frames_are_put_together(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        line = json.dumps({"id": "☃", "op": "ping"}, ensure_ascii=False).encode() + b"\r\n"
        for byte in line:
            peer.write(bytes([byte]))
            await peer.writer.drain()
        assert (await peer.hear())["id"] == "☃"
        peer.write(b'{"id": 2, "op": "pi')  # and one that never comes to its end
        await peer.close()
        await until(lambda: not any(agent.connected for agent in house.state.agents.values()))


async def test_another_user_is_refused_by_the_kernels_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        stranger = processes.Peer(uid=12345, pid=1)
        monkeypatch.setattr(connection, "peer_of", lambda _: stranger)
        peer = await Peer.dial(house.home)
        peer.say(hello=house.hello().to_wire())
        assert (await peer.hear_the_end())[0]["error"]["code"] == "UNAUTHORIZED"
        assert not house.state.agents
        await peer.close()


async def test_a_peer_that_never_says_hello_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HELLO_SECONDS", 0.02)
    async with fake_house(tmp_path) as house:
        peer = await Peer.dial(house.home)
        assert (await peer.hear_the_end())[0]["error"]["code"] == "UNAUTHORIZED"
        await peer.close()


async def test_a_peer_that_has_said_hello_may_be_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HELLO_SECONDS", 0.02)
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        silent = await Peer.dial(house.home)
        await silent.hear_the_end()  # that much time has passed
        assert "ok" in await peer.call("ping")
        await peer.close()
        await silent.close()


# --- calls -------------------------------------------------------------------------------------


async def test_an_id_in_flight_is_not_used_twice(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        for _ in range(2):
            peer.say(id=1, op="browser_evaluate", args={"function": NEVER})
        said = await peer.hear_the_end()
        assert said[-1]["error"]["code"] == "BAD_REQUEST"
        assert said[-1]["error"]["field"] == "id"
        await peer.close()


async def test_an_id_may_be_used_again_once_it_is_answered(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        for _ in range(3):
            peer.say(id=1, op="ping")
            assert await peer.hear() == {"id": 1, "ok": {}}
        await peer.close()


async def test_replies_are_sent_as_soon_as_they_are_ready(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        peer.say(id="slow", op="browser_evaluate", args={"function": NEVER}, timeoutMs=30)
        peer.say(id="quick", op="ping")
        assert (await peer.hear())["id"] == "quick"
        late = await peer.hear()
        assert (late["id"], late["error"]["code"]) == ("slow", "TIMEOUT")
        await peer.close()


async def test_a_call_cancelled_in_the_same_breath_is_answered(tmp_path: Path) -> None:
    """The call and its cancel arrive in one chunk, so the call is cancelled before it begins."""
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        call = {"id": 1, "op": "browser_evaluate", "args": {"function": NEVER}}
        peer.write(json.dumps(call).encode() + b'\n{"cancel": 1}\n')
        answer = await peer.hear()
        assert (answer["id"], answer["error"]["code"]) == (1, "INTERRUPTED")
        peer.say(id=1, op="ping")  # the id is free again
        assert await peer.hear() == {"id": 1, "ok": {}}
        await peer.close()


async def test_a_running_call_is_cancelled_and_an_unknown_id_is_ignored(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        peer.say(id=1, op="browser_evaluate", args={"function": NEVER})
        assert "ok" in await peer.call("ping")
        for strange in (2, "x", None, [1], {"a": 1}, True, 1):
            peer.say(cancel=strange)
        answer = await peer.hear()
        assert (answer["id"], answer["error"]["code"]) == (1, "INTERRUPTED")
        assert "ok" in await peer.call("ping")
        assert len(house.broker.lanes) == 0
        await peer.close()


async def test_an_answer_that_cannot_be_sent_is_answered_otherwise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver returned something that is not JSON. This is a bug of Roost, and the call must
    still be answered."""
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)

        async def impossible(*_: object, **__: object) -> object:
            return object()

        monkeypatch.setattr(HeldPageDriver, "evaluate", impossible)
        answer = await peer.call("browser_evaluate", function="() => 1")
        assert answer["error"]["code"] == "INTERNAL"
        assert "browser_evaluate" in caplog.text
        assert "ok" in await peer.call("ping")
        await peer.close()


async def test_a_reply_above_the_limit_is_refused_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LINK_FRAME_BYTES", 4096)
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        answer = await peer.call("browser_evaluate", function=f'() => "{"x" * 5000}"')
        assert (answer["id"], answer["error"]["code"]) == ("browser_evaluate", "TOO_LARGE")
        assert (await peer.call("ping"))["ok"] == {}
        await peer.close()


# --- floods ------------------------------------------------------------------------------------


async def test_a_flood_of_calls_is_answered_and_others_go_on(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        flood, other = await Peer.admitted(house), await Peer.admitted(house)
        count = 5_000
        flood.write(b"".join(b'{"id":%d,"op":"ping"}\n' % n for n in range(count)))
        assert "ok" in await answer_of(other.call("browser_navigate", url=URL))
        ids = [(await flood.hear())["id"] for _ in range(count)]
        assert ids == list(range(count))
        await flood.close()
        await other.close()


async def test_many_messages_of_one_peer_are_handled_in_several_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, hear = list[int](), Connection._hear

    def counted(self: Connection) -> None:
        waiting = len(self._unheard)
        hear(self)
        heard.append(waiting - len(self._unheard))

    monkeypatch.setattr(Connection, "_hear", counted)
    async with fake_house(tmp_path) as house:
        flood = await Peer.admitted(house)
        count = 10 * MESSAGES_A_TURN
        flood.write(b"".join(b'{"id":%d,"op":"ping"}\n' % n for n in range(count)))
        flood.say(goodbye=True)
        ids = [(await flood.hear())["id"] for _ in range(count)]
        assert ids == list(range(count))
        await flood.close()
    assert max(heard) == MESSAGES_A_TURN


async def test_calls_that_wait_hold_back_the_ones_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker does not read more than a limited number, to protect its memory."""
    monkeypatch.setattr(connection, "CALLS_IN_FLIGHT", 4)
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        for number in range(4):
            peer.say(id=number, op="browser_evaluate", args={"function": NEVER}, timeoutMs=50)
            await peer.writer.drain()
        await until(lambda: len(tasks_named("browser_evaluate")) == 4)
        peer.say(id="later", op="ping")
        answers = [await peer.hear() for _ in range(5)]
        assert "later" in {answer["id"] for answer in answers}
        assert answers[0]["error"]["code"] == "TIMEOUT"
        await peer.close()


def tasks_named(name: str) -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == name]


async def test_the_broker_stops_reading_from_a_peer_that_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        deaf, other = await Peer.admitted(house), await Peer.admitted(house)
        assert "ok" in await deaf.call("browser_navigate", url=URL)
        answered = answers_of_a_megabyte(monkeypatch)
        transport = deaf.writer.transport
        transport.pause_reading()  # type: ignore[attr-defined]
        wide = "() => 1" + " " * 200_000  # one call fills a read: they do not come all at once
        for number in range(100):
            deaf.say(id=number, op="browser_evaluate", args={"function": wide})
        for _ in range(50):
            assert "ok" in await other.call("ping")
        assert 0 < len(answered) < 20
        transport.resume_reading()  # type: ignore[attr-defined]
        assert [(await deaf.hear())["id"] for _ in range(100)] == list(range(100))
        await deaf.close()
        await other.close()


async def test_a_peer_with_too_many_unread_replies_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "UNREAD_BYTES", 4 * MIB)
    async with fake_house(tmp_path) as house:
        deaf, other = await Peer.admitted(house), await Peer.admitted(house)
        assert "ok" in await deaf.call("browser_navigate", url=URL)
        answers_of_a_megabyte(monkeypatch)
        deaf.writer.transport.pause_reading()  # type: ignore[attr-defined]
        for number in range(50):
            deaf.say(id=number, op="browser_evaluate", args={"function": "() => 1"})
        await until(lambda: not connected(house, 0))
        assert "ok" in await other.call("ping")
        deaf.writer.transport.abort()
        await other.close()


def answers_of_a_megabyte(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every script return a megabyte. Yield the scripts that have run."""
    answered: list[str] = []

    async def big(*_: object, **__: object) -> str:
        answered.append("x" * MIB)
        return answered[-1]

    monkeypatch.setattr(HeldPageDriver, "evaluate", big)
    return answered


def connected(house: FakeHouse, number: int) -> bool:
    return list(house.state.agents.values())[number].connected


# --- events ------------------------------------------------------------------------------------


async def test_watching_again_replaces_the_watch_before_it(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        listening = len(house.broker.watchers._listening)
        peer.write(b'{"watch": null}\n' * 10)  # in one chunk: most never get to begin
        assert "ok" in await peer.call("ping")
        assert len(house.broker.watchers._listening) == listening
        peer.say(id=1, op="browser_navigate", args={"url": URL})
        async with asyncio.timeout(5):
            lines = [json.loads(await peer.reader.readline()) for _ in range(2)]
        assert [sorted(line) for line in lines] == [["event"], ["id", "ok"]]
        await peer.close()
        await until(lambda: not house.broker.watchers._listening)


async def test_watching_a_session_that_is_not_ones_own_is_refused_and_ends_nothing(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        peer, other = await Peer.admitted(house), house.admit()
        peer.say(watch=str(other.welcome.session))
        assert (await peer.hear())["error"]["code"] == "SESSION_GONE"
        assert "ok" in await peer.call("browser_navigate", url=URL)
        await peer.close()


# --- coming and going --------------------------------------------------------------------------


async def test_a_lost_connection_frees_what_its_calls_held(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        peer.say(id=1, op="browser_evaluate", args={"function": NEVER})
        assert "ok" in await peer.call("ping")
        peer.writer.transport.abort()
        await until(lambda: not connected(house, 0))
        await until(lambda: len(house.broker.lanes) == 0)
        house.clock.advance(GRACE_SECONDS)
        assert not house.state.agents
        await until(lambda: not house.browser.pages)


async def test_a_goodbye_ends_the_agent_at_once(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await peer.call("browser_navigate", url=URL)
        peer.say(goodbye=True)
        assert await peer.hear_the_end() == []
        await until(lambda: not house.state.agents)
        await peer.close()


async def test_a_resumed_agent_outlives_the_connection_it_gave_up(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        old = await Peer.dial(house.home)
        old.say(hello=house.hello().to_wire())
        secret = (await old.hear())["welcome"]["secret"]
        new = await Peer.admitted(house, resume=secret)
        assert await old.hear_the_end() == []
        house.clock.advance(GRACE_SECONDS)
        assert "ok" in await new.call("browser_navigate", url=URL)
        assert connected(house, 0)
        await old.close()
        await new.close()


async def test_the_end_of_the_broker_is_announced(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        await house.socket.aclose()
        assert (await peer.hear_the_end())[-1] == {"stopping": True}
        await peer.close()


def test_every_bad_input_of_the_tables_has_its_own_name() -> None:
    tables: list[Callable[[], list[str]]] = [
        lambda: [bad.name for bad in BEFORE_HELLO],
        lambda: [bad.name for bad in AFTER_HELLO],
        lambda: [name for name, _, _ in BAD_CALLS],
    ]
    for table in tables:
        assert len(set(table())) == len(table())
