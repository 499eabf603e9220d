"""Build the broker with its drivers, journal, audit trail, clock, door and front ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roost import __version__
from roost.api.door import Language
from roost.broker.audit import Audit
from roost.broker.broker import Broker
from roost.broker.clock import Clock, SystemClock
from roost.broker.desktop import Desktop
from roost.broker.doors.door import BrokerDoor
from roost.broker.journal import Journal
from roost.broker.policy_text import policy_of, read_policy
from roost.broker.tokens import Tokens
from roost.broker.work.panels import Panels
from roost.broker.work.policy import apply_config
from roost.client import hints as client_hints
from roost.core.policy_layers import PolicyLayer
from roost.core.settings import CoreSettings
from roost.drivers.base import Driver
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.chromium.launch import ChromiumOptions, has_display
from roost.drivers.extension import OwnChromiumDriver, OwnFirefoxDriver
from roost.drivers.extension.host_link import HostLink
from roost.drivers.fake import FakeDriver
from roost.drivers.firefox import FirefoxDriver
from roost.drivers.firefox.launch import FirefoxOptions
from roost.drivers.keeper_process import KeeperProcess, Launch
from roost.errors import BrowserLost
from roost.frontends.cdp.endpoints import endpoints
from roost.frontends.cli import hints as cli_hints
from roost.frontends.dashboard.mount import dashboard
from roost.frontends.http.server import HttpServer
from roost.frontends.mcp.conversation import Mcp
from roost.frontends.mcp.lazy_server import LazyServer
from roost.frontends.mcp.replies import text_of
from roost.frontends.mcp.streamable import streamable
from roost.frontends.socket.server import SocketServer
from roost.frontends.verbs import hints as verb_hints
from roost.frontends.verbs.conversation import Verbs
from roost.local.browsers import find_browser
from roost.local.home import Home, socket_path
from roost.local.hosts import running_hosts
from roost.local.policy_place import policy_text
from roost.local.settings import Settings, shown_settings
from roost.page.bundle import bundle
from roost.profiles.store import ProfileStore
from roost.vault.key import HomeKey
from roost.vault.seal import Sealer
from roost.vault.secret_service import SecretService
from roost.vault.store import Vault
from roost.vocabulary import MINE, BrowserId, JarPolicy, browser_kind, own_browser
from roost.wire.hello import ClientKind

CHROMIUM = BrowserId("chromium")
FIREFOX = BrowserId("firefox")
MINE_CHROMIUM = own_browser("chromium")
MINE_FIREFOX = own_browser("firefox")
FAKE = BrowserId("fake")


def spell_verb(named: str) -> str | None:
    """Return the verb of a step, or else its command (a ``roost.hints.Spelling``)."""
    return verb_hints.spell(named) or cli_hints.spell(named)


SPELLINGS = {
    ClientKind.CLI: cli_hints.spell,
    ClientKind.PYTHON: client_hints.spell,
    ClientKind.VERB: spell_verb,
}
"""How peers of the socket perform what a hint names."""


@dataclass(frozen=True, slots=True)
class House:
    """The objects that ``main`` starts and stops."""

    broker: Broker
    door: BrokerDoor
    socket: SocketServer
    http: HttpServer
    mcp: LazyServer


def build(
    home: Home,
    settings: Settings,
    clock: Clock | None = None,
    reread: Callable[[], Settings] | None = None,
) -> House:
    """Build everything, but start nothing. Must be called inside a running event loop.

    reread: reads the settings again, for a policy that has changed since the start.
    """
    clock = clock or SystemClock()
    sealer = Sealer(HomeKey(home, SecretService() if settings.keyring else None))
    sealer.load_key()
    drivers = _drivers(home, settings)
    default = next(iter(drivers))
    own = frozenset(id for id, driver in drivers.items() if driver.capabilities.asks_person)
    broker = Broker(
        settings=CoreSettings(
            default_browser=default,
            pool_limits=dict.fromkeys(drivers, settings.pool),
            default_policy=dict.fromkeys(own, JarPolicy.SHARED),
            grouped=own,
            personal=own,
            reads=settings.reads,
            clones=settings.clones,
        ),
        drivers=drivers,
        journal=Journal(home.journal),
        audit=Audit(home.audit),
        clock=clock,
        tokens=Tokens(home.operator_token(), home),
        files=home.files,
        profiles=ProfileStore(home.profiles, sealer),
        sealer=sealer,
        vault=Vault(home.vault, sealer),
        version=__version__,
        upstream=settings.proxy,
        settings_shown=shown_settings(settings),
        request_wait=settings.request_wait,
        default=MINE if settings.browser == MINE else None,
        is_near=lambda browser: bool(running_hosts(home, browser)),
        is_expected=lambda browser: home.extension(browser_kind(browser)).is_dir(),
    )
    broker.read_policy = lambda: _policy(home, (reread() if reread else settings).policy)
    apply_config(broker)
    Panels(broker)
    if settings.notifications:
        Desktop(broker)
    door = BrokerDoor(broker, own_subagents=settings.subagents_sessions == "own")
    mcp = LazyServer()
    languages: dict[ClientKind, Language] = {
        ClientKind.MCP: Mcp(mcp),
        ClientKind.VERB: Verbs(text_of, spell_verb),
    }
    socket = SocketServer(door, socket_path(home), languages, SPELLINGS)
    mounts = {
        "/mcp": streamable(mcp, door),
        "/cdp/": endpoints(door),
        "/dashboard/": dashboard(door),
    }
    http = HttpServer(door, home, settings.port, mounts)
    return House(broker, door, socket, http, mcp)


def _policy(home: Home, given: Any) -> tuple[PolicyLayer, ...]:
    """Return the policy of the settings: a preset, a file, or a table of ``config.toml``."""
    if given is None:
        return ()
    if isinstance(given, dict):
        return (policy_of(given, "config.toml"),)
    text = policy_text(given, home.path)
    source = "config.toml" if text == given else f"config.toml ({given})"
    return (read_policy(text, source),)


def _drivers(home: Home, settings: Settings) -> dict[BrowserId, Driver]:
    """Return the drivers of the browsers a session may name, the default first. No browser is
    started yet."""
    if settings.browser == "fake":
        return {FAKE: FakeDriver()}
    default = _default(settings)
    chromium = ChromiumOptions(**_options(settings, is_default=default == CHROMIUM))
    firefox = FirefoxOptions(**_options(settings, is_default=default == FIREFOX))
    made: dict[BrowserId, Driver] = {
        CHROMIUM: ChromiumDriver(_keeper(home, CHROMIUM, chromium, settings), bundle()),
        FIREFOX: FirefoxDriver(_keeper(home, FIREFOX, firefox, settings), bundle()),
        # Drivers of the person's own browsers cost nothing until a browser links.
        MINE_CHROMIUM: OwnChromiumDriver(HostLink(home, MINE_CHROMIUM), bundle()),
        MINE_FIREFOX: OwnFirefoxDriver(HostLink(home, MINE_FIREFOX)),
    }
    return {default: made[default], **made}


def _default(settings: Settings) -> BrowserId:
    """Return the browser in the settings, else the first that is installed, else Chromium. At its
    first use, Chromium's driver then reports what is missing."""
    if settings.browser == MINE:
        return MINE_CHROMIUM  # ``Broker.chosen`` picks the linked one
    if settings.browser != "auto":
        return BrowserId(settings.browser)
    for kind in (CHROMIUM, FIREFOX):
        with contextlib.suppress(BrowserLost):
            find_browser(kind, settings.browser_path)
            return kind
    return CHROMIUM


def _keeper(home: Home, browser: BrowserId, launch: Launch, settings: Settings) -> KeeperProcess:
    return KeeperProcess(home, browser, launch, away_seconds=settings.keep_seconds)


def _options(settings: Settings, *, is_default: bool) -> dict[str, Any]:
    """Return the launch options. Path and extra flags apply only to the default browser."""
    width, height = map(int, settings.viewport.split("x"))
    return {
        "path": settings.browser_path if is_default else None,
        "headless": not has_display() if settings.headless is None else settings.headless,
        "viewport": (width, height),
        "proxy": settings.proxy,
        "ignore_tls_errors": settings.ignore_tls_errors,
        "args": tuple(settings.browser_arg) if is_default else (),
    }
