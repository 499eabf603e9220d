"""An agent that only pings, in a process of its own: ``python -m bench.pinger HOME ECHO SECONDS``.

It pings the broker of HOME and the bare server at the socket ECHO in turns. The bare server shows
what the machine alone costs.

It prints the milliseconds that each ping took as JSON: ``{"broker": [], "echo": []}``.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path

from roost.local.broker_start import connect
from roost.local.home import Home
from roost.wire.framing import encode_line
from roost.wire.hello import Hello

PAUSE_SECONDS = 0.005


class Pinger:
    """Pings one server and remembers how many milliseconds each ping took."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader = sock.makefile("rb")
        self.took: list[float] = []

    def ping(self) -> None:
        begun = time.perf_counter()
        self._sock.sendall(encode_line({"id": len(self.took), "op": "ping", "args": {}}))
        while b'"id"' not in self._reader.readline():
            pass
        self.took.append((time.perf_counter() - begun) * 1000)


def main(home: Home, echo: str, seconds: float) -> dict[str, list[float]]:
    with connect(home) as to_broker, socket.socket(socket.AF_UNIX) as to_echo:
        to_broker.sendall(encode_line({"hello": Hello(token=home.operator_token()).to_wire()}))
        to_broker.makefile("rb", buffering=0).readline()
        to_echo.connect(echo)
        pingers = {"broker": Pinger(to_broker), "echo": Pinger(to_echo)}
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            for pinger in pingers.values():
                pinger.ping()
                time.sleep(PAUSE_SECONDS)  # noqa: TID251 - an agent that takes its time
        return {name: pinger.took for name, pinger in pingers.items()}


if __name__ == "__main__":
    took = main(Home(Path(sys.argv[1])), sys.argv[2], float(sys.argv[3]))
    sys.stdout.write(json.dumps(took))
