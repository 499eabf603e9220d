"""The keeper's other end: find the one that still runs, or start one, and wait for its link."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path

from roost.drivers.chromium.launch import ChromiumOptions, command_line
from roost.drivers.link import Link
from roost.errors import BrowserLost, RoostError
from roost.local.home import Home, read_secret
from roost.local.processes import Process, end_tree, is_alive
from roost.local.starting import start_detached

LINK_SECONDS = 15.0
START_SECONDS = 45.0
END_SECONDS = 5.0


class Keeping:
    """One browser's keeper, whether an earlier broker started it or we do."""

    def __init__(
        self, home: Home, browser: str, options: ChromiumOptions, *, away_seconds: float = 600.0
    ) -> None:
        self.headless = options.headless
        self.viewport = options.viewport if options.headless else None
        """What new tabs are given; a window on a screen has the size the person gives it."""
        self._home = home
        self._browser = browser
        self._options = options
        self._away_seconds = away_seconds
        self._record = home.path / "keepers" / f"{browser}.json"
        self._folder = home.path / "browsers" / browser
        self._arrived: asyncio.Future[Link] | None = None

    def linked(self, link: Link) -> None:
        waiting = self._arrival()
        if waiting.done():
            waiting.result().close()  # a second keeper for one browser: the newer one counts
            self._arrived = None
            waiting = self._arrival()
        waiting.set_result(link)

    async def link(self) -> tuple[Link, bool]:
        """The link, and whether its browser was started just now."""
        if self._arrival().done():
            return self._arrival().result(), False
        keeper = self._running()
        if keeper is not None:
            os.kill(keeper.pid, signal.SIGUSR1)
            with contextlib.suppress(TimeoutError):
                return await self._wait(), False
            await asyncio.to_thread(end_tree, keeper, END_SECONDS)
        await asyncio.to_thread(self._start)
        try:
            return await self._wait(), True
        except TimeoutError:
            raise BrowserLost("The keeper did not connect.") from None

    def lost(self) -> None:
        """The link is over."""
        self._arrived = None

    async def ended(self) -> None:
        """See to it that nothing of the browser is left."""
        keeper = self._running()
        if keeper is not None:
            await asyncio.to_thread(end_tree, keeper, END_SECONDS)

    def _arrival(self) -> asyncio.Future[Link]:
        if self._arrived is None:
            self._arrived = asyncio.get_running_loop().create_future()
        return self._arrived

    async def _wait(self) -> Link:
        async with asyncio.timeout(LINK_SECONDS):
            return await asyncio.shield(self._arrival())

    def _running(self) -> Process | None:
        with contextlib.suppress(ValueError, KeyError, RoostError):
            fields = json.loads(read_secret(self._record) or b"{}")
            process = Process(fields["pid"], fields["processStarted"])
            if is_alive(process):
                return process
        return None

    def _start(self) -> None:
        profile = self._folder / "profile"
        profile.mkdir(mode=0o700, parents=True, exist_ok=True)
        _unlock(profile)
        log = self._folder / "browser.log"
        command = command_line(self._options, profile, is_root=os.getuid() == 0)
        start_detached(
            self._home,
            [sys.executable, "-P", "-m", "roost.keeper"],
            [
                f"--browser={self._browser}",
                f"--log={log}",
                f"--away={self._away_seconds}",
                "--",
                *command,
            ],
            log=self._folder / "keeper.log",
            timeout_seconds=START_SECONDS,
        )


def _unlock(profile: Path) -> None:
    """A Chromium that was killed leaves its lock; our keeper's record says that none is running."""
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        (profile / name).unlink(missing_ok=True)
