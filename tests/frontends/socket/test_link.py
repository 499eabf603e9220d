"""A keeper's connection carries frames for a driver, not calls."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from roost.frontends.socket import link as socket_link
from roost.frontends.socket.link import SocketLink
from roost.testing.faults import Peer
from roost.testing.house import fake_house
from roost.testing.waits import until


class Ends:
    """A link, its other end, and the frames it delivered."""

    def __init__(self, link: SocketLink, far: socket.socket) -> None:
        self.link, self.far = link, far
        self.frames: list[bytes] = []
        self.ended = 0
        self.closed = 0

    def start(self) -> None:
        self.link.start(self.frames.append, self._end)

    def _end(self) -> None:
        self.ended += 1


async def linked() -> Ends:
    near, far = socket.socketpair()
    near.setblocking(False)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(asyncio.Protocol, sock=near)

    def count() -> None:
        ends.closed += 1

    link = SocketLink(transport, closed=count)
    ends = Ends(link, far)
    transport.set_protocol(link)
    return ends


async def test_frames_arrive_whole_in_order_and_early_ones_first() -> None:
    ends = await linked()
    ends.far.sendall(b"one\ntw")
    await until(lambda: ends.link._early)
    ends.start()
    ends.far.sendall(b"o\nthree\n")
    await until(lambda: len(ends.frames) == 3)
    assert ends.frames == [b"one", b"two", b"three"]
    ends.link.send(b"back")
    assert ends.far.recv(100) == b"back\n"
    ends.link.close()
    await until(lambda: ends.ended)
    ends.far.close()


async def test_the_end_is_told_once_also_to_who_starts_later() -> None:
    ends = await linked()
    ends.far.sendall(b"last words\n")
    ends.far.close()
    await until(lambda: ends.closed)
    ends.start()
    assert (ends.frames, ends.ended, ends.closed) == ([b"last words"], 1, 1)
    ends.link.send(b"into the void")  # no error: the end has been told


async def test_a_frame_above_the_limit_ends_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_link, "HANDOVER_BYTES", 10)
    ends = await linked()
    ends.start()
    ends.far.sendall(b"short\n" + b"x" * 11)
    await until(lambda: ends.ended)
    assert ends.frames == [b"short"]
    ends.far.close()


@pytest.mark.parametrize("browser", ["fake", "lynx", None])
async def test_a_link_to_a_browser_that_takes_none_is_refused(
    browser: str | None, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.dial(house.home)
        hello = {**house.hello().to_wire(), "kind": "link", "browser": browser}
        peer.say(hello=hello)
        said = await peer.hear_the_end()
        assert [message["error"]["code"] for message in said] == ["UNSUPPORTED"]
        assert not house.state.agents
        await peer.close()


async def test_a_link_is_refused_without_the_token_like_anybody(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        peer = await Peer.dial(house.home)
        peer.say(hello={**house.hello().to_wire(), "kind": "link", "token": "guess"})
        assert (await peer.hear_the_end())[0]["error"]["code"] == "UNAUTHORIZED"
        await peer.close()
