"""The one interface between the broker and a browser.

What the neighbours call our words:

==========  =================  ========================  =====================  ===============
ours        CDP                WebDriver BiDi            WebExtension           Playwright
==========  =================  ========================  =====================  ===============
jar         browserContextId   user context              cookieStoreId          BrowserContext
tab         page target        top-level context         tabs.Tab               Page
TabHandle   targetId           context id                tab id                 guid
==========  =================  ========================  =====================  ===============

Every method may raise ``BrowserLost`` (the browser died; all later calls do too), and methods that
take a tab ``TabGone`` (closed or never there) and ``TabCrashed``. A call that is running when its
tab closes or crashes, or its browser dies, fails at once with that error; none is left hanging.
Cancelling a call is always safe. No method brings a tab to the front or takes the focus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from roost.vocabulary import JarPolicy, TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What this browser can do. Never a permission."""

    jars: frozenset[JarPolicy] = frozenset({JarPolicy.FRESH, JarPolicy.SHARED})
    trusted_input: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A browser that is ready, with the tabs and jars it has at this moment."""

    version: str
    pid: int | None
    headless: bool
    resumed: bool
    """It ran already: its tabs are the ones an earlier driver left."""
    tabs: frozenset[TabHandle] = field(default_factory=frozenset)
    jars: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a navigation ended: the real final address and its HTTP status (None: no request)."""

    url: str
    title: str
    status: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What picture to take of a tab."""

    format: str = "jpeg"
    quality: int = 60
    scale: float = 0.5
    full_page: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    data: bytes
    mime_type: str
    width: int
    height: int


# --- what a driver reports ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TabAppeared:
    """A tab nobody asked this driver for. Reported before anything else about that tab.

    ``opener`` and ``jar`` say whose it is, as far as the browser knows.
    """

    handle: TabHandle
    opener: TabHandle | None
    jar: str | None
    url: str


@dataclass(frozen=True, slots=True)
class TabDisappeared:
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabArrived:
    """A document was committed, or its title became known."""

    handle: TabHandle
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class TabDied:
    """The page's process crashed; the tab is still there."""

    handle: TabHandle


@dataclass(frozen=True, slots=True)
class BrowserEnded:
    """The browser is gone, with every tab and jar in it. Nothing more will be reported."""

    reason: str


DriverEvent = TabAppeared | TabDisappeared | TabArrived | TabDied | BrowserEnded
Report = Callable[[DriverEvent], None]


class Driver(Protocol):
    """One browser. Called by ``roost.broker.browsers`` alone."""

    @property
    def capabilities(self) -> Capabilities: ...

    async def start(self, report: Report) -> Started:
        """Start the browser, or take over the one that still runs. Tabs that open meanwhile are
        either in ``Started`` or reported, never both and never neither. ``Unsupported`` or
        ``BrowserLost`` when there is none to be had; then ``start`` may be called again."""

    async def stop(self) -> None:
        """End the browser and everything it started. Safe to call twice, and after a crash."""

    async def make_jar(self, policy: JarPolicy) -> str:
        """A jar's handle. ``JarUnavailable`` for a policy outside the capabilities."""

    async def remove_jar(self, jar: str) -> None:
        """Close its tabs and forget its cookies. Removing one that is gone is no error."""

    async def open_tab(self, jar: str) -> TabHandle:
        """A blank tab in that jar, in the background. ``JarUnavailable`` if the jar is gone."""

    async def close_tab(self, tab: TabHandle) -> None:
        """Close without asking the page. Closing one that is gone is no error."""

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        """Go there and wait for the document. Works on a crashed tab, too. ``NotFound`` when the
        server cannot be reached (``reason`` says how); an HTTP error status is an arrival."""

    async def evaluate(self, tab: TabHandle, function: str) -> Any:
        """Call a JavaScript function in the page's own world, await its promise, return its JSON
        value. ``BadRequest`` with the exception's text when it throws or does not parse."""

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        """A picture of the tab as it is, in the background; other tabs do not wait for it."""
