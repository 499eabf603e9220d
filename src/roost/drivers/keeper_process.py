"""Find a browser's running keeper, or start a keeper, and wait for its link."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any, ParamSpec, Protocol, TypeVar

from roost.drivers.link import Link
from roost.errors import BrowserLost, RoostError
from roost.local.broker_start import start_detached
from roost.local.browsers import check_reach
from roost.local.home import Home, read_secret
from roost.local.processes import Process, end_tree, is_alive, wait_until_gone
from roost.local.singleton import remove_socket_folder

P = ParamSpec("P")
T = TypeVar("T")
LINK_SECONDS = 15.0
START_SECONDS = 45.0
END_SECONDS = 5.0
DYING_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 0.2
"""While waiting for a keeper's link, check this often that the keeper is alive."""


class Launch(Protocol):
    """How to start one browser. Each browser's options class implements this."""

    @property
    def headless(self) -> bool: ...

    @property
    def viewport(self) -> tuple[int, int]: ...

    def keeper_options(self) -> Sequence[str]:
        """Return extra command-line options for the keeper."""

    def prepare(self, profile: Path) -> None:
        """Prepare the profile folder for a start. No browser uses the folder at that time."""

    def command(self, profile: Path) -> list[str]:
        """Return the browser's command line. The keeper adds only its connection."""


class KeeperProcess:
    """The keeper of one browser, started by this broker or by an earlier one.

    ``away_seconds``: how long the keeper keeps the browser running without a broker.
    """

    def __init__(
        self, home: Home, browser: str, launch: Launch, *, away_seconds: float = 600.0
    ) -> None:
        self.headless = launch.headless
        self.viewport = launch.viewport if launch.headless else None
        """The size of new tabs. None with a visible window, whose size the person chooses."""
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
            waiting.result().close()  # if two keepers connect for one browser, use the newer
            self._arrived = None
            waiting = self._arrival()
        waiting.set_result(link)
        self._is_lost = False

    async def link(self) -> tuple[Link, bool]:
        """Return the link, and True if this call started the browser."""
        if self._arrival().done():
            return self._arrival().result(), False
        fields = self._recorded()
        keeper = _living(fields, "pid", "processStarted")
        if keeper is not None and self._is_lost:
            # The keeper's connection just ended, so the keeper is most likely exiting.
            if await _in_thread(wait_until_gone, keeper, DYING_SECONDS):
                keeper = None
        if keeper is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper.pid, signal.SIGUSR1)
            # An earlier broker may have died while this keeper was starting the browser.
            seconds = START_SECONDS if fields.get("isStarting") else LINK_SECONDS
            link = await self._wait(seconds, keeper)
            if link is not None:
                return link, False
            await _in_thread(end_tree, keeper, END_SECONDS)
        try:
            await _in_thread(self._start)
        except OSError as problem:
            raise BrowserLost(
                f"The browser cannot be started: {problem.strerror or problem}.",
                hint=f"Free descriptors, and space on the disk of {self._folder}; then try again.",
            ) from None
        link = await self._wait(LINK_SECONDS)
        if link is None:
            raise BrowserLost("The keeper did not connect.")
        return link, True

    def lost(self) -> None:
        """Forget the link, which has ended."""
        self._arrived = None
        self._is_lost = True

    async def ended(self) -> None:
        """End the keeper and the browser if they still run."""
        keeper = _living(self._recorded(), "pid", "processStarted")
        if keeper is not None:
            await _in_thread(end_tree, keeper, END_SECONDS)

    def _arrival(self) -> asyncio.Future[Link]:
        if self._arrived is None:
            self._arrived = asyncio.get_running_loop().create_future()
        return self._arrived

    async def _wait(self, seconds: float, keeper: Process | None = None) -> Link | None:
        """Return the link, or None after the timeout or when ``keeper`` has died."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while (left := deadline - loop.time()) > 0 and (keeper is None or is_alive(keeper)):
            arrival = self._arrival()  # a new future if a link connected and ended meanwhile
            await asyncio.wait({arrival}, timeout=min(left, LOOK_AGAIN_SECONDS))
            if arrival.done():
                return arrival.result()
        return None

    def _recorded(self) -> dict[str, Any]:
        """Return the keeper's record about itself, or {} if the record is missing or damaged."""
        try:
            said = read_secret(self._record)
        except RoostError as error:
            # A keeper may be running, and two browsers must never use one profile.
            raise BrowserLost(error.message, hint=error.hint) from None
        with contextlib.suppress(ValueError):
            fields = json.loads(said or b"{}")
            if isinstance(fields, dict):
                return fields
        return {}

    def _end_orphan(self) -> None:
        """End the browser that a killed keeper left behind, and remove its socket folder.

        A browser outlives its keeper only if the watchdog was killed as well. Two browsers must
        never use one profile.
        """
        fields = self._recorded()
        orphan = _living(fields, "browserPid", "browserStarted")
        if orphan is not None:
            end_tree(orphan, grace_seconds=0)
        if isinstance(folder := fields.get("socketFolder"), str):
            remove_socket_folder(Path(folder))

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


def _living(fields: dict[str, Any], pid: str, started: str) -> Process | None:
    """Return the process that a record names if it is still alive."""
    with contextlib.suppress(KeyError, TypeError):
        process = Process(fields[pid], fields[started])
        if is_alive(process):
            return process
    return None


async def _in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``work`` in a thread that a stopping broker does not wait for.

    ``asyncio.to_thread`` would make the broker wait until a browser has started, which takes up to
    ``START_SECONDS``. The broker holds its lock meanwhile, so the next broker could not start. The
    next broker finds a keeper that is being started, as it does after a killed broker.
    """
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()

    def run() -> None:
        try:
            outcome.set_result(work(*args, **kwargs))
        except Exception as problem:
            outcome.set_exception(problem)

    Thread(target=run, name=f"keeper: {work.__name__}", daemon=True).start()
    return await asyncio.wrap_future(outcome)
