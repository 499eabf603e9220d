"""A whole Roost in this process, with a fake browser and a fake clock.

Core, broker, journal and socket are real.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from roost import __version__
from roost.api.door import Admission
from roost.broker.broker import Broker
from roost.broker.doors.door import BrokerDoor
from roost.client.client import Client
from roost.core import events as ev
from roost.core.rows import Consent
from roost.core.state import State
from roost.daemon.wiring import FAKE, build
from roost.drivers.base import (
    Cookie,
    Group,
    Picture,
    Report,
    RunningBrowser,
    Shot,
)
from roost.drivers.events import (
    PersonAnswered,
)
from roost.drivers.fake import FakeBrowser, FakeDriver, GroupedBrowser, GroupedDriver
from roost.drivers.fake.browser import any_page
from roost.drivers.fake.page import FakePageDriver
from roost.frontends.http.server import HttpServer
from roost.frontends.socket.server import SocketServer
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home, socket_path
from roost.local.processes import Peer, identify
from roost.local.settings import Settings
from roost.testing.clock import FakeClock
from roost.vocabulary import WIRE_VERSION, JarPolicy, Reads, TabHandle, TabId
from roost.wire.hello import ClientKind, Hello


class HeldDriver(FakeDriver):
    """A fake driver whose browser can be slow or fail.

    Clear a ``may_…`` event to make the calls of that kind wait.
    """

    def __init__(self, browser: FakeBrowser | None = None) -> None:
        super().__init__(browser)
        self.may_start = _opened()
        self.may_open = _opened()
        self.may_capture = _opened()
        self.may_make = _opened()
        self.may_fill = _opened()
        self.failing: Exception | None = None
        """While this is set, starting the browser and opening tabs fail with it."""
        self.starts = 0
        self.asked = 0
        """Number of tabs and captures asked for, including those that wait."""
        self.makings = self.fillings = 0

    async def start(self, report: Report) -> RunningBrowser:
        self.starts += 1
        await self.may_start.wait()
        if self.failing is not None:
            raise self.failing
        return await super().start(report)

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        self.makings += 1
        await self.may_make.wait()
        return await super().make_jar(policy, proxy=proxy, downloads=downloads)

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        self.fillings += 1
        await self.may_fill.wait()
        return await super().write_cookies(jar, cookies)

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        self.asked += 1
        await self.may_open.wait()
        if self.failing is not None:
            raise self.failing
        return await super().open_tab(jar, group)

    def page(self, tab: TabHandle) -> HeldPageDriver:
        self.find(tab)
        return HeldPageDriver(self, tab)


class HeldPageDriver(FakePageDriver):
    """A fake tab whose screenshots wait until the test lets them go."""

    def __init__(self, driver: HeldDriver, tab: TabHandle) -> None:
        super().__init__(driver.browser, partial(driver.find, tab))
        self._driver = driver

    async def capture(self, shot: Shot) -> Picture:
        self._driver.asked += 1
        await self._driver.may_capture.wait()
        return await super().capture(shot)


class HeldGroupedDriver(HeldDriver, GroupedDriver):
    """A ``HeldDriver`` of a person's own browser, with tab groups."""


