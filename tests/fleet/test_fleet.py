"""A gateway and two nodes with browsers in memory: sessions, strangers, losses."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roost.errors import BadRequest, Internal, Unauthorized
from roost.fleet.authority import Authority, certificate_request, client_context, node_host
from roost.fleet.config import GatewayConfig, fleet_folder
from roost.fleet.gateway import Gateway
from roost.fleet.local_broker import LocalBroker
from roost.fleet.membership import join, verified_authority
from roost.fleet.node_door import EPOCH, MISDIRECTED, SESSION
from roost.fleet.streams import Hangup, Stream, exchange
from roost.fleet.tokens import JoinToken
from roost.local.home import Home
from tests.fleet.fleet_house import Fleet, bearer, fleet_of, wait_for
from tests.support.house import real_home

pytestmark = pytest.mark.slow
URL = "https://shop.example/cart"


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Home]]:
    """Two machines. Their brokers are started once and serve all tests of this file."""
    folder = tmp_path_factory.mktemp("nodes")
    with real_home(folder / "a") as first, real_home(folder / "b") as second:
        yield first, second


async def test_a_user_works_in_sessions_on_any_machine(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    async with fleet_of(tmp_path, *homes) as fleet:
        ann = await fleet.user("ann")
        opened = [
            (await fleet.post("/session", ann, {"sessionId": name})).json() for name in "abcd"
        ]
        assert [each["sessionId"] for each in opened] == ["ann.a", "ann.b", "ann.c", "ann.d"]
        nodes = (await fleet.administer("status"))["nodes"]
        assert sorted(node["sessions"] for node in nodes) == [2, 2], "they are spread evenly"
        for each in opened:
            page = await fleet.call(each["sessionId"], ann, "browser_navigate", url=URL)
            assert page["url"] == URL
            own = await fleet.call(each["sessionId"], each["token"], "browser_tabs", action="list")
            assert [tab["url"] for tab in own["tabs"]] == [URL]
        again = (await fleet.post("/session", ann, {"sessionId": "a"})).json()
        assert again["token"] == opened[0]["token"]
        assert [tab["url"] for tab in again["tabs"]] == [URL]
        await _events_come_through(fleet, opened[0]["token"], ann)
        await _mcp_answers(fleet, opened[1]["token"])
        named = await fleet.post("/pages", ann, {"name": "docs", "url": URL, "sessionId": "c"})
        assert named.json()["sessionId"] == "ann.c"
        token = await fleet.call("c", ann, "session_token")
        assert token == {"session": "ann.c", "token": opened[2]["token"]}
        ended = await fleet.client.delete(f"{fleet.address}/session/a", headers=bearer(ann))
        assert ended.json() == {"disposed": "ann.a", "tabsClosed": 1}
        gone = await fleet.post("/session/a/tools/browser_tabs", opened[0]["token"])
        assert gone.status_code == 401


async def _events_come_through(fleet: Fleet, token: str, user: str) -> None:
    """Server-sent events arrive while they happen."""
    address = f"{fleet.address}/session/a/events"
    async with fleet.client.stream("GET", address, headers=bearer(token)) as events:
        lines = events.aiter_lines()
        assert (await anext(lines)).startswith(":")
        await fleet.call("a", user, "browser_tabs", action="new", url=URL)
        await fleet.call("a", user, "browser_close")
        async with asyncio.timeout(20):
            async for line in lines:
                if line.startswith("event:"):
                    break


async def _mcp_answers(fleet: Fleet, token: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = await fleet.post(
        "/mcp", token, message, {"accept": "application/json, text/event-stream"}
    )
    assert answer.status_code == 200
    assert "browser_navigate" in answer.text


async def test_another_users_session_answers_as_if_it_did_not_exist(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    async with fleet_of(tmp_path, *homes) as fleet:
        ann, eve = await fleet.user("ann"), await fleet.user("eve")
        opened = (await fleet.post("/session", ann, {"sessionId": "secret"})).json()
        own = (await fleet.post("/session", eve, {"sessionId": "mine"})).json()

        async def attempts(name: str) -> list[tuple[int, str]]:
            found = []
            for token in (eve, own["token"]):
                for path in (
                    f"/session/{name}/tools/browser_tabs",
                    f"/session/{name}/tools/session_token",
                    f"/session/{name}/heartbeat",
                ):
                    answer = await fleet.post(path, token)
                    found.append((answer.status_code, answer.text.replace(name, "NAME")))
                answer = await fleet.post("/mcp", token, {}, {"X-DevBrowser-Session": name})
                found.append((answer.status_code, answer.text.replace(name, "NAME")))
                answer = await fleet.post("/pages", token, {"name": "x", "sessionId": name})
                found.append((answer.status_code, answer.text.replace(name, "NAME")))
                gone = await fleet.client.delete(
                    f"{fleet.address}/session/{name}", headers=bearer(token)
                )
                found.append((gone.status_code, gone.text.replace(name, "NAME")))
            return found

        absent = await attempts("ann.absent")
        assert await attempts("ann.secret") == absent
        assert {status for status, _ in absent} == {404}
        listed = await fleet.client.get(f"{fleet.address}/fleet/sessions", headers=bearer(eve))
        assert [each["id"] for each in listed.json()["sessions"]] == ["eve.mine"]
        # The same name is another session for another user.
        other = (await fleet.post("/session", eve, {"sessionId": "secret"})).json()
        assert other["sessionId"] == "eve.secret"
        assert other["token"] != opened["token"]
        assert (await fleet.call("secret", ann, "browser_tabs", action="list"))["tabs"] == []
        # A session's token opens no sessions and does not work as a user token.
        assert (await fleet.post("/session", own["token"])).status_code == 403
        revoked = await fleet.administer("users/revoke", name="eve")
        assert revoked["sessionsEnded"] == 2
        for token in (eve, own["token"]):
            assert (await fleet.post("/session/mine/tools/browser_tabs", token)).status_code == 401
        await fleet.call("secret", ann, "browser_tabs", action="list")


async def _raw(fleet: Fleet, data: bytes) -> bytes:
    """Send bytes to the gateway, and return all that it answers before it closes."""
    config = fleet.gateway.config
    stream = await Stream.connect(
        config.host, config.port, client_context(fleet.folder / "ca.pem"), config.host
    )
    try:
        await stream.send(data)
        answer = bytearray()
        async with asyncio.timeout(20):
            while piece := await stream.reader.read(65536):
                answer += piece
        return bytes(answer)
    finally:
        await stream.aclose()


async def test_eight_agents_on_two_machines_read_nothing_of_each_other(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    """Every byte that an agent receives is searched for what the other agents wrote."""
    tools: list[tuple[str, dict[str, Any]]] = [
        ("browser_tabs", {"action": "list"}),
        ("browser_snapshot", {}),
        ("browser_network_requests", {}),
        ("browser_console_messages", {}),
        ("session_list", {}),
        ("session_show", {}),
        ("roost_status", {}),
    ]
    async with fleet_of(tmp_path, *homes) as fleet:
        users = [await fleet.user(f"user-{letter}") for letter in "abcd"]
        together = asyncio.Barrier(8)

        async def work(number: int) -> bytes:
            user, mark = users[number // 2], f"mark{number}x"
            received = []
            opened = await fleet.post("/session", user, {"sessionId": mark})
            received.append(opened.content)
            token = opened.json()["token"]
            for round in range(3):
                await together.wait()
                path = f"/session/{opened.json()['sessionId']}/tools"
                url = f"https://shop.example/{mark}/{round}"
                received.append(
                    (await fleet.post(f"{path}/browser_navigate", token, {"url": url})).content
                )
                for tool, arguments in tools:
                    received.append((await fleet.post(f"{path}/{tool}", token, arguments)).content)
            return b"\n".join(received)

        async with asyncio.TaskGroup() as group:
            running = [group.create_task(work(number)) for number in range(8)]
        nodes = (await fleet.administer("status"))["nodes"]
        assert all(node["sessions"] for node in nodes), "both machines have some"
        for number, done in enumerate(running):
            assert f"mark{number}x/2".encode() in done.result()
            strangers = [other for other in range(8) if other != number]
            found = [other for other in strangers if f"mark{other}x".encode() in done.result()]
            assert found == [], f"agent {number} read of {found}"


async def test_wrong_tokens_and_smuggled_requests_are_refused(
    tmp_path: Path, homes: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.fleet.streams.LINGER_SECONDS", 0.2)
    async with fleet_of(tmp_path, homes[0]) as fleet:
        ann = await fleet.user("ann")
        opened = (await fleet.post("/session", ann, {"sessionId": "a"})).json()
        for token in ("y", "x", ann[:-1], ann + "x", opened["token"][:-1]):
            for path in ("/session", "/session/a/tools/browser_tabs", "/mcp", "/fleet/sessions"):
                assert (await fleet.post(path, token)).status_code == 401
            assert (await fleet.post("/fleet/admin/status", token)).status_code == 401
            seen = await fleet.client.get(f"{fleet.address}/cdp/{token}/json/version")
            assert seen.status_code == 401
        for token in (ann, opened["token"]):
            assert (await fleet.post("/fleet/admin/status", token)).status_code == 401
        for header in (
            {"host": "evil.example"},
            {"origin": "https://evil.example"},
            {"origin": "null"},
        ):
            answer = await fleet.post("/session/a/tools/browser_tabs", ann, headers=header)
            assert answer.status_code == 403
        # Headers that the gateway itself uses towards nodes do not come from outside.
        forged = await fleet.post(
            "/session/a/heartbeat", ann, headers={"x-roost-session": "b", "x-roost-epoch": "99"}
        )
        assert forged.status_code == 200
        for path in ("/node/end", "/node/place", "/renew", "/leave", "/session/a/../../node/end"):
            assert (await fleet.post(path, ann)).status_code == 404
        await _smuggles_nothing(fleet, ann)
        big = await fleet.client.post(
            f"{fleet.address}/session", content=b"x" * (11 * 1024 * 1024), headers=bearer(ann)
        )
        assert big.status_code == 413


async def _smuggles_nothing(fleet: Fleet, token: str) -> None:
    host = fleet.address.removeprefix("https://")
    head = (
        f"POST /session/a/tools/browser_tabs HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Bearer {token}\r\n"
    ).encode()
    inner = f"DELETE /session/a HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    smuggled = inner.encode()
    for lines in (
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
        b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: 0\nX: y\r\n\r\n",
        b"Connection: close, content-length\r\nContent-Length: 2\r\n\r\n{}",
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n",
    ):
        answer = await _raw(fleet, head + lines + smuggled)
        assert answer.count(b"HTTP/1.1 ") == 1, answer
        assert b"disposed" not in answer
    assert await _raw(fleet, b"\x16\x03\x01 garbage\r\n\r\n")
    assert (await fleet.call("a", token, "browser_tabs", action="list"))["tabs"] == []


async def test_wrong_and_used_certificates_and_join_tokens_are_refused(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    async with fleet_of(tmp_path, homes[0]) as fleet:
        (machine,) = fleet.machines
        config, folder = fleet.gateway.config, fleet.folder
        node_folder = fleet_folder(machine.home)
        stranger = _stranger(tmp_path / "stranger")
        assert machine.node is not None
        door = (config.host, machine.node.port)
        control = (config.host, config.control_port)
        name = node_host(machine.config.id)
        for where, server, identity in (
            (door, name, None),
            (door, name, stranger),
            (door, name, node_folder / "node.pem"),  # a node may not act as the gateway
            (control, config.host, None),
            (control, config.host, stranger),
            (control, config.host, folder / "gateway.pem"),
        ):
            context = client_context(folder / "ca.pem", identity)
            assert await _is_turned_away(*where, context, server), (where, identity)
        # The gateway verifies which node it talks to.
        with pytest.raises(ssl.SSLError):
            await Stream.connect(*door, client_context(folder / "ca.pem"), node_host("other"))
        # A door does not answer for sessions that it was not given.
        gateway = client_context(folder / "ca.pem", folder / "gateway.pem")
        stream = await Stream.connect(*door, gateway, name)
        headers = [(b"host", b"node"), (SESSION, b"ann.a"), (EPOCH, b"1")]
        answer, _ = await exchange(
            stream, b"POST", b"/session/ann.a", headers, b"{}", limit=9999, timeout=20
        )
        assert answer.status == MISDIRECTED
        await stream.aclose()
        await _join_tokens_work_once(fleet, tmp_path)


async def _join_tokens_work_once(fleet: Fleet, tmp_path: Path) -> None:
    text = (await fleet.administer("invite"))["token"]
    token = JoinToken.parse(text)
    assert "secret" not in repr(token)
    other = fleet_folder(Home(tmp_path / "other"))
    with pytest.raises(Unauthorized, match="not the gateway"):
        await verified_authority(token.host, token.port, "A" * 43)
    wrong = JoinToken(token.host, token.port, token.fingerprint, "wrong")
    with pytest.raises(Unauthorized):
        await join(wrong, other, None, 0)
    await join(token, other, None, 0)
    with pytest.raises(Unauthorized, match="used already"):
        await join(token, other, None, 0)
    for wrong_text in ("", "roost-join:", "roost-join:????", "roost-join:W10", text[:-9]):
        with pytest.raises(BadRequest):
            JoinToken.parse(wrong_text)


def _stranger(folder: Path) -> Path:
    """Make a certificate of another authority that names the gateway's and a node's role."""
    folder.mkdir()
    authority = Authority.of(folder)
    authority.sign_gateway(folder, ["localhost"])
    key, request = certificate_request()
    assert authority.sign_node("x", request)
    assert key
    return folder / "gateway.pem"


async def _is_turned_away(host: str, port: int, context: ssl.SSLContext, name: str) -> bool:
    """Return whether the connection, or the first request on it, is refused without an answer."""
    try:
        stream = await Stream.connect(host, port, context, name)
    except OSError:
        return True
    try:
        await stream.send(b"POST /renew HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
        async with asyncio.timeout(20):
            return await stream.reader.read(1) == b""
    except (OSError, Hangup):
        return True
    finally:
        await stream.aclose()


async def test_sessions_of_a_lost_machine_come_back_on_another(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    async with fleet_of(tmp_path, *homes) as fleet:
        ann = await fleet.user("ann")
        for name in ("a", "b"):
            await fleet.post("/session", ann, {"sessionId": name})
            await fleet.call(name, ann, "browser_navigate", url=f"{URL}?{name}")
            await fleet.call(
                name, ann, "browser_cookies", action="set", name="who", value=name,
                domain="shop.example",
            )  # fmt: skip
        lost, kept = await fleet.owner("ann.a"), await fleet.owner("ann.b")
        assert lost is not kept
        await wait_for(lambda: _has_luggage(fleet, "ann.a", "who"))
        await lost.die()
        # The call waits for the session's new machine.
        tabs = await fleet.call("a", ann, "browser_tabs", action="list")
        assert [tab["url"] for tab in tabs["tabs"]] == [f"{URL}?a"]
        assert await fleet.owner("ann.a") is kept
        cookie = await fleet.call("a", ann, "browser_cookies", action="get", name="who")
        assert [each["value"] for each in cookie["cookies"]] == ["a"]
        stays = await fleet.call("b", ann, "browser_cookies", action="get", name="who")
        assert [each["value"] for each in stays["cookies"]] == ["b"]
        # The machine comes back: it closes what is no longer its own.
        await lost.start()
        await wait_for(lambda: _states(fleet, "ready", "ready"))
        await wait_for(lambda: _has_no_session(lost.home, "ann.a"))
        assert await fleet.owner("ann.a") is kept
        await fleet.call("a", ann, "browser_tabs", action="list")


async def _has_luggage(fleet: Fleet, session: str, text: str) -> bool:
    """Return whether the gateway has got what the session would need elsewhere."""
    luggage = fleet.gateway.sessions.luggage(session)
    return luggage is not None and text in str(luggage)


async def _states(fleet: Fleet, *states: str) -> bool:
    nodes = (await fleet.administer("status"))["nodes"]
    return sorted(node["state"] for node in nodes) == sorted(states)


async def _has_no_session(home: Home, session: str) -> bool:
    broker = LocalBroker(home)
    try:
        return session not in (await broker.look()).sessions
    finally:
        await broker.aclose()


async def test_a_drained_machine_gives_its_sessions_to_others_and_may_leave(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    async with fleet_of(tmp_path, *homes) as fleet:
        ann = await fleet.user("ann")
        for name in ("a", "b"):
            await fleet.post("/session", ann, {"sessionId": name})
            await fleet.call(name, ann, "browser_navigate", url=f"{URL}?{name}")
        left, stays = await fleet.owner("ann.a"), await fleet.owner("ann.b")
        await fleet.administer("drain", node=left.config.id)
        await wait_for(lambda: _is_at(fleet, "ann.a", stays.config.id))
        tabs = await fleet.call("a", ann, "browser_tabs", action="list")
        assert [tab["url"] for tab in tabs["tabs"]] == [f"{URL}?a"]
        await fleet.administer("remove", node=left.config.id)
        assert left.node is not None
        async with asyncio.timeout(20):
            await left.node.dismissed.wait()  # its certificate is no longer accepted
        assert len((await fleet.administer("status"))["nodes"]) == 1


async def _is_at(fleet: Fleet, session: str, node: str) -> bool:
    sessions = (await fleet.administer("status"))["sessions"]
    return any(each["id"] == session and each["node"] == node for each in sessions)


async def test_a_gateway_that_starts_again_knows_everything(
    tmp_path: Path, homes: tuple[Home, Home]
) -> None:
    async with fleet_of(tmp_path, *homes) as fleet:
        ann = await fleet.user("ann")
        opened = (await fleet.post("/session", ann, {"sessionId": "a"})).json()
        await fleet.call("a", ann, "browser_navigate", url=URL)
        before = (await fleet.administer("status"))["sessions"]
        await fleet.restart()
        tabs = await fleet.call("a", opened["token"], "browser_tabs", action="list")
        assert [tab["url"] for tab in tabs["tabs"]] == [URL]
        assert (await fleet.administer("status"))["sessions"] == before, "nothing has moved"


async def test_a_full_fleet_says_how_full_it_is(
    tmp_path: Path, homes: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.fleet.public_door.WAIT_SECONDS", 1.0)
    async with fleet_of(tmp_path, homes[0]) as fleet:
        ann = await fleet.user("ann")
        slots = (await fleet.administer("status"))["nodes"][0]["slots"]
        for number in range(slots):
            opened = await fleet.post("/session", ann, {"sessionId": f"s{number}"})
            assert opened.status_code == 200, opened.text
        full = await fleet.post("/session", ann, {"sessionId": "more"})
        assert full.status_code == 429
        error: dict[str, Any] = full.json()
        assert error["code"] == "POOL_FULL"
        assert error["fleet"] == {
            "nodes": 1, "usableNodes": 1, "slots": slots, "used": slots, "waiting": 0,
        }  # fmt: skip
        missing = await fleet.post("/session", ann, {"sessionId": "x", "profile": "none"})
        assert "No machine has the profile none" in missing.json()["hint"]
        # A session that ends makes room.
        await fleet.client.delete(f"{fleet.address}/session/s0", headers=bearer(ann))
        assert (await fleet.post("/session", ann, {"sessionId": "more"})).status_code == 200


async def test_a_journal_that_cannot_be_read_stops_the_gateway_and_stays(tmp_path: Path) -> None:
    folder = fleet_folder(Home(tmp_path / "home"))
    journal = folder / "registry.sqlite"
    journal.write_bytes(b"this is no database, but may be all that is left of one" * 100)
    before = journal.read_bytes()
    with pytest.raises(Internal, match="cannot be read") as caught:
        await Gateway(folder, GatewayConfig("127.0.0.1", 0, 0)).start()
    assert "backup" in caught.value.hint
    assert journal.read_bytes() == before
