"""A bare Chromium on a debugging pipe, with nothing in between: the fastest possible result."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roost.drivers.chromium.launch import ChromiumOptions, command_line
from roost.keeper.browser_process import spawn
from roost.local.processes import end_tree, identify

Json = dict[str, Any]
VIEWPORT = (1280, 720)


class RawChromium:
    """Sends one command at a time, waits for its answer, and skips events."""

    def __init__(self, pid: int, pipe_in: int, pipe_out: int) -> None:
        self.pid = pid
        self._in, self._out = pipe_in, pipe_out
        self._id = 1000
        self._rest = b""
        self._frames: list[bytes] = []

    def call(self, method: str, params: Json | None = None, session: str = "") -> Json:
        self._id += 1
        message: Json = {"id": self._id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._next())
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: Json = answer["result"]
                return result

    def page(self, url: str) -> str:
        """Open a page at that address in a context of its own. Return its protocol session."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call(
            "Target.createTarget", {"url": "about:blank", "browserContextId": context}
        )["targetId"]
        attach = {"targetId": target, "flatten": True}
        session: str = self.call("Target.attachToTarget", attach)["sessionId"]
        for method in ("Page.enable", "Runtime.enable", "Network.enable"):
            self.call(method, None, session)
        width, height = VIEWPORT
        size = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", size, session)
        self.call("Emulation.setFocusEmulationEnabled", {"enabled": True}, session)
        self.call("Page.navigate", {"url": url}, session)
        ready = "new Promise((r) => document.readyState === 'complete' ? r() : onload = r)"
        self.evaluate(ready, session)
        return session

    def evaluate(self, expression: str, session: str) -> Any:
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        return self.call("Runtime.evaluate", params, session)["result"].get("value")

    def _next(self) -> bytes:
        while not self._frames:
            *whole, self._rest = (self._rest + os.read(self._out, 1 << 20)).split(b"\0")
            self._frames += whole
        return self._frames.pop(0)


@contextmanager
def raw_chromium() -> Iterator[RawChromium]:
    folder = Path(tempfile.mkdtemp(prefix="roost-bench-"))
    options = ChromiumOptions(viewport=VIEWPORT)
    command = command_line(options, folder / "profile", is_root=os.getuid() == 0)
    commands, pipe_in = os.pipe()
    pipe_out, replies = os.pipe()
    commands, replies = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (commands, replies))
    pid = spawn(command, folder / "browser.log", {3: commands, 4: replies})
    os.close(commands)
    os.close(replies)
    process = identify(pid)
    assert process is not None
    try:
        yield RawChromium(pid, pipe_in, pipe_out)
    finally:
        end_tree(process, grace_seconds=0)
        os.waitpid(pid, 0)
        os.close(pipe_in)
        os.close(pipe_out)
        shutil.rmtree(folder, ignore_errors=True)
