"""The one interface between the broker and a browser.

Other APIs use these words for the same things:

==========  =================  ========================  =====================  ===============
ours        CDP                WebDriver BiDi            WebExtension           Playwright
==========  =================  ========================  =====================  ===============
jar         browserContextId   user context              cookieStoreId          BrowserContext
tab         page target        top-level context         tabs.Tab               Page
TabHandle   targetId           context id                tab id                 guid
==========  =================  ========================  =====================  ===============

Every method may raise ``BrowserLost``: the browser died, and all later calls fail as well. Methods
that take a tab may also raise ``TabGone`` (closed or never there) and ``TabCrashed``. If the tab
closes or crashes, or the browser dies, while a call runs, the call fails at once with that error.
Callers may always cancel a call. Only ``bring_to_front`` changes what is in front or focused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from roost.conditions import Conditions
from roost.drivers.events import DriverEvent
from roost.drivers.link import Link
from roost.errors import RoostError
from roost.vocabulary import Color, JarPolicy, TabHandle


@dataclass(frozen=True, slots=True)
class Lack:
    """An operation's feature that this browser lacks. The generated reference lists all lacks."""

    name: str
    then: str
    """The behaviour a caller gets instead."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The features this browser has. Capabilities describe the browser and grant nothing."""

    jars: frozenset[JarPolicy] = frozenset(JarPolicy)
    trusted_input: bool = True
    page_work: bool = True
    """All of ``PageDriver`` works. False: only ``navigate``, ``evaluate`` and ``capture`` do."""
    draws_for_pictures: bool = True
    """``capture`` makes the page draw a new frame, which runs its animation frame callbacks."""
    sees_messages: bool = True
    """The driver reports messages of WebSockets and event sources."""
    holds_buttons: bool = True
    """Input may hold a mouse button down from one ``act`` to the next."""
    groups: bool = False
    """The browser shows tabs in groups, which the person may change."""
    asks_person: bool = False
    """This is the person's own browser: the broker asks for consent before a new agent uses it."""
    lacks: tuple[Lack, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """The tab group in which a browser shows the tabs of one session.

    ``key`` identifies the group, also after the browser restarts. The person sees the other fields.
    """

    key: str
    title: str
    color: Color


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningBrowser:
    """A browser that is ready to use, with its current tabs and jars."""

    version: str
    pid: int | None
    headless: bool
    resumed: bool
    """The browser was already running, with the tabs that an earlier driver opened."""
    tabs: frozenset[TabHandle] = field(default_factory=frozenset)
    jars: frozenset[str] = field(default_factory=frozenset)
    groups: Mapping[TabHandle, str] = field(default_factory=dict)
    """The key of each tab's group, if the browser has groups."""
    places: Mapping[TabHandle, str] = field(default_factory=dict)
    """The address of each tab. A browser that restores a tab gives it a new handle, so the broker
    recognizes the tab by its group, address and jar."""
    jar_of: Mapping[TabHandle, str] = field(default_factory=dict)
    """The jar of each tab."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The script that does page work inside pages. Bundles with different code have different
    versions."""

    text: str = field(repr=False)
    version: str


NO_BUNDLE = Bundle("", "")
"""For drivers that do no page work."""


BLANK = "about:blank"
"""The address of a new tab, in every browser."""
SHARED_JAR = "default"
"""The handle of the browser's own jar, in every browser."""
NO_TUNNEL = frozenset({"net::ERR_TUNNEL_CONNECTION_FAILED", "NS_ERROR_PROXY_FORBIDDEN"})
"""The ``reason`` of ``NotFound`` when the jar's proxy refused an https page, for each browser."""
FAILED_TITLE = "This page failed to load"
"""The title of a tab that shows the browser's error page. The tab's address is the failed one."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of a navigation: the final address and its HTTP status (None: no request).

    ``stayed``: the response was not a document (a download, 204), so the tab kept its old page.
    """

    url: str
    title: str
    status: int | None
    stayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """The options of a screenshot."""

    format: str = "jpeg"
    quality: int = 60
    scale: float = 0.5
    full_page: bool = False
    clip: tuple[float, float, float, float] | None = None
    """The part of the viewport to capture: x, y, width, height."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture. ``width`` and ``height`` are in pixels of the picture."""

    data: bytes
    mime_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmOptions:
    """The JPEG pictures of a film. ``interval``: the least time between two, in seconds."""

    width: int
    height: int
    quality: int = 50
    interval: float = 1.0


@dataclass(frozen=True, slots=True)
class FilmPicture:
    """One JPEG picture of a film. ``viewport``: the page's width and height in CSS pixels."""

    data: bytes
    viewport: tuple[float, float]


Show = Callable[[FilmPicture], None]
Miss = Callable[[RoostError], None]


class Film(Protocol):
    """Pictures of one tab, as long as a viewer shows them.

    The first picture comes at once. Each later one comes after ``go_on``, when the page has
    changed. A film ends with its tab, with its browser, or by ``close``.
    """

    def go_on(self) -> None:
        """Ask for the next picture. Does nothing if it was asked for already."""

    def close(self) -> None:
        """End the film. No picture comes after this. Safe to call twice."""


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """One frame of a tab. ``parent`` is None for the main frame."""

    id: str
    parent: str | None
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """One cookie with all its attributes. ``expires`` is None for a session cookie."""

    name: str
    value: str = field(repr=False)
    domain: str
    path: str = "/"
    expires: float | None = None
    http_only: bool = False
    secure: bool = False
    same_site: str | None = None
    """``Strict``, ``Lax`` or ``None`` as text; None if the site set no SameSite attribute."""
    partition_key: str | None = None
    """The top-level site of a partitioned cookie."""
    cross_site_ancestor: bool = True
    """A frame below a page of another site set this partitioned cookie."""


@dataclass(frozen=True, slots=True)
class OriginStorage:
    """One origin's localStorage and IndexedDB."""

    origin: str
    items: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    databases: str = field(default="", repr=False)
    """The origin's IndexedDB as JSON in Playwright's format. Empty: none, or it was not read."""


@dataclass(frozen=True, slots=True)
class JarContents:
    """The part of a jar's contents that can be copied to another jar."""

    cookies: tuple[Cookie, ...] = ()
    storage: tuple[OriginStorage, ...] = ()


# --- input -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MouseMove:
    """Move the mouse to a point of the viewport, in CSS pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class MouseDown:
    """Press a mouse button where the mouse is. ``clicks``: 2 for a double click's second press."""

    button: str = "left"
    clicks: int = 1


@dataclass(frozen=True, slots=True)
class MouseUp:
    """Lift a mouse button where the mouse is. ``clicks`` is that of the press."""

    button: str = "left"
    clicks: int = 1


@dataclass(frozen=True, slots=True)
class Wheel:
    """Turn the wheel at a point by ``dx`` and ``dy`` CSS pixels."""

    x: float
    y: float
    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class KeyDown:
    """Press a key: one character, or a DOM key name listed in ``roost.page.keys``."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyUp:
    """Lift a key that was pressed."""

    key: str


@dataclass(frozen=True, slots=True)
class InsertText:
    """Insert text into the focused field at once, as an input method does."""

    text: str


@dataclass(frozen=True, slots=True)
class TouchDown:
    """Put one finger on a point of the viewport."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class TouchMove:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class TouchUp:
    """Lift the finger."""


Touch = TouchDown | TouchMove | TouchUp
Input = MouseMove | MouseDown | MouseUp | Wheel | KeyDown | KeyUp | InsertText | Touch


@dataclass(frozen=True, slots=True)
class Dropped:
    """What is dropped on a page from outside of it: files by path, and data by MIME type."""

    paths: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@runtime_checkable
class LinkedDriver(Protocol):
    """A driver that reaches its browser through a keeper or a native host."""

    def linked(self, link: Link) -> None:
        """Take the link of a keeper or host that connected. ``start`` uses it or waits for it."""


@runtime_checkable
class LabelDriver(Protocol):
    """A driver that labels the windows of a managed browser, see ``window_labels``."""

    async def label(self, jar: str, group: Group) -> None:
        """Label the jar's window again, after an earlier driver's label was lost. Do nothing
        without windows, and if the window has its label."""


ConditionsOf = Callable[[TabHandle], Conditions]
"""Returns the conditions that hold in an open tab."""


@runtime_checkable
class ConditionsDriver(Protocol):
    """A driver that makes pages follow conditions (``roost.conditions``).

    It asks for the conditions of tabs that no call opened, and of those that it takes over from an
    earlier driver, before their pages run. Conditions that this browser cannot follow raise
    ``Unsupported``, and then none of the conditions changes.
    """

    def ask_conditions(self, of: ConditionsOf) -> None:
        """Use ``of`` to ask for the conditions of tabs. Call this before ``start``."""

    def check_conditions(self, conditions: Conditions) -> None:
        """Raise ``Unsupported`` if this browser cannot follow these conditions."""

    async def put_jar_conditions(self, jar: str, conditions: Conditions) -> None:
        """Set the conditions of all tabs of a jar, as far as the browser keeps them for jars. Call
        this before a tab opens in the jar, and never for the shared jar."""

    async def put_conditions(self, tab: TabHandle, conditions: Conditions) -> None:
        """Set the conditions of one tab. They hold from the next request and document on."""


class ProtocolEar(Protocol):
    """The receiver of a tap's frames, which are the browser's unchanged bytes, ids included."""

    def answered(self, key: Hashable, frame: bytes) -> None:
        """Receive the reply to the command that was sent with that key."""

    def heard(self, session: str, frame: bytes) -> None:
        """Receive an event of the tap's own session, or of a session attached through it."""

    def ended(self) -> None:
        """Learn that the browser ended. This is the last call."""


class ProtocolTap(Protocol):
    """A browser-level protocol session for one DevTools client."""

    @property
    def session(self) -> str:
        """The protocol session's id, which the session's frames contain."""

    @property
    def unanswered_bytes(self) -> int:
        """The size of all commands without a reply yet, including the memory to track them."""

    def send(self, key: Hashable, method: str, params: dict[str, Any], session: str = "") -> None:
        """Send a command in that session (empty: the tap's own). Do nothing after the end."""


@dataclass(frozen=True, slots=True)
class Hold:
    """An answer to a report of a new tab: keep its page paused until every tap has released it."""

    taps: frozenset[ProtocolTap]


Report = Callable[[DriverEvent], Hold | None]
"""Gets a driver's events, in order. Only a ``ProtocolDriver`` gets a ``Hold``."""


@runtime_checkable
class ProtocolDriver(Protocol):
    """A driver that lets DevTools clients speak the browser's own protocol. The driver checks
    nothing: the broker and its front end decide which commands a client may send."""

    async def version(self) -> dict[str, Any]:
        """Return the browser's version, as the protocol describes it."""

    async def targets(self) -> list[dict[str, Any]]:
        """Return the browser's open targets, as the protocol describes them."""
        ...

    async def open_tap(self, ear: ProtocolEar) -> ProtocolTap:
        """Connect a protocol client to the browser. ``ear`` gets what the browser sends."""
        ...

    def close_tap(self, tap: ProtocolTap) -> None:
        """End the tap's session and all below it, and release its holds. Safe to call twice."""

    def release(self, tab: TabHandle, tap: ProtocolTap) -> None:
        """End the tap's hold on a tab (see ``Hold``). Do nothing if the tap holds it not."""

    def tab_of(self, frame: str) -> TabHandle | None:
        """Return the tab that contains the frame with that protocol id."""

    async def put_downloads(self, jar: str, folder: str) -> None:
        """Set the jar's download folder again after a tap closed: the tap may have set another one,
        which ended with it. Raises ``JarUnavailable`` if the jar is gone."""


class PageDriver(Protocol):
    """The page primitives of one tab. ``roost.page`` builds all other page work on them.

    After the tab closed or left its group, every method raises ``TabGone``. After the browser
    ended, every method raises ``BrowserLost``. Only ``navigate``, ``reload`` and methods that do
    not need the page's process work on a crashed tab; the others raise ``TabCrashed``.
    """

    async def navigate(self, url: str) -> Arrival:
        """Go to the address and wait for the document. This works from a crashed or busy page.
        The old page's dialogs are dismissed, except ``beforeunload``. ``reload`` and ``travel``
        behave alike. Raises ``NotFound`` with a ``reason`` when the server cannot be reached; an
        HTTP error status is an ordinary ``Arrival``."""

    async def reload(self) -> Arrival:
        """Load the page again. This also works on a crashed tab."""

    async def travel(self, delta: int) -> Arrival:
        """Go back (-1) or forward (1). Raises ``NotFound`` if the history has no such entry."""

    async def evaluate(
        self, function: str, *, frame: str | None = None, ref: str | None = None
    ) -> Any:
        """Call a JavaScript function in the page's own world, await its promise and return its
        JSON value. ``ref``: an element of ``frame`` to pass to the function. Raises ``BadRequest``
        with the exception's text when the function throws or does not parse."""

    async def all_frames(self) -> list[FrameInfo]:
        """Return the tab's frames, the main frame first, parents before children."""

    async def call_page(
        self,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        """Call a function of the bundle in the frame (None: main), in a world hidden from pages.
        ``owner_of``: a child frame, whose element the function gets as ``argument.element``.
        If the document is replaced before it answers, call the function in the next document.
        ``once``: never call twice, but raise ``Interrupted`` if the function may have run.
        Raises ``NotFound`` if a frame is gone."""

    async def act(
        self, inputs: Sequence[Input], frame: str | None, argument: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Send trusted input in order, also to a background tab, and wait for its effects. Without
        inputs, wait for the effects of the last input. Effects are event handlers and at most one
        drawn frame; a navigation's document; a tab that opens. Return what the bundle's
        ``settled`` answers to ``argument`` in ``frame``; None if that document is gone."""

    async def send_input(self, inputs: Sequence[Input]) -> None:
        """Send trusted input in order, also to a background tab, and do not wait for its effects.
        ``act`` is for agents; this is for a person who sees what the input does."""

    async def drop(self, point: tuple[float, float], dropped: Dropped) -> None:
        """Drop files and data on a point of the viewport, with trusted events. Raises
        ``Unsupported`` if the browser has no command for it."""

    async def release(self) -> None:
        """Release the mouse buttons and keys that input holds down, without a click or a drop.
        Does nothing if input holds none."""

    async def capture(self, shot: Shot) -> Picture:
        """Take a screenshot of the tab in the background. Other tabs do not wait for it."""

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        """Set the files of the file input ``ref``."""

    async def choose_files(self, paths: Sequence[str]) -> None:
        """Answer the page's last request for files. Raises ``NotFound`` if none is open."""

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        """Answer the page's open dialog. Raises ``NotFound`` if no dialog is open."""

    async def resize(self, width: int, height: int) -> None:
        """Set the viewport size of this tab and of no other tab."""

    async def pdf(self) -> bytes:
        """Print the page and return the PDF."""

    async def body(self, request: str) -> bytes:
        """Return a response's body. Raises ``NotFound`` if the browser no longer has the body."""


@dataclass(frozen=True, slots=True)
class TabUsage:
    """What a tab's page uses.

    memory: bytes of its scripts and documents. The browser's own memory for the page is not in it.
    processor_seconds: processor time that its process has used so far.
    """

    memory: int
    processor_seconds: float


@runtime_checkable
class UsageDriver(Protocol):
    """A driver whose browser can tell what one tab uses."""

    async def usage(self, tab: TabHandle) -> TabUsage:
        """Return the memory and processor time of the tab's process."""
        ...


class Driver(Protocol):
    """One browser. Only ``roost.broker.browser.browser`` starts and stops it."""

    @property
    def capabilities(self) -> Capabilities:
        """What this browser can do. It does not change while the broker runs."""
        ...

    async def start(self, report: Report) -> RunningBrowser:
        """Start the browser, or take over the one that still runs. A tab that opens meanwhile is
        either in ``RunningBrowser.tabs`` or reported, never both. Raises ``Unsupported`` or
        ``BrowserLost`` if no browser can be started or reached; the caller may then call ``start``
        again."""

    async def stop(self) -> None:
        """End the browser and all its processes. Safe to call twice and after a crash."""

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        """Make a jar and return its handle. A cloned jar is empty until the caller fills it.
        ``proxy`` (``host:port``) gets all traffic, including loopback and WebSockets. Downloads
        go to the folder ``downloads``; None refuses them. Raises ``JarUnavailable`` for a policy
        outside the capabilities, and for a proxy on the shared jar."""

    async def remove_jar(self, jar: str) -> None:
        """Close the jar's tabs and delete its contents. Does nothing if the jar is gone."""

    async def read_cookies(self, jar: str) -> list[Cookie]:
        """Return all cookies of the jar. Raises ``JarUnavailable`` if the jar is gone."""

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        """Add these cookies to the jar. Return the cookies that the browser refused."""

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        """Delete the cookies with these names, domains and paths. Missing cookies are ignored."""

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        """Return the localStorage of these origins in the jar, without loading their pages or
        reporting a tab. Origins that cannot be read are left out."""

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        """Read the origin's localStorage through the tab's document, without running page code.
        Return None if the browser says that the document has another origin or none."""

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        """Write these items to the jar's localStorage. Return those that could not be written:
        the browser refused them, or no page could visit their origin in time."""

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        """Open a blank background tab in the jar, and in the group if the browser has groups. A
        managed browser with windows shows the group's title in a label tab (``LabelDriver``).
        Raises ``JarUnavailable`` if the jar is gone."""

    async def bring_to_front(self, tab: TabHandle) -> None:
        """Show the tab to the person: select it in its window, and raise the window above all
        others. Raises ``Unsupported`` if the browser has no windows."""

    async def close_tab(self, tab: TabHandle) -> None:
        """Close the tab without asking the page. Does nothing if the tab is gone."""

    async def film(
        self, tab: TabHandle, options: FilmOptions, show: Show, miss: Miss | None = None
    ) -> Film:
        """Begin a film. ``show`` gets its pictures, ``miss`` why there is none now. Neither page
        nor calls on the tab notice the film. Raises ``TabGone`` if there is no such tab."""

    def page(self, tab: TabHandle) -> PageDriver:
        """Return the object that does page work in the tab. Raises ``TabGone`` if there is no such
        tab, and ``BrowserLost`` if the browser does not run."""
