"""A real daemon with a real browser in a folder of its own, and agents that come in as users do."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from roost import __version__, ops
from roost.api import page_views as views
from roost.api.operations import Answers
from roost.api.views import PageView, TabsView, View
from roost.client.client import Client
from roost.daemon.wiring import MINE_FIREFOX
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.extension import OwnFirefoxDriver
from roost.drivers.firefox import FirefoxDriver
from roost.errors import BrowserLost, Internal, RoostError
from roost.local.broker_start import ensure_broker
from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.local.processes import Process, identify, is_alive, wait_until_gone
from roost.wire.hello import ClientKind, Hello
from tests.support.local_web import Web
from tests.support.real_processes import real_home

R = TypeVar("R", bound=View)
START_SECONDS = 45.0
WAIT_SECONDS = 30.0
"""No wait in these tests is longer; nothing waits this long in a run that passes."""


class House:
    """A Roost with a real browser, and agents that come in as users do.

    work: the agents' working directory.
    browser: the browser that they use.
    """

    def __init__(self, home: Home, work: Path, browser: str) -> None:
        self.home = home
        self.work = work
        self.browser = browser
        self.hello: dict[str, Any] = {}
        """More fields for every agent's hello."""

    def start(self) -> None:
        """Broker and browser: on a busy machine that takes longer than tests wait for a call."""
        ensure_broker(self.home)
        self.start_browser(self.browser)

    def start_browser(self, browser: str) -> None:
        asyncio.run(self._start_browser(browser))

    async def _start_browser(self, browser: str) -> None:
        opening = ops.SessionOpen(browser=browser, url="about:blank")
        async with self.operator() as operator:
            opened = await operator.call(opening, timeout=START_SECONDS)
            await operator.call(ops.SessionDispose(session=opened.id))

    @property
    def broker(self) -> Process:
        endpoint = read_endpoint(self.home)
        assert endpoint is not None
        return endpoint.process

    @property
    def log(self) -> str:
        return self.home.log.read_text(encoding="utf-8", errors="replace")

    def kill_broker(self) -> None:
        """Kill the broker with kill -9. The next call starts another broker."""
        broker = self.broker
        os.kill(broker.pid, signal.SIGKILL)
        assert wait_until_gone(broker, WAIT_SECONDS)

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


class Agent:
    """Short verbs over the client library: everything goes through ``call``."""

    def __init__(self, client: Client, web: Web, house: House) -> None:
        self.client = client
        self.web = web
        self.house = house
        self.patience = WAIT_SECONDS

    @property
    def session(self) -> str:
        assert self.client.session is not None
        return self.client.session

    @property
    def files(self) -> Path:
        """The session's own folder."""
        return self.house.home.files / self.session

    async def call(self, operation: Answers[R], *, timeout: float | None = None) -> R:
        async with asyncio.timeout(self.patience if timeout is None else timeout + 5):
            try:
                return await self.client.call(operation, timeout=timeout or self.patience - 3)
            except Internal as error:
                raise AssertionError(self.house.log[-3000:]) from error

    async def go(self, url: str, **more: Any) -> PageView:
        return await self.call(ops.Navigate(url=url, **more))

    async def show(self, body: str, **more: Any) -> PageView:
        """A new document with that body."""
        return await self.go(self.web.page(body, **more))

    async def open(self, url: str) -> str:
        """Another tab; its id."""
        tabs = await self.call(ops.Tabs(action="new", url=url))
        assert tabs.opened is not None
        return tabs.opened

    async def take_over(self) -> None:
        """The session's first tab, if there is one; others are closed."""
        tabs = [row.tab for row in (await self.tabs()).tabs]
        for tab in tabs[1:]:
            await self.call(ops.Close(tab=tab))
        for tab in tabs[:1]:
            await self.call(ops.Tabs(action="select", tab=tab))

    async def tabs(self) -> TabsView:
        return await self.call(ops.Tabs(action="list"))

    async def run(self, function: str, **more: Any) -> Any:
        return (await self.call(ops.Evaluate(function=function, **more))).value

    async def snapshot(self, **more: Any) -> str:
        return (await self.call(ops.Snapshot(**more))).snapshot

    async def wait_until_restored(self, text: str, tab: str | None = None) -> None:
        """Until the page with that text is there again, in a browser that was just killed."""
        snapshot = ""
        while text not in snapshot:
            with suppress(BrowserLost):
                snapshot = await self.snapshot(tab=tab)

    async def click(self, target: str, **more: Any) -> views.ActionView:
        return await self.call(ops.Click(target=target, **more))

    async def type(self, target: str, text: str, **more: Any) -> views.ActionView:
        return await self.call(ops.Type(target=target, text=text, **more))

    async def fill(self, target: str, value: Any) -> views.ActionView:
        return await self.call(ops.FillForm(fields=[ops.FormField(target=target, value=value)]))

    async def press(self, key: str, **more: Any) -> views.ActionView:
        return await self.call(ops.PressKey(key=key, **more))

    async def answer(self, accept: bool, text: str | None = None, **more: Any) -> views.ActionView:
        return await self.call(ops.HandleDialog(accept=accept, prompt_text=text, **more))

    async def wait(self, **condition: Any) -> views.WaitView:
        return await self.call(ops.WaitFor(**condition))

    async def log(self) -> list[Any]:
        """What the page put into ``window.log``."""
        found = await self.run("() => window.log")
        assert isinstance(found, list)
        return found


def lacks(house: House, name: str) -> bool:
    """Whether its browser says that it cannot do that (docs/reference/browsers.md)."""
    browsers = {
        "chromium": ChromiumDriver.capabilities,
        "firefox": FirefoxDriver.capabilities,
        MINE_FIREFOX: OwnFirefoxDriver.capabilities,
    }
    return name in {lack.name for lack in browsers[house.browser].lacks}


E = TypeVar("E", bound=RoostError)


async def refused(kind: type[E], call: Any) -> E:
    """The error the call is answered with, which must be of exactly that class."""
    try:
        answer = await call
    except RoostError as error:
        if type(error) is not kind:
            raise AssertionError(f"expected {kind.code}, got {error.to_wire()}") from error
        return error
    raise AssertionError(f"expected {kind.code}, was answered {answer!r}")


@contextmanager
def house_of(browser: str, **settings: Any) -> Iterator[House]:
    """Make a Roost in a folder of its own. ``House.start`` starts its broker and browser."""
    known = {"headless": True, "pool": 0, "keep_seconds": 30, **settings}
    folder = Path(tempfile.mkdtemp(prefix="roost-e2e-"))
    work = folder / "work"
    work.mkdir()
    try:
        with real_home(folder / "home", browser=browser, **known) as home:
            yield House(home, work, browser)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def children_of(pid: int) -> list[int]:
    """Processes below that one, whichever of its threads started them."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(child) for one in threads for child in one.read_text(encoding="ascii").split()]
    return below + [grandchild for child in below for grandchild in children_of(child)]


def gone(pid: int) -> bool:
    process = identify(pid)
    return process is None or not is_alive(process)


TRUSTED = """
<script>
  window.log = [];
  const note = (event) => window.log.push([event.type, event.isTrusted]);
  for (const kind of ["click", "dblclick", "contextmenu", "mousedown", "mouseup", "keydown",
                      "input", "change", "mouseover", "wheel", "dragstart", "drop"])
    addEventListener(kind, note, true);
</script>
"""
"""Put at the start of a page, it logs every event and whether it was trusted."""
