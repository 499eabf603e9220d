"""A broker that does only what the test says, and a shim process that uses it."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from roost import __version__
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home, socket_path
from roost.local.processes import identify
from roost.vocabulary import WIRE_VERSION
from roost.wire.hello import Hello, parse_hello

SECONDS = 15.0
"""No wait in these tests is longer."""


class Peer:
    """One end of a stream of JSON lines, with bounded waits."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(SECONDS)
        self.sock = sock
        self._file = sock.makefile("rb")

    def says(self) -> Any:
        """Return the peer's next message, or None when it is gone."""
        line = self._file.readline()
        return json.loads(line) if line else None

    def hears(self, *messages: object) -> None:
        for message in messages:
            self.sock.sendall(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        self._file.close()
        self.sock.close()


class StandInBroker:
    """Listens where the broker of ``home`` would."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.hellos: list[Hello] = []
        self._peers: list[Peer] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.settimeout(SECONDS)
        path = socket_path(home)
        path.unlink(missing_ok=True)
        self._listening.bind(os.fspath(path))
        self._listening.listen(50)
        process = identify(os.getpid())
        assert process is not None
        write_endpoint(home, Endpoint(path, process, "0", WIRE_VERSION))

    def let_in(self, *, software: str = __version__, secret: str = "agent_x.y") -> Peer:
        """Return the next peer that says hello. Peers that only test the connection do not
        count."""
        peer = self.at_the_door()
        welcome = {"version": 1, "agent": "agent_x", "secret": secret, "software": software}
        peer.hears({"welcome": welcome})
        return peer

    def at_the_door(self) -> Peer:
        while True:
            sock, _ = self._listening.accept()
            peer = Peer(sock)
            message = peer.says()
            if message is not None:
                self.hellos.append(parse_hello(message["hello"]))
                self._peers.append(peer)
                return peer
            peer.close()

    def close(self) -> None:
        for peer in self._peers:
            peer.close()
        self._listening.close()
        socket_path(self.home).unlink(missing_ok=True)


class Shim:
    """``roost mcp`` as a client starts it."""

    def __init__(self, home: Home, *flags: str, **environ: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "roost", "mcp", *flags],
            env={"ROOST_HOME": os.fspath(home.path), **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin
        self.stdout = self.process.stdout
        self._unread = b""

    def hears(self, *messages: object) -> None:
        for message in messages:
            self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()

    def says(self) -> Any:
        """Return the shim's next message on stdout, or None when stdout is closed."""
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self.stdout], [], [], SECONDS)
            assert ready, "the shim says nothing"
            data = os.read(self.stdout.fileno(), 1_000_000)
            if not data:
                assert not self._unread
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)

    def ends(self) -> int:
        return self.process.wait(SECONDS)

    def complains(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.stdin, self.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()
        self.process.wait(SECONDS)


@contextmanager
def stand_in_broker(folder: Path) -> Iterator[StandInBroker]:
    home = Home(folder)
    home.create()
    broker = StandInBroker(home)
    try:
        yield broker
    finally:
        broker.close()


@contextmanager
def shim(home: Home, *flags: str, **environ: str) -> Iterator[Shim]:
    made = Shim(home, *flags, **environ)
    try:
        yield made
    finally:
        made.close()
