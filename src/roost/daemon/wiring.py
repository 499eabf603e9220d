"""Who is given what: the broker with its drivers, journal, audit, clock and door."""

from __future__ import annotations

from dataclasses import dataclass

from roost import __version__
from roost.broker.audit import Audit
from roost.broker.clock import Clock, SystemClock
from roost.broker.door import BrokerDoor
from roost.broker.journal import Journal
from roost.broker.service import Broker
from roost.core.state import Rules
from roost.daemon.settings import Settings
from roost.drivers.base import Driver
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.keeping import Keeping
from roost.drivers.chromium.launch import ChromiumOptions, has_display
from roost.drivers.fake import FakeDriver
from roost.frontends.socket.server import SocketServer
from roost.local.home import Home, socket_path
from roost.page.bundle import bundle
from roost.vocabulary import BrowserId

CHROMIUM = BrowserId("chromium")
FAKE = BrowserId("fake")


@dataclass(frozen=True, slots=True)
class House:
    """Everything that is built, so that it can be started and taken down in order."""

    broker: Broker
    door: BrokerDoor
    socket: SocketServer


def build(home: Home, settings: Settings, clock: Clock | None = None) -> House:
    """The whole house, not started. Call it inside a running event loop."""
    clock = clock or SystemClock()
    drivers = _drivers(home, settings)
    default = next(iter(drivers))
    broker = Broker(
        rules=Rules(
            default_browser=default,
            pool_limits=dict.fromkeys(drivers, settings.pool),
            reads=settings.reads,
        ),
        drivers=drivers,
        journal=Journal(home.journal),
        audit=Audit(home.audit),
        clock=clock,
        files=home.files,
        version=__version__,
        upstream=settings.proxy,
    )
    door = BrokerDoor(broker, home.operator_token())
    return House(broker, door, SocketServer(door, socket_path(home)))


def _drivers(home: Home, settings: Settings) -> dict[BrowserId, Driver]:
    """The browsers a session may name; the first is the default. None is started yet."""
    if settings.browser == "fake":
        return {FAKE: FakeDriver()}
    return {CHROMIUM: _chromium(home, settings)}


def _chromium(home: Home, settings: Settings) -> ChromiumDriver:
    width, height = map(int, settings.viewport.split("x"))
    headless = not has_display() if settings.headless is None else settings.headless
    options = ChromiumOptions(
        path=settings.browser_path,
        headless=headless,
        viewport=(width, height),
        proxy=settings.proxy,
        ignore_tls_errors=settings.ignore_tls_errors,
        args=tuple(settings.browser_arg),
    )
    keeping = Keeping(home, CHROMIUM, options, away_seconds=settings.keep_seconds)
    return ChromiumDriver(keeping, bundle())
