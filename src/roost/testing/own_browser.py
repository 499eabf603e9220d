"""The person's own browser: headed, on a screen of its own (Xvfb), with Roost's extension loaded
the way a person loads it, and the native host started by the browser itself.

What the person does in it, tests do through the extension's own background page.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from roost.frontends.cli.install import extension
from roost.local.browsers import find_browser
from roost.local.home import Home
from roost.local.processes import end_tree, identify

START_SECONDS = 30.0


@contextmanager
def screen(size: str = "1280x900x24") -> Iterator[str]:
    """A display nobody else uses; gives its name."""
    program = shutil.which("Xvfb")
    assert program is not None, "Xvfb is not installed: sudo apt install xvfb"
    reads, writes = os.pipe()
    command = [program, "-displayfd", str(writes), "-screen", "0", size, "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=(writes,), stderr=subprocess.DEVNULL) as process:
        try:
            os.close(writes)
            with open(reads, "rb") as ready:
                yield ":" + ready.readline().decode().strip()
        finally:
            process.terminate()


class OwnChromium:
    """A person's Chromium whose profile is in ``folder``, with the host of ``home``."""

    def __init__(self, home: Home, folder: Path, display: str) -> None:
        self._home = home
        self._profile = folder / "profile"
        self._extension = folder / "extension"
        self._display = display
        self._process: asyncio.subprocess.Process | None = None
        self._socket: ClientConnection | None = None
        self._session = ""
        self._calls = 0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self, *pages: str) -> None:
        """The browser with these pages, once its extension can be spoken to."""
        where = self._profile / "NativeMessagingHosts" / f"{extension.HOST}.json"
        extension.install(self._home, "chromium", [where])
        (self._profile / "DevToolsActivePort").unlink(missing_ok=True)
        self._process = await asyncio.create_subprocess_exec(
            find_browser("chromium"),
            f"--user-data-dir={self._profile}",
            f"--load-extension={extension.folder(self._home, 'chromium')}",
            "--remote-debugging-port=0",  # for the person's hands; Roost does not use it
            "--no-first-run",
            "--no-default-browser-check",
            "--password-store=basic",
            "--disable-component-update",
            "--disable-background-networking",
            "--window-size=1200,800",
            *(["--no-sandbox", "--test-type"] if os.getuid() == 0 else []),
            *(pages or ("about:blank",)),
            env={**os.environ, "DISPLAY": self._display},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        async with asyncio.timeout(START_SECONDS):
            await self._reach()

    async def person(self, function: str, *arguments: Any) -> Any:
        """Something the person does, as a function of the extension's own API."""
        given = ", ".join(map(json.dumps, arguments))
        params = {
            "expression": f"({function})({given})",
            "awaitPromise": True,
            "returnByValue": True,
        }
        answer = await self._call("Runtime.evaluate", params, self._session)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def quit(self) -> None:
        """As by its menu."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            await self._gone()

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            process = identify(self._process.pid)
            if process is not None:
                await asyncio.to_thread(end_tree, process, 0)
            await self._gone()

    async def _gone(self) -> None:
        assert self._process is not None
        if self._socket is not None:
            await self._socket.close()
            self._socket = None
        async with asyncio.timeout(START_SECONDS):
            await self._process.wait()

    async def _reach(self) -> None:
        """The background page of the extension, over the browser's own debugging port."""
        port = self._profile / "DevToolsActivePort"
        while not (port.exists() and len(port.read_text().splitlines()) == 2):
            await _moment()
        number, path = port.read_text().splitlines()
        self._socket = await connect(f"ws://127.0.0.1:{number}{path}", max_size=None)
        wanted = f"chrome-extension://{extension.CHROMIUM_ID}/"
        while True:
            targets = (await self._call("Target.getTargets", {}))["targetInfos"]
            ours = [one for one in targets if one["url"].startswith(wanted)]
            if ours:
                break
            await _moment()
        params = {"targetId": ours[0]["targetId"], "flatten": True}
        self._session = (await self._call("Target.attachToTarget", params))["sessionId"]
        look = {"expression": "globalThis.chrome?.tabs !== undefined"}
        while not (await self._call("Runtime.evaluate", look, self._session))["result"]["value"]:
            await _moment()  # it has only begun

    async def _call(self, method: str, params: dict[str, Any], session: str = "") -> Any:
        assert self._socket is not None
        self._calls += 1
        call = self._calls
        message: dict[str, Any] = {"id": call, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self._socket.send(json.dumps(message))
        while True:
            heard = json.loads(await self._socket.recv())
            if heard.get("id") == call:
                assert "error" not in heard, heard["error"]
                return heard["result"]


async def _moment() -> None:
    """Between two looks at what tells nobody when it changes."""
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), 0.05)
