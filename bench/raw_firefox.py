"""A bare Firefox over WebDriver BiDi, with nothing in between: the fastest possible result."""

from __future__ import annotations

import json
import select
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roost.drivers.firefox.launch import FirefoxOptions
from roost.keeper.firefox import start
from roost.link.wire import Wire
from roost.local.processes import end_tree, identify

Json = dict[str, Any]
VIEWPORT = (1280, 720)
ANSWER_SECONDS = 30


class RawFirefox:
    """Sends one command at a time, waits for its answer, and skips events."""

    def __init__(self, pid: int, wire: Wire, next_id: int) -> None:
        self.pid = pid
        self._wire = wire
        self._id = next_id
        self._readable = select.poll()
        self._readable.register(wire.inlet, select.POLLIN)

    def call(self, method: str, **params: Any) -> Json:
        self._id += 1
        message = {"id": self._id, "method": method, "params": params}
        self._wire.send(json.dumps(message).encode())
        while self._wire.has_unsent:
            self._wire.flush()
        while True:
            if not self._readable.poll(ANSWER_SECONDS * 1000):
                raise RuntimeError(f"{method}: no answer")
            for answer in map(json.loads, self._wire.read()):
                if answer.get("id") == self._id:
                    if answer["type"] != "success":
                        raise RuntimeError(f"{method}: {answer['message']}")
                    result: Json = answer["result"]
                    return result

    def page(self, url: str) -> str:
        """Open one page at that address in a user context of its own, and return its context."""
        jar = self.call("browser.createUserContext")["userContext"]
        made = self.call("browsingContext.create", type="tab", background=True, userContext=jar)
        context: str = made["context"]
        width, height = VIEWPORT
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=context, viewport=size)
        self.call("browsingContext.navigate", context=context, url=url, wait="complete")
        return context

    def evaluate(self, expression: str, context: str) -> Json:
        target = {"context": context}
        return self.call("script.evaluate", expression=expression, target=target, awaitPromise=True)


@contextmanager
def raw_firefox() -> Iterator[RawFirefox]:
    folder = Path(tempfile.mkdtemp(prefix="roost-bench-"))
    profile = folder / "profile"
    profile.mkdir()
    options = FirefoxOptions(viewport=VIEWPORT)
    options.prepare(profile)
    (session,) = options.keeper_options()
    capabilities = json.loads(session.removeprefix("--session="))
    held = start(options.command(profile), folder / "browser.log", capabilities)
    process = identify(held.pid)
    assert process is not None
    try:
        raw = RawFirefox(held.pid, held.wire, next_id=held.memory.handover()["nextId"])
        # Every client that wants events must pay for this subscription.
        raw.call("session.subscribe", events=["browsingContext", "network", "log.entryAdded"])
        yield raw
    finally:
        held.wire.close()
        end_tree(process, grace_seconds=0)
        shutil.rmtree(folder, ignore_errors=True)
