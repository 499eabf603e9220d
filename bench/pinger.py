"""An agent that only pings, in a process of its own: ``python -m bench.pinger HOME SECONDS``.

Prints the milliseconds that each ping took, as one JSON list.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from roost.local.home import Home
from roost.local.starting import connect
from roost.wire.framing import encode_line
from roost.wire.hello import Hello

PAUSE_SECONDS = 0.005


def main(home: Home, seconds: float) -> list[float]:
    with connect(home) as sock:
        reader = sock.makefile("rb")
        sock.sendall(encode_line({"hello": Hello(token=home.operator_token()).to_wire()}))
        reader.readline()
        took: list[float] = []
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            begun = time.perf_counter()
            sock.sendall(encode_line({"id": len(took), "op": "ping", "args": {}}))
            while b'"id"' not in reader.readline():
                pass
            took.append((time.perf_counter() - begun) * 1000)
            time.sleep(PAUSE_SECONDS)  # noqa: TID251 - an agent that takes its time
        return took


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Home(Path(sys.argv[1])), float(sys.argv[2]))))