def _opened() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(frozen=True, slots=True)
class FakeHouse:
    """A running Roost made by ``fake_house``, and ways to connect to it."""

    home: Home
    clock: FakeClock
    driver: HeldDriver
    broker: Broker
    door: BrokerDoor
    socket: SocketServer
    http: HttpServer

    @property
    def state(self) -> State:
        return self.broker.state

    @property
    def browser(self) -> FakeBrowser:
        return self.driver.browser

    @property
    def person(self) -> GroupedBrowser:
        """The person's own browser, in a house with ``has_person``."""
        assert isinstance(self.driver, GroupedDriver)
        return self.driver.browser

    def hello(self, kind: ClientKind = ClientKind.PYTHON) -> Hello:
        """Return a hello of that kind.

        A command says ``--operator``, because tests run without a terminal.
        """
        is_command = kind is ClientKind.CLI
        token = self.home.operator_token()
        return Hello(token=token, kind=kind, name="tester", operator=is_command)

    def admit(self, hello: Hello | None = None, *, pid: int | None = None) -> Admission:
        """Be admitted without a socket. ``pid``: the caller's process; this process by default."""
        peer = Peer(os.getuid(), os.getpid() if pid is None else pid)
        return self.door.admit(hello or self.hello(), peer, on_end=lambda: None)

    async def welcome(self) -> Admission:
        """Be admitted as an agent that the person allows to use their browser, which is up."""
        admission = self.admit()
        await self.broker.browsers[FAKE].ready()
        self.person.say(PersonAnswered(self.label_of(admission), True))
        return admission

    def label_of(self, admission: Admission) -> str:
        """Return the name under which the person is asked about that agent."""
        agent = self.state.agents[admission.agent]
        return Consent(browser=FAKE, name=agent.known_as, called=agent.name).label

    def group_of(self, admission: Admission) -> str:
        """Return the key of the group that shows the agent's own session."""
        return self.state.sessions[self.state.agents[admission.agent].own_session].group

    async def client(self, hello: Hello | None = None) -> Client:
        """Connect a client through the socket."""
        client = Client(self.home, replace(hello or self.hello(), token=""), start=False)
        await client.reach()
        return client

    def handle(self, tab: str) -> TabHandle:
        """Return the fake browser's own id of a tab."""
        return self.broker.handle(TabId(tab))


@asynccontextmanager
async def fake_house(
    folder: Path,
    *,
    browser: FakeBrowser | None = None,
    clock: FakeClock | None = None,
    pool: int = 12,
    reads: Reads = Reads.PRIVATE,
    has_person: bool = False,
) -> AsyncIterator[FakeHouse]:
    """Build a Roost in that folder, listen, and take it down at the end.

    ``browser``: the browser to use; it outlives this house.
    ``clock``: the clock to use.
    ``pool``: tab limit of the browser.
    ``reads``: who may read a tab.
    ``has_person``: the browser is a person's own, with tab groups.

    A house in the folder of an earlier one continues from its journal. Give it the earlier house's
    browser to play a browser that outlived its broker.
    """
    home = Home(folder)
    home.create()
    clock = clock or FakeClock()
    settings = Settings(browser="fake", pool=pool, reads=reads, keyring=False)
    house = build(home, settings, clock)
    driver = HeldDriver(browser or FakeBrowser(any_page))
    if has_person:
        driver = _with_person(house.broker, browser)
    house.broker.browsers[FAKE].driver = driver
    async with AsyncExitStack() as stack:
        stack.push_async_callback(
            _take_down, house.broker, driver, keeps_browser=browser is not None
        )
        await house.socket.start()
        stack.push_async_callback(house.socket.aclose)
        house.broker.http = house.http.start()
        stack.push_async_callback(house.http.aclose)
        _announce(home)
        house.broker.hear(ev.BrokerListens())
        yield FakeHouse(home, clock, driver, house.broker, house.door, house.socket, house.http)


def _with_person(broker: Broker, browser: FakeBrowser | None) -> HeldDriver:
    """Make the browser a person's own."""
    its = frozenset({FAKE})
    broker.state.settings = replace(
        broker.state.settings, grouped=its, personal=its, default_policy={FAKE: JarPolicy.SHARED}
    )
    return HeldGroupedDriver(browser or GroupedBrowser(any_page))


async def _take_down(broker: Broker, driver: HeldDriver, *, keeps_browser: bool) -> None:
    await broker.aclose(end_browsers=not keeps_browser)
    driver.browser.report = None  # a dead broker gets no more events


def _announce(home: Home) -> None:
    process = identify(os.getpid())
    assert process is not None
    write_endpoint(home, Endpoint(socket_path(home), process, __version__, WIRE_VERSION))
