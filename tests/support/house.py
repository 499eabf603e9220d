"""The one way in which tests start a Roost that runs in processes of its own.

``house_of`` makes a ``House``: a ROOST_HOME in a folder of its own, with these settings. Nothing
runs until somebody connects, or until ``start`` starts the broker and its browser. At the end all
of its processes are ended::

    with house_of("firefox", pool=3) as house:
        house.start()
        async with house.agent(web) as agent:      # an agent, over the socket
            await agent.go(url)
        house.says("status")                       # a command, as the person
        house.call(ops.Status())                   # an operation, as the person
        house.cdp_url("shopping")                  # an endpoint for DevTools clients

``real_home`` makes the ROOST_HOME alone, for tests that bring their own agents. A whole Roost
inside the test's own process, with a fake browser and a fake clock, is
``roost.testing.house.fake_house``. Page tests get their shared houses from the fixture ``houses``
(``tests/conftest.py``). A person's own browser joins a house in ``tests/e2e/extension``.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from roost import __version__, ops
from roost.api.operations import Answers
from roost.api.views import StatusView, View
from roost.client.client import Client
from roost.daemon.wiring import MINE_FIREFOX
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.extension import OwnFirefoxDriver
from roost.drivers.firefox import FirefoxDriver
from roost.errors import RoostError
from roost.local.broker_start import ensure_broker
from roost.local.endpoint import Endpoint, read_endpoint
from roost.local.home import Home, socket_path
from roost.local.lock import Lock
from roost.local.processes import Process, end_tree, is_alive, wait_until_gone
from roost.testing.sealer import sealer_of
from roost.vocabulary import SessionId
from roost.wire.hello import ClientKind, Hello
from tests.support.agent import WAIT_SECONDS, Agent
from tests.support.local_web import Web
from tests.support.real_processes import PROCESS_SECONDS

T = TypeVar("T")
R = TypeVar("R", bound=View)
START_SECONDS = 45.0
CALL_SECONDS = 50.0
"""Timeout for ``House.call`` and its kin, which may have to start a browser."""
ROOST = (sys.executable, "-P", "-m", "roost")


class House:
    """A Roost in processes of its own, and the ways in: agents, commands, the person, DevTools.

    work: the agents' working directory.
    browser: the browser that they use.
    """

    def __init__(self, home: Home, work: Path, browser: str) -> None:
        self.home = home
        self.work = work
        self.browser = browser
        self.hello: dict[str, Any] = {}
        """More fields for every agent's hello."""
        self._numbers = count(1)

    def start(self) -> None:
        """Start the broker and the browser now. On a busy machine that takes longer than tests wait
        for a call."""
        ensure_broker(self.home)
        self.start_browser(self.browser)

    def start_browser(self, browser: str) -> None:
        async def opened_and_disposed() -> None:
            opening = ops.SessionOpen(browser=browser, url="about:blank")
            async with self.operator() as operator:
                opened = await operator.call(opening, timeout=START_SECONDS)
                await operator.call(ops.SessionDispose(session=opened.id))

        self.in_thread(opened_and_disposed)

    @property
    def endpoint(self) -> Endpoint:
        found = read_endpoint(self.home)
        assert found is not None
        return found

    @property
    def broker(self) -> Process:
        return self.endpoint.process

    @property
    def log(self) -> str:
        return self.home.log.read_text(encoding="utf-8", errors="replace")

    def backups(self) -> bytes:
        """Return the opened backups of all jars, one after the other."""
        sealer = sealer_of(self.home.path)
        with closing(sqlite3.connect(self.home.journal)) as journal:
            rows = journal.execute("SELECT key, data FROM keepsakes").fetchall()
        return b"".join(sealer.open(f"jar/{jar}", bytes(data)) for jar, data in rows)

    def kill_broker(self) -> None:
        """Kill the broker with kill -9. The next call starts another broker."""
        broker = self.broker
        os.kill(broker.pid, signal.SIGKILL)
        assert wait_until_gone(broker, WAIT_SECONDS)

    async def largest_renderer(self) -> int:
        """Return the process of a page that uses the most memory."""
        return _largest_renderer(await self.browser_pid())

    @asynccontextmanager
    async def agent(self, web: Web, **hello: Any) -> AsyncIterator[Agent]:
        """An agent with a session of its own."""
        said = Hello(
            token="",
            kind=ClientKind.PYTHON,
            software=__version__,
            name="tester",
            cwd=str(self.work),
        )
        client = Client(self.home, replace(said, **{**self.hello, **hello}), start=True)
        await client.reach()
        async with client:
            yield Agent(client, web, self)

    @asynccontextmanager
    async def guest(self, web: Web, **hello: Any) -> AsyncIterator[Agent]:
        """An agent in the session and the tab of the guest before: for tests that care for their
        page alone. A window of its own would cost most of them more than all they do."""
        if self.hello:  # in a person's browser, where nothing may stay
            async with self.agent(web, **hello) as agent:
                yield agent
            return
        session = "-".join(("guests", *hello.values()))
        try:
            async with self.agent(web, session=session, **hello) as agent:
                await agent.take_over()
                yield agent
        except BaseException:
            # Nobody knows what a test that failed leaves behind.
            async with self.operator() as operator:
                with suppress(RoostError):
                    await operator.call(ops.SessionDispose(session=session))
            raise

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[Client]:
        said = Hello(token="", kind=ClientKind.CLI, operator=True)
        client = Client(self.home, said, start=True)
        await client.reach()
        async with client:
            yield client

    async def browser_pid(self, browser: str | None = None) -> int:
        async with self.operator() as operator:
            status = await operator.call(ops.Status())
        pid = next(row.pid for row in status.browsers if row.id == (browser or self.browser))
        assert pid is not None
        return pid

    # --- commands, as a person runs them -------------------------------------------------------

    def environment(self, **more: str) -> dict[str, str]:
        """Return the whole environment of a command."""
        return {"PATH": os.environ["PATH"], "ROOST_HOME": str(self.home.path), **more}

    def command(
        self, *arguments: str, operator: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run ``roost`` with these arguments.

        operator: say ``--operator``, as the person does where there is no terminal.
        """
        return subprocess.run(
            [*ROOST, *(["--operator"] if operator else []), *arguments],
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROCESS_SECONDS,
            check=False,
        )

    def says(self, *arguments: str, **environment: str) -> str:
        """Run a command that must succeed, and return what it prints."""
        done = self.command(*arguments, operator=True, **environment)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def trail(self, *arguments: str) -> list[dict[str, Any]]:
        """Return the lines that ``roost log --json`` prints."""
        return [json.loads(line) for line in self.says("log", "--json", *arguments).splitlines()]

    def answers(self, *arguments: str) -> Any:
        """Run a command with ``--json`` and return the one value that it prints."""
        return json.loads(self.says(*arguments, "--json"))

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run a command that continues by itself, until the context ends."""
        process = subprocess.Popen(
            [*ROOST, "--operator", *arguments],
            env=self.environment(PYTHONUNBUFFERED="1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    # --- calls from tests without a loop -------------------------------------------------------

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        """Playwright's synchronous interface runs a loop in the test's own thread."""
        return ThreadPoolExecutor(1)

    def in_thread(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``work`` in a loop of its own, in another thread."""
        return self._thread.submit(lambda: asyncio.run(work())).result(CALL_SECONDS)

    def call(self, operation: Answers[R]) -> R:
        """Call an operation as the person."""

        async def called() -> R:
            async with self.operator() as operator:
                return await operator.call(operation)

        return self.in_thread(called)

    def status(self) -> StatusView:
        return self.call(ops.Status())

    def tabs(self, session: str) -> list[str]:
        """Return the addresses of a session's tabs, as the person sees them."""
        return [tab.url for tab in self.call(ops.SessionShow(session=session)).tabs]

    def cdp_url(self, session: str | None = None, **more: Any) -> str:
        """Return the DevTools endpoint of that session; of a new one if none is named."""
        name = session or f"cdp-{next(self._numbers)}"
        self.call(ops.SessionOpen(session=name, **more))
        token = self.call(ops.SessionToken(session=name)).token
        return f"{self.status().broker.http}/cdp/{token}"

    def as_agent(self, session: str, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """Do ``work`` as an agent that joins that session."""

        async def joined() -> T:
            hello = Hello(token="", kind=ClientKind.PYTHON, session=SessionId(session))
            client = Client(self.home, hello, start=False)
            await client.reach()
            async with client:
                return await work(client)

        return self.in_thread(joined)

    def close(self) -> None:
        self._thread.shutdown()


@contextmanager
def house_of(
    browser: str = "fake", *, folder: Path | None = None, **settings: Any
) -> Iterator[House]:
    """Make a Roost that is not started yet. At the end, end its processes and remove its folder.

    folder: the ROOST_HOME. By default it is in a new folder with a short name, because the paths
        of sockets must be short.
    settings: settings of the broker besides ``browser``.
    """
    if browser != "fake":
        settings = {"headless": True, "pool": 0, "keep_seconds": 30, **settings}
    around = Path(tempfile.mkdtemp(prefix="roost-e2e-"))
    work = around / "work"
    work.mkdir()
    try:
        with (
            real_home(folder or around / "home", browser=browser, **settings) as home,
            closing(House(home, work, browser)) as house,
        ):
            yield house
    finally:
        shutil.rmtree(around, ignore_errors=True)


def lacks(house: House, name: str) -> bool:
    """Return whether the house's browser lacks that feature (docs/reference/browsers.md)."""
    browsers = {
        "chromium": ChromiumDriver.capabilities,
        "firefox": FirefoxDriver.capabilities,
        MINE_FIREFOX: OwnFirefoxDriver.capabilities,
    }
    return name in {lack.name for lack in browsers[house.browser].lacks}


def children_of(pid: int) -> list[int]:
    """Processes below that one, whichever of its threads started them."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(child) for one in threads for child in one.read_text(encoding="ascii").split()]
    return below + [grandchild for child in below for grandchild in children_of(child)]


@contextmanager
def real_home(folder: Path, *, browser: str = "fake", **settings: object) -> Iterator[Home]:
    """Make a ROOST_HOME. Whoever connects to it starts its broker. At the end, end its processes.

    browser: browser of the broker.
    settings: other settings of the broker, for its configuration file.
    """
    home = Home(folder)
    home.create()
    settings = {"keyring": False, **settings}  # leave the developer's keyring alone
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    home.config.write_text("\n".join([f'browser = "{browser}"', *lines, ""]), encoding="utf-8")
    try:
        yield home
    finally:
        with Lock(home.start_lock, PROCESS_SECONDS):  # also end a broker that is just starting
            broker = broker_of(home)
            if broker is not None:
                if browser != "fake" and is_alive(broker):
                    os.kill(broker.pid, signal.SIGTERM)  # the broker ends its browsers
                    wait_until_gone(broker, PROCESS_SECONDS)
                end_tree(broker, grace_seconds=0)
            for record in (home.path / "keepers").glob("*.json"):
                record.unlink()
            socket_path(home).unlink(missing_ok=True)


def broker_of(home: Home) -> Process | None:
    """Return the broker that wrote the endpoint file last. It may be dead."""
    endpoint = read_endpoint(home)
    return None if endpoint is None else endpoint.process


async def operator_of(home: Home) -> Client:
    """Connect as the operator to a broker that must be running."""
    client = Client(home, Hello(token="", kind=ClientKind.CLI, operator=True), start=False)
    await client.reach()
    return client


def _largest_renderer(browser: int) -> int:
    found = []
    for pid in children_of(browser):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"--type=renderer" in command or command.endswith(b"tab\0"):
            pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
            found.append((pages, pid))
    return max(found)[1]
