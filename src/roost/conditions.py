"""Conditions: what the pages of a session find, apart from the sites themselves.

A session's conditions hold for all of its tabs. One tab may have conditions of its own, which win
over the session's. The core keeps them, the broker gives them to the driver, and the driver makes
the browser follow them, from a tab's first document on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Final

from roost.vocabulary import MIB

ROUTES: Final = 50
"""Maximum number of route rules in one session."""
SCRIPTS: Final = 10
"""Maximum number of init scripts in one session."""
SESSION_BYTES: Final = 64 * MIB
"""Maximum size of the answers of all route rules of one session, those of its tabs included."""
ALL_BYTES: Final = 512 * MIB
"""Maximum size of the answers of all route rules of all sessions."""
TEXT_CHARS: Final = 2_000_000
"""Maximum number of characters in the headers and scripts of one session, or of one tab."""
ANY_ORIGIN: Final = "*"
KINDS: Final = (
    "document", "stylesheet", "image", "media", "font", "script", "xhr", "fetch", "other",
)  # fmt: skip
"""The kinds of requests that a rule can name."""
ABORTS: Final = (
    "aborted", "accessdenied", "addressunreachable", "blockedbyclient", "connectionaborted",
    "connectionclosed", "connectionfailed", "connectionrefused", "connectionreset", "failed",
    "internetdisconnected", "namenotresolved", "timedout",
)  # fmt: skip
"""The reasons for which a rule can abort a request, by Playwright's names."""

Header = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """A slow network: extra latency in milliseconds, and throughput in bytes per second."""

    latency: float
    download: float
    upload: float


THROTTLES: Final = {
    "slow-3g": Throttle(latency=2000, download=50_000, upload=50_000),
    "3g": Throttle(latency=562.5, download=180_000, upload=84_375),
    "4g": Throttle(latency=165, download=1_012_500, upload=168_750),
}
"""Network presets. The figures are those of Chromium's developer tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One response of a HAR file. ``body_path``: file with its body."""

    url: str
    method: str
    status: int
    headers: tuple[Header, ...]
    body_path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One rule for the requests of a page. The newest rule that matches a request applies.

    url: glob of the addresses (``roost.wire.globs``).
    method, kinds: requests that the rule is limited to; None and empty: all.
    abort: reason to fail the request for.
    status, headers, body_path: the response to answer with instead of the server's. The request is
        answered if ``status`` is set. ``body_path`` names a file that Roost wrote.
    request_headers, remove_headers: changes of a request that goes to the server.
    delay_ms: how long the request waits first.
    """

    id: str
    url: str
    method: str | None = None
    kinds: tuple[str, ...] = ()
    abort: str | None = None
    status: int | None = None
    headers: tuple[Header, ...] = ()
    body_path: str | None = None
    request_headers: tuple[Header, ...] = ()
    remove_headers: tuple[str, ...] = ()
    delay_ms: int = 0
    har: str | None = None
    folder: str | None = None
    """Folder of the caller whose files answer the requests."""
    """Folder of a HAR file's responses, which this rule answers from."""
    size: int = 0
    """Bytes of the files that Roost wrote for this rule."""
    shown: str = ""
    """What the rule does, in words."""

    def takes(self, method: str, kind: str) -> bool:
        """Return whether the rule is for requests of that method and kind."""
        if self.kinds and kind not in self.kinds:
            return False
        return self.method is None or self.method == method.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginHeaders:
    """Headers that are added to every request to one origin, or to all (``*``)."""

    origin: str
    headers: tuple[Header, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The name and password for the servers of one origin that ask for them."""

    origin: str
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Geolocation:
    latitude: float
    longitude: float
    accuracy: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Permissions that are granted to one origin, or to all (``*``)."""

    origin: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script that runs in each new document, before the document's own scripts."""

    name: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """The device that pages find. None leaves the browser's own value."""

    device: str | None = None
    width: int | None = None
    height: int | None = None
    scale: float | None = None
    mobile: bool | None = None
    touch: bool | None = None
    user_agent: str | None = None
    geolocation: Geolocation | None = None
    locale: str | None = None
    timezone: str | None = None
    color_scheme: str | None = None
    reduced_motion: str | None = None
    contrast: str | None = None
    media: str | None = None

    def over(self, under: Emulation) -> Emulation:
        """Return these values, and those of ``under`` where this has none."""
        mine = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(under, **{name: to for name, to in mine.items() if to is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """All conditions of a session or of one tab."""

    routes: tuple[Route, ...] = ()
    headers: tuple[OriginHeaders, ...] = ()
    credentials: tuple[Credentials, ...] = ()
    offline: bool | None = None
    throttle: str | None = None
    emulation: Emulation = Emulation()
    grants: tuple[Grant, ...] = ()
    scripts: tuple[Script, ...] = ()

    def over(self, under: Conditions) -> Conditions:
        """Return these conditions of a tab over those of its session."""
        if self == NO_CONDITIONS:
            return under
        return Conditions(
            routes=under.routes + self.routes,
            headers=under.headers + self.headers,
            credentials=under.credentials + self.credentials,
            offline=under.offline if self.offline is None else self.offline,
            throttle=under.throttle if self.throttle is None else self.throttle,
            emulation=self.emulation.over(under.emulation),
            grants=under.grants,
            scripts=under.scripts + self.scripts,
        )

    def size(self) -> int:
        """Return the bytes of the files that Roost wrote for the route rules."""
        return sum(route.size for route in self.routes)

    def chars(self) -> int:
        """Return the number of characters in headers and scripts."""
        headers = [one for to in self.headers for one in to.headers]
        for route in self.routes:
            headers += [*route.headers, *route.request_headers]
        texts = [script.text for script in self.scripts]
        return sum(len(name) + len(value) for name, value in headers) + sum(map(len, texts))


NO_CONDITIONS: Final = Conditions()


def written_origin(url: str) -> str:
    """Return scheme, host and port of an address as they are written there, in lower case."""
    scheme, separator, rest = url.partition("://")
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    return f"{scheme}{separator}{authority.rpartition('@')[2]}".lower()


def headers_for(conditions: Conditions, url: str) -> list[Header]:
    """Return the extra headers of a request to that address that are limited to its origin."""
    origin = written_origin(url)
    return [one for to in conditions.headers if to.origin == origin for one in to.headers]


def credentials_for(conditions: Conditions, url: str) -> Credentials | None:
    """Return the newest name and password for the address."""
    origin = written_origin(url)
    fitting = (one for one in reversed(conditions.credentials) if one.origin == origin)
    return next(fitting, None)


def plain_headers(conditions: Conditions) -> dict[str, str]:
    """Return the headers for requests to all origins."""
    every = (to.headers for to in conditions.headers if to.origin == ANY_ORIGIN)
    return dict(one for headers in every for one in headers)
