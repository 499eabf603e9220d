from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest

from roost.api import operations as ops
from roost.errors import Unauthorized
from roost.frontends.socket import server
from roost.frontends.socket.server import STRANGERS, SocketServer
from roost.local.endpoint import read_endpoint
from roost.local.home import socket_path
from roost.testing.faults import Peer
from roost.testing.house import FakeHouse, fake_house
from roost.testing.waits import answer_of, until

URL = "https://site.test/"


def path_of(house: FakeHouse) -> Path:
    return socket_path(house.home)


def lies_there(path: Path) -> bool:
    return os.path.lexists(path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


async def test_the_socket_is_ours_alone_in_a_folder_that_is_ours_alone(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        async with fake_house(tmp_path) as house:
            path = path_of(house)
            assert (mode(path), mode(path.parent)) == (0o600, 0o700)
            assert path.lstat().st_uid == path.parent.lstat().st_uid == os.getuid()
        assert os.umask(0) == 0  # it was only borrowed
    finally:
        os.umask(umask)


async def test_a_dead_brokers_socket_is_no_obstacle(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        path = path_of(house)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with fake_house(tmp_path) as house:
        peer = await Peer.admitted(house)
        assert "ok" in await peer.call("ping")
        await peer.close()


@pytest.mark.parametrize("what", ["file", "link", "folder"])
async def test_nothing_but_a_socket_is_replaced(what: str, tmp_path: Path) -> None:
    async with fake_house(tmp_path / "home") as house:
        path = tmp_path / "socket"
        target = tmp_path / "precious"
        target.write_text("x", encoding="utf-8")
        if what == "file":
            path.write_text("x", encoding="utf-8")
        elif what == "link":
            path.symlink_to(target)
        else:
            path.mkdir()
        with pytest.raises(Unauthorized) as refusal:
            await SocketServer(house.door, path).start()
        assert "rm" in refusal.value.hint
        assert target.read_text(encoding="utf-8") == "x"
        assert lies_there(path)


async def test_a_closed_server_leaves_no_socket_and_may_be_closed_again(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        await house.socket.aclose()
        assert not lies_there(path_of(house))
        await house.socket.aclose()
        await SocketServer(house.door, tmp_path / "never").aclose()


async def test_a_thousand_silent_connections_disturb_nobody(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = await Peer.admitted(house)
        assert "ok" in await agent.call("browser_navigate", url=URL)
        silent = [await answer_of(Peer.dial(house.home)) for _ in range(1000)]
        for number in range(20):
            answer = await agent.call("browser_evaluate", function=f"() => {number}")
            assert answer["ok"]["value"] == number
        await until(lambda: len(house.socket._connections) == STRANGERS + 1)
        newcomer = await Peer.admitted(house)  # there is still room at the door
        assert "ok" in await newcomer.call("ping")
        # The oldest made way, without a word; the newest may still say hello.
        assert await silent[0].hear_the_end() == []
        silent[-1].say(hello=house.hello().to_wire())
        assert "welcome" in await silent[-1].hear()
        for peer in (agent, newcomer, *silent):
            await peer.close()


async def test_a_burst_that_arrives_in_one_go_is_cut_down_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are accepted before the first of them has a transport that could be closed."""
    monkeypatch.setattr(server, "STRANGERS", 5)
    async with fake_house(tmp_path) as house:
        endpoint = read_endpoint(house.home)
        assert endpoint is not None
        burst = [socket.socket(socket.AF_UNIX) for _ in range(100)]
        for sock in burst:
            sock.setblocking(False)
            sock.connect(str(endpoint.socket))  # into the backlog; the loop has not turned yet
        agent = await Peer.admitted(house)
        await until(lambda: len(house.socket._connections) <= 5 + 1)
        assert "ok" in await agent.call("ping")
        for sock in burst:
            sock.close()
        await agent.close()


async def test_agents_are_never_cut_off_for_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STRANGERS", 2)
    async with fake_house(tmp_path) as house:
        agents = [await Peer.admitted(house) for _ in range(10)]
        silent = [await Peer.dial(house.home) for _ in range(10)]
        await until(lambda: len(house.socket._connections) == 10 + 2)
        for agent in agents:
            assert "ok" in await agent.call("ping")
        for peer in (*agents, *silent):
            await peer.close()


async def test_sixteen_connections_with_many_calls_each_all_get_their_own(tmp_path: Path) -> None:
    async with fake_house(tmp_path, pool=0) as house:
        clients = [await house.client() for _ in range(16)]

        async def work(number: int) -> list[object]:
            client = clients[number]
            await client.call(ops.Navigate(url=f"https://site.test/{number}"))
            calls = (client.call(ops.Evaluate(function="() => location.href")) for _ in range(20))
            return [view.value for view in await asyncio.gather(*calls)]

        answers = await answer_of(asyncio.gather(*(work(number) for number in range(16))))
        for number, values in enumerate(answers):
            assert set(values) == {f"https://site.test/{number}"}
        for client in clients:
            await client.aclose()


async def test_a_socket_that_was_removed_is_bound_again_and_connections_stay(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        agent = await Peer.admitted(house)
        assert house.socket.is_bound()
        path_of(house).unlink()
        assert not house.socket.is_bound()
        await house.socket.start()
        assert house.socket.is_bound()
        newcomer = await Peer.admitted(house)
        for peer in (agent, newcomer):
            assert "ok" in await peer.call("ping")
            await peer.close()


async def test_a_server_that_closes_leaves_anothers_socket_alone(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        path = path_of(house)
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            await house.socket.aclose()
            assert lies_there(path)
        path.unlink()


async def test_where_descriptors_run_out_the_longest_silent_makes_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_house(tmp_path) as house:
        agent = await Peer.admitted(house)
        silent = await Peer.dial(house.home)
        await until(lambda: len(house.socket._connections) == 2)
        monkeypatch.setattr(server, "SILENT_SECONDS", 0)
        monkeypatch.setattr("roost.frontends.socket.server.resource.getrlimit", lambda _: (8, 8))
        newcomer = await Peer.admitted(house)
        assert await silent.hear_the_end() == []
        for peer in (agent, newcomer):
            assert "ok" in await peer.call("ping")
        for peer in (agent, newcomer, silent):
            await peer.close()
