"""The keeper's other end: find the one that still runs, or start one, and wait for its link."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from roost.drivers.link import Link
from roost.errors import BrowserLost, RoostError
from roost.local.browsers import check_reach
from roost.local.home import Home, read_secret
from roost.local.processes import Process, end_tree, is_alive, wait_until_gone
from roost.local.starting import start_detached

LINK_SECONDS = 15.0
START_SECONDS = 45.0
END_SECONDS = 5.0
DYING_SECONDS = 1.0


class Launch(Protocol):
    """How one browser is started: its options know."""

    @property
    def headless(self) -> bool: ...

    @property
    def viewport(self) -> tuple[int, int]: ...

    def keeper_options(self) -> Sequence[str]:
        """What its keeper must know besides."""

    def prepare(self, profile: Path) -> None:
        """Make the profile's folder fit for a start; no browser uses it."""

    def command(self, profile: Path) -> list[str]:
        """The whole command line; the keeper adds only the connection."""


class Keeping:
    """One browser's keeper, whether an earlier broker started it or we do."""

    def __init__(
        self, home: Home, browser: str, launch: Launch, *, away_seconds: float = 600.0
    ) -> None:
        self.headless = launch.headless
        self.viewport = launch.viewport if launch.headless else None
        """What new tabs are given; a window on a screen has the size the person gives it."""
        self._home = home
        self._browser = browser
        self._launch = launch
        self._away_seconds = away_seconds
        self._record = home.path / "keepers" / f"{browser}.json"
        self._folder = home.path / "browsers" / browser
        self._arrived: asyncio.Future[Link] | None = None
        self._is_lost = False

    def linked(self, link: Link) -> None:
        waiting = self._arrival()
        if waiting.done():
            waiting.result().close()  # a second keeper for one browser: the newer one counts
            self._arrived = None
            waiting = self._arrival()
        waiting.set_result(link)
        self._is_lost = False

    async def link(self) -> tuple[Link, bool]:
        """The link, and whether its browser was started just now."""
        if self._arrival().done():
            return self._arrival().result(), False
        keeper = self._running()
        if keeper is not None and self._is_lost:
            # Its connection just ended: most likely it is dying, and will be gone in a moment.
            if await asyncio.to_thread(wait_until_gone, keeper, DYING_SECONDS):
                keeper = None
        if keeper is not None:
            with contextlib.suppress(ProcessLookupError):
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
        self._is_lost = True

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
        with contextlib.suppress(ValueError, KeyError, TypeError, RoostError):
            fields = json.loads(read_secret(self._record) or b"{}")
            process = Process(fields["pid"], fields["processStarted"])
            if is_alive(process):
                return process
        return None

    def _end_orphan(self) -> None:
        """A keeper that was killed leaves its browser behind; two must never use one profile."""
        with contextlib.suppress(ValueError, KeyError, TypeError, RoostError):
            fields = json.loads(read_secret(self._record) or b"{}")
            orphan = Process(fields["browserPid"], fields["browserStarted"])
            if is_alive(orphan):
                end_tree(orphan, grace_seconds=0)

    def _start(self) -> None:
        self._end_orphan()
        profile = self._folder / "profile"
        profile.mkdir(mode=0o700, parents=True, exist_ok=True)
        command = self._launch.command(profile)
        check_reach(command[0], profile)
        self._launch.prepare(profile)
        start_detached(
            self._home,
            [sys.executable, "-P", "-m", "roost.keeper"],
            [
                f"--browser={self._browser}",
                f"--log={self._folder / 'browser.log'}",
                f"--away={self._away_seconds}",
                *self._launch.keeper_options(),
                "--",
                *command,
            ],
            log=self._folder / "keeper.log",
            timeout_seconds=START_SECONDS,
        )
