"""The person's own browser: headed, on a screen of its own (Xvfb), with Roost's extension.

The extension is loaded the way a person loads it, and the browser itself starts the native host.
Tests act as the person through the extension's own background page.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from roost.broker.journal import Journal
from roost.core.rows import Consent
from roost.core.state import Change
from roost.daemon.wiring import MINE_CHROMIUM
from roost.frontends.cli.install import extension
from roost.local.browsers import find_browser
from roost.local.home import Home
from roost.local.lineage import description
from roost.local.processes import end_tree, identify
from roost.vocabulary import BrowserId

START_SECONDS = 30.0
POPUP = "popup/popup.html"
EXTENSIONS = "chrome://extensions/"
UNINSTALL = "() => { setTimeout(() => chrome.management.uninstallSelf(), 0) }"
"""Uninstalls like the list of extensions does, but without asking the person to confirm."""


@contextmanager
def screen(size: str = "1280x900x24") -> Iterator[str]:
    """Start a display that nobody else uses, and yield its name."""
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
    """A person's Chromium.

    ``home``: the Roost whose native host the browser starts.
    ``folder``: the browser's profile is in here.
    ``restores``: windows and tabs come back when the browser is started again. If False, every
        start has a new profile.
    """

    def __init__(self, home: Home, folder: Path, display: str, *, restores: bool = True) -> None:
        self._home = home
        self._profile = folder / "profile"
        self.display = display
        self._restores = restores
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *pages: str) -> None:
        """Start the browser with these pages. ``person`` waits until the browser is ready."""
        if not self._restores:
            # With the profile of a browser that was killed, the extension starts 5 s later.
            shutil.rmtree(self._profile, ignore_errors=True)
        where = self._profile / "NativeMessagingHosts" / f"{extension.HOST}.json"
        extension.install(self._home, "chromium", [where])
        (self._profile / "DevToolsActivePort").unlink(missing_ok=True)
        self._prefer()
        command = [
            find_browser("chromium"),
            f"--user-data-dir={self._profile}",
            f"--load-extension={extension.folder(self._home, 'chromium')}",
            "--remote-debugging-port=0",  # for the tests; Roost does not use it
            "--no-first-run",
            "--no-default-browser-check",
            "--password-store=basic",
            "--disable-component-update",
            "--disable-background-networking",
            "--window-size=1200,800",
            *(["--no-sandbox", "--test-type"] if os.getuid() == 0 else []),
            *pages,
        ]
        self._process = subprocess.Popen(
            command,
            env={**os.environ, "DISPLAY": self.display},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _prefer(self) -> None:
        """Write the person's preferences.

        Chromium unloads an extension from a folder unless developer mode is on.
        """
        preferences = self._profile / "Default" / "Preferences"
        if not preferences.exists():
            preferences.parent.mkdir(parents=True)
            chosen = {
                "extensions": {"ui": {"developer_mode": True}},
                "session": {"restore_on_startup": 1 if self._restores else 5},
            }
            preferences.write_text(json.dumps(chosen))

    def quit(self) -> None:
        """Quit like the menu does. A signal would lose the cookies of the last half minute."""
        if self._process is not None:
            asyncio.run(self._quit())
            self._process.wait(START_SECONDS)

    async def _quit(self) -> None:
        with suppress(ConnectionClosed):  # the browser may be gone before it answers
            async with asyncio.timeout(START_SECONDS), self._socket() as socket:
                await _ask(socket, "Browser.close", {})

    def kill(self) -> None:
        if self._process is not None:
            process = identify(self._process.pid)
            if process is not None:
                os.kill(process.pid, signal.SIGSTOP)  # or it would report its pages' deaths
                end_tree(process, grace_seconds=0)
            self._process.wait(START_SECONDS)

    async def person(self, function: str, *arguments: Any) -> Any:
        """Run a function of the extension's API as the person, and return its value."""
        given = ", ".join(map(json.dumps, arguments))
        async with asyncio.timeout(START_SECONDS), self._inside("background.js") as evaluate:
            return await evaluate(f"({function})({given})")

    async def popup(self, function: str, *arguments: Any) -> Any:
        """Run a function in the popup page as the person. Here the page is in a tab."""
        open_it = """async (page) => {
            const url = chrome.runtime.getURL(page);
            const there = await chrome.tabs.query({ url });
            if (there.length === 0) await chrome.tabs.create({ url, active: false });
        }"""
        await self.person(open_it, POPUP)
        given = ", ".join(map(json.dumps, arguments))
        async with asyncio.timeout(START_SECONDS), self._inside(POPUP) as evaluate:
            return await evaluate(f"({function})({given})")

    async def watch_front(self) -> None:
        """Begin to record which tabs come to the front."""
        await self.person(
            "() => { globalThis.fronts = []; chrome.tabs.onActivated.addListener("
            "({ tabId }) => globalThis.fronts.push(tabId)) }"
        )

    async def came_to_front(self) -> list[int]:
        """Return the tabs that came to the front since ``watch_front``."""
        return list(await self.person("() => globalThis.fronts"))

    async def reload_extension(self) -> None:
        """Reload the extension as an update does."""
        await self.person("() => { setTimeout(() => chrome.runtime.reload(), 0) }")

    async def switch_extension(self, *, on: bool) -> None:
        """Enable or disable the extension as the list of extensions does."""
        switch = f"chrome.management.setEnabled({extension.CHROMIUM_ID!r}, {json.dumps(on)})"
        async with asyncio.timeout(START_SECONDS), self._socket() as socket:
            page = {"url": EXTENSIONS, "background": True}
            target = (await _ask(socket, "Target.createTarget", page))["targetId"]
            session = await _attach(socket, target)
            while await _evaluate(socket, session, "typeof chrome.management") != "object":
                await moment()  # the page has only begun to load
            await _evaluate(socket, session, switch)
            await _ask(socket, "Target.closeTarget", {"targetId": target})

    async def uninstall_extension(self) -> None:
        await self.person(UNINSTALL)

    async def install_extension(self) -> None:
        """Restart the browser, which loads the extension from its folder."""
        await asyncio.to_thread(self.quit)
        self.start()

    async def sees(self, url: str) -> bytes:
        """Return a PNG of what the person sees of the page at that address."""
        async with asyncio.timeout(START_SECONDS), self._session(url) as (socket, session):
            await _ask(socket, "Page.bringToFront", {}, session)
            shot = await _ask(socket, "Page.captureScreenshot", {}, session)
        return base64.b64decode(shot["data"])

    @asynccontextmanager
    async def _session(self, url: str) -> AsyncIterator[tuple[ClientConnection, str]]:
        """Attach to the page or worker at that address over the browser's own debugging port."""
        async with self._socket() as socket:
            while (target := await self._target(socket, url)) is None:
                await moment()
            yield socket, await _attach(socket, target)

    @asynccontextmanager
    async def _socket(self) -> AsyncIterator[ClientConnection]:
        port = self._profile / "DevToolsActivePort"
        while not (port.exists() and len(port.read_text().splitlines()) == 2):
            await moment()
        number, path = port.read_text().splitlines()
        async with connect(f"ws://127.0.0.1:{number}{path}", max_size=None) as socket:
            yield socket

    @asynccontextmanager
    async def _inside(self, page: str) -> AsyncIterator[Callable[[str], Awaitable[Any]]]:
        """Yield a function that evaluates expressions in a page of the extension."""
        url = f"chrome-extension://{extension.CHROMIUM_ID}/{page}"
        async with self._session(url) as (socket, session):
            evaluate = partial(_evaluate, socket, session)
            while not await evaluate("globalThis.chrome?.tabs !== undefined"):
                await moment()  # the page has only begun to load
            yield evaluate

    async def _target(self, socket: ClientConnection, url: str) -> str | None:
        targets = (await _ask(socket, "Target.getTargets", {}))["targetInfos"]
        return next((one["targetId"] for one in targets if one["url"] == url), None)


