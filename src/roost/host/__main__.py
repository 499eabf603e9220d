"""``python -m roost.host``: started by a browser for the extension, with whatever environment.

The launcher that ``roost install extension`` writes has set ROOST_HOME. The extension speaks first:
what it says of its browser is told to every broker. Ends when the browser hangs up.
"""

from __future__ import annotations

import json
import math
import os
import select
import sys
from typing import Any, Final

from roost.errors import RoostError
from roost.host.native import NativeWire
from roost.host.remote import Remote
from roost.link.cdp_memory import CdpMemory
from roost.link.relay import Held, Relay
from roost.link.wire import HungUp
from roost.local.home import Home
from roost.local.hosts import record_host
from roost.local.remotes import has_remote
from roost.wire.framing import encode

KINDS: Final = ("chromium", "firefox")
_SAID: Final = ("kind", "product", "run", "install", "extension")


def main() -> int:
    home = Home.find()
    wire = NativeWire(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # whatever else is printed must not look like a message
    try:
        about, early = _hello(wire)
    except HungUp:
        return 0
    browser = f"mine-{about['kind']}"
    memory = CdpMemory()
    for frame in early:
        memory.from_browser(frame)  # no broker is there yet; state is asked for by each that comes
    record = record_host(home, browser)
    pid = os.getppid()
    held = Held(pid, wire, memory, {**about, "hasRemote": has_remote(pid)})
    remote = Remote(pid)
    tell = _teller(wire)

    def on_broker(state: str, error: RoostError | None) -> None:
        remote.close()  # it was another broker's, if anybody's
        tell(state, error)

    try:
        relay = Relay(
            home, browser, held, away_seconds=math.inf, on_broker=on_broker, on_word=remote.said
        )
        remote.serve(relay)
        relay.run()
    finally:
        remote.close()
        record.unlink(missing_ok=True)
    return 0


def _hello(wire: NativeWire) -> tuple[dict[str, Any], list[bytes]]:
    """What the extension says first, and what came with it."""
    poll = select.poll()
    poll.register(wire.inlet, select.POLLIN)
    while True:
        poll.poll()
        frames = wire.read()
        for index, frame in enumerate(frames):
            message = json.loads(frame)
            if message.get("method") == "Roost.hello":
                said = message["params"]
                if said["kind"] not in KINDS:
                    raise HungUp
                about = {name: str(said[name])[:200] for name in _SAID if name in said}
                return about, frames[index + 1 :]


def _teller(wire: NativeWire) -> Any:
    """Lets the extension know how things are with the broker, for the person to see."""

    def tell(state: str, error: RoostError | None) -> None:
        params: dict[str, Any] = {"state": state}
        if error is not None:
            params["error"] = error.to_wire()
        wire.send(encode({"method": "Roost.link", "params": params}))

    return tell


if __name__ == "__main__":
    sys.exit(main())
