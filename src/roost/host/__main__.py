"""``python -m roost.host``: the native host, which a browser starts for Roost's extension.

The browser passes an arbitrary environment, so the launcher that ``roost install extension`` writes
sets ROOST_HOME. The extension first sends a hello about its browser, which the host passes to every
broker. The host ends when the browser closes the pipe.
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
from roost.link.memory import IdMemory
from roost.link.relay import HeldBrowser, Relay
from roost.link.wire import HungUp
from roost.local.home import Home
from roost.local.hosts import record_host
from roost.local.remotes import has_remote
from roost.vocabulary import own_browser
from roost.wire.framing import encode

KINDS: Final = ("chromium", "firefox")
_SAID: Final = ("kind", "product", "run", "install", "extension")


def main() -> int:
    home = Home.find()
    wire = NativeWire(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # anything printed goes to stderr, because the browser parses stdout
    try:
        about, early = _hello(wire)
    except HungUp:
        return 0
    browser = own_browser(about["kind"])
    memory = CdpMemory() if about["kind"] == "chromium" else IdMemory()
    for frame in early:
        memory.from_browser(frame)  # there is no broker yet; each one asks for the state itself
    record = record_host(home, browser)
    pid = os.getppid()
    held = HeldBrowser(pid, wire, memory, {**about, "hasRemote": has_remote(pid)})
    remote = Remote(pid)
    tell = _teller(wire)

    def on_broker(state: str, error: RoostError | None) -> None:
        remote.close()  # a session that is open belongs to the previous broker
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
    """Wait for the extension's hello. Return its fields and the frames that came after it.

    Raises ``HungUp`` if the browser closes the pipe or is of an unknown kind.
    """
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
    """Return a function that tells the extension the link's state, which its popup shows."""

    def tell(state: str, error: RoostError | None) -> None:
        params: dict[str, Any] = {"state": state}
        if error is not None:
            params["error"] = error.to_wire()
        wire.send(encode({"method": "Roost.link", "params": params}))

    return tell


if __name__ == "__main__":
    sys.exit(main())