async def _attach(socket: ClientConnection, target: str) -> str:
    params = {"targetId": target, "flatten": True}
    return str((await _ask(socket, "Target.attachToTarget", params))["sessionId"])


async def _evaluate(socket: ClientConnection, session: str, expression: str) -> Any:
    how = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    answer = await _ask(socket, "Runtime.evaluate", how, session)
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")


async def _ask(
    socket: ClientConnection, method: str, params: dict[str, Any], session: str | None = None
) -> Any:
    message: dict[str, Any] = {"id": 1, "method": method, "params": params}
    if session is not None:
        message["sessionId"] = session
    await socket.send(json.dumps(message))
    while True:
        heard = json.loads(await socket.recv())
        if heard.get("id") == 1:
            assert "error" not in heard, heard["error"]
            return heard["result"]


async def moment() -> None:
    """Pause between two looks at something that does not report its changes."""
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), 0.05)


def has_allowed(home: Home, browser: BrowserId = MINE_CHROMIUM) -> None:
    """Record that the person has allowed agents of this process.

    Call it before the broker starts, because the broker reads its journal at the start.
    """
    journal = Journal(home.journal)
    known_as = description(os.getpid())
    row = Consent(browser=browser, name=known_as, called="tester", allow=True)
    journal.write([Change(Consent.table, row.key, row)])
    journal.close()
