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

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from roost.drivers.link import Link
from roost.vocabulary import Color, JarPolicy, TabHandle


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that operations promise and this browser cannot do. Listed in the reference."""

    name: str
    then: str
    """What a caller gets instead."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What this browser can do. Never a permission."""

    jars: frozenset[JarPolicy] = frozenset(JarPolicy)
    trusted_input: bool = True
    page_work: bool = True
    """Whether there are real pages: everything of ``Pages`` beyond navigate, evaluate, capture."""
    draws_for_pictures: bool = True
    """Whether a picture gets a frame of its own, with what the page does in its frames."""
    groups: bool = False
    """Tabs are shown in groups, which the person may change."""
    asks_person: bool = False
    """It is the person's own browser: they are asked before anybody new may use it."""
    lacks: tuple[Lack, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """How a browser that has tab groups shows the tabs of one workspace.

    ``key`` is what it is known by, also to a later run of the browser; the person sees the rest.
    """

    key: str
    title: str
    color: Color


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
    groups: Mapping[TabHandle, str] = field(default_factory=dict)
    """The key of the group each tab is in, where tabs have groups."""
    places: Mapping[TabHandle, str] = field(default_factory=dict)
    """The addresses of those tabs: a tab that the browser itself brought back has a new handle, and
    is known again by its group, its address and its jar."""
    jar_of: Mapping[TabHandle, str] = field(default_factory=dict)
    """The jar each of them is in."""


NO_TUNNEL = frozenset({"net::ERR_TUNNEL_CONNECTION_FAILED", "NS_ERROR_PROXY_FORBIDDEN"})
"""The ``reason`` of a ``NotFound`` whose https page the jar's proxy refused, by browser."""
FAILED_TITLE = "This page failed to load"
"""The title of a tab that shows the browser's error page. Its address is the one that failed."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a navigation ended: the real final address and its HTTP status (None: no request).

    An answer that is no document (a download, 204) leaves the tab where it was: then ``stayed``.
    """

    url: str
    title: str
    status: int | None
    stayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What picture to take of a tab."""

    format: str = "jpeg"
    quality: int = 60
    scale: float = 0.5
    full_page: bool = False
    clip: tuple[float, float, float, float] | None = None
    """x, y, width, height of a part of the viewport."""


@dataclass(frozen=True, slots=True)
class Picture:
    data: bytes
    mime_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """One document of a tab. ``parent`` is None for the main one."""

    id: str
    parent: str | None
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """One cookie, with all that makes it that cookie. ``expires`` is None for a session's end."""

    name: str
    value: str = field(repr=False)
    domain: str
    path: str = "/"
    expires: float | None = None
    http_only: bool = False
    secure: bool = False
    same_site: str | None = None
    """Strict, Lax, None; or None where the site did not say."""
    partition_key: str | None = None
    """The top-level site of a partitioned cookie."""
    cross_site_ancestor: bool = True
    """Of a partitioned cookie: whether it was set below a page of another site."""


@dataclass(frozen=True, slots=True)
class OriginStorage:
    """One origin's localStorage."""

    origin: str
    items: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class JarContents:
    """What a jar holds, as far as it can be taken from one and put into another."""

    cookies: tuple[Cookie, ...] = ()
    storage: tuple[OriginStorage, ...] = ()


# --- input, as a person gives it ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MouseMove:
    """To a point of the viewport, in CSS pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class MouseDown:
    button: str = "left"
    clicks: int = 1


@dataclass(frozen=True, slots=True)
class MouseUp:
    button: str = "left"
    clicks: int = 1


@dataclass(frozen=True, slots=True)
class Wheel:
    x: float
    y: float
    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class KeyDown:
    """``key`` as in the DOM: one character, or a name of ``roost.page.keys``."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyUp:
    key: str


@dataclass(frozen=True, slots=True)
class InsertText:
    """Text into the focused field at once, as an input method commits it."""

    text: str


Input = MouseMove | MouseDown | MouseUp | Wheel | KeyDown | KeyUp | InsertText


# --- what a driver reports ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TabAppeared:
    """A tab nobody asked this driver for. Reported before anything else about that tab.

    ``opener``, ``jar`` and ``group`` say whose it is, as far as the browser knows.
    """

    handle: TabHandle
    opener: TabHandle | None
    jar: str | None
    url: str
    group: str | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogOpened:
    """A dialog (alert, confirm, prompt, beforeunload) stands in the page until it is answered."""

    handle: TabHandle
    kind: str
    message: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class DialogClosed:
    handle: TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSaid:
    """The page's own console, or an exception nobody caught."""

    handle: TabHandle
    level: str
    text: str
    url: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSent:
    """``kind`` is what asked for it: document, script, stylesheet, image, font, xhr, fetch, …"""

    handle: TabHandle
    request: str
    url: str
    method: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEnded:
    """An answer's head came (``finished`` false), or the request is over, well or not."""

    handle: TabHandle
    request: str
    status: int | None = None
    mime_type: str | None = None
    error: str | None = None
    finished: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooserOpened:
    """The page asks for files; ``choose_files`` answers it. No window of the browser opens."""

    handle: TabHandle
    multiple: bool


@dataclass(frozen=True, slots=True)
class ChooserClosed:
    """It was answered, or its page was left."""

    handle: TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadBegan:
    """``handle`` is the tab whose page caused it, ``name`` what the server would call it."""

    handle: TabHandle
    download: str
    url: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadEnded:
    """``path`` is where the browser put it; None when it failed or was cancelled."""

    handle: TabHandle
    download: str
    path: str | None


@dataclass(frozen=True, slots=True)
class TabRegrouped:
    """The person moved the tab into that group. None: out of all of them; the page stays open, but
    from now on the driver knows it no more (``TabGone``)."""

    handle: TabHandle
    group: str | None


@dataclass(frozen=True, slots=True)
class GroupClosed:
    """The person closed it with all its tabs. Reported before their ``TabDisappeared``."""

    key: str


@dataclass(frozen=True, slots=True)
class PersonSaid:
    """What the person wants done about one group's workspace, or (None) about all of them."""

    what: Literal["pause", "resume", "end"]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PersonAnswered:
    """Whether whoever goes by that name may use this browser."""

    name: str
    allow: bool


@dataclass(frozen=True, slots=True)
class BrowserEnded:
    """The browser is gone, with every tab and jar in it. Nothing more will be reported."""

    reason: str


PageEvent = (
    DialogOpened | DialogClosed | ConsoleSaid | RequestSent | RequestEnded
    | ChooserOpened | ChooserClosed | DownloadBegan | DownloadEnded
)  # fmt: skip
"""What goes on inside a page: kept for its owner, decided about by nobody."""
PersonEvent = TabRegrouped | GroupClosed | PersonSaid | PersonAnswered
"""What a person does in a browser that they use themselves."""
DriverEvent = (
    TabAppeared | TabDisappeared | TabArrived | TabDied | BrowserEnded | PageEvent | PersonEvent
)  # fmt: skip
Report = Callable[[DriverEvent], None]


@runtime_checkable
class Linked(Protocol):
    """A driver whose browser is held by a keeper or a native host."""

    def linked(self, link: Link) -> None:
        """One has connected. ``start`` waits for it, or begins with it."""


class ProtocolEar(Protocol):
    """Who hears what a tap brings. Frames are the browser's own bytes, ids and all."""

    def answered(self, key: Hashable, frame: bytes) -> None:
        """To the command that was sent with that key."""

    def heard(self, session: str, frame: bytes) -> None:
        """An event of the tap's own session, or of one attached through it."""

    def ended(self) -> None:
        """The browser is gone. Nothing more comes."""


class ProtocolTap(Protocol):
    """A browser-level session of its own for one protocol client."""

    @property
    def session(self) -> str:
        """Its id, as frames of its own carry it."""

    @property
    def unanswered_bytes(self) -> int:
        """What was sent and is not answered yet, with what it costs to remember it."""

    def send(self, key: Hashable, method: str, params: dict[str, Any], session: str = "") -> None:
        """A command, in that session (empty: the tap's own). After the end this does nothing."""


@runtime_checkable
class Tapped(Protocol):
    """A driver whose browser's own protocol can be spoken by others. It checks nothing: what a tap
    may be used for is for the broker and its front end to say."""

    async def version(self) -> dict[str, Any]:
        """What browser it is, in its protocol's words; ``targets``: what is open in it."""

    async def targets(self) -> list[dict[str, Any]]: ...

    async def open_tap(self, ear: ProtocolEar) -> ProtocolTap: ...

    def close_tap(self, tap: ProtocolTap) -> None:
        """End its session and all below it; what it held goes on. Safe to call twice."""

    def hold(self, tab: TabHandle, tap: ProtocolTap) -> bool:
        """Keep a tab that just appeared from running until every holder has released it. False:
        it runs already."""

    def release(self, tab: TabHandle, tap: ProtocolTap) -> None: ...

    def tab_of(self, frame: str) -> TabHandle | None:
        """The tab that frame is in; as the protocol names frames."""

    async def put_downloads(self, jar: str, folder: str) -> None:
        """Say anew where the jar's downloads go: a tap may have said something else, which went
        with it. ``JarUnavailable`` if the jar is gone."""


class Pages(Protocol):
    """What can be done in pages: few primitives, on which ``roost.page`` builds everything."""

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        """Go there and wait for the document. Also from a page that crashed or is busy; dialogs of
        the page that is left are dismissed, except for one that asks whether it may be left. So do
        ``reload`` and ``travel``. ``NotFound`` when the server cannot be reached (``reason`` says
        how); an HTTP error status is an arrival."""

    async def reload(self, tab: TabHandle) -> Arrival:
        """Load the page again. Works on a crashed tab, too."""

    async def travel(self, tab: TabHandle, delta: int) -> Arrival:
        """Back (-1) or forward (1). ``NotFound`` when there is nowhere to go."""

    async def evaluate(
        self,
        tab: TabHandle,
        function: str,
        *,
        frame: str | None = None,
        ref: str | None = None,
    ) -> Any:
        """Call a JavaScript function in the page's own world, await its promise, return its JSON
        value. ``BadRequest`` with the exception's text when it throws or does not parse. With a
        ref (of an element in ``frame``), the function gets that element."""

    async def frames(self, tab: TabHandle) -> list[FrameInfo]:
        """The tab's documents, the main one first, parents before children."""

    async def call_page(
        self,
        tab: TabHandle,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        """Call a function of the bundle in the frame (None: the main one), in a world that pages
        cannot see. ``owner_of`` names a child frame: the function gets the element that holds it
        as ``argument.element``. ``NotFound`` if a frame is gone. When the document is left before
        it answers, the next one is asked; but not if it may be done only ``once``: then
        ``Interrupted``."""

    async def act(
        self,
        tab: TabHandle,
        inputs: Sequence[Input],
        frame: str | None,
        argument: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Give trusted input, in order, also to tabs in the background; then wait for what it (or,
        without any, the last one) started in that frame: its handlers and one frame at most; or,
        where it left the page, the next document; or the tab it asked for. What the bundle's
        ``settled`` answers to the argument; None where its document is gone."""

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        """A picture of the tab as it is, in the background; other tabs do not wait for it."""

    async def set_files(
        self, tab: TabHandle, frame: str | None, ref: str, paths: Sequence[str]
    ) -> None:
        """Choose files for a file input."""

    async def choose_files(self, tab: TabHandle, paths: Sequence[str]) -> None:
        """Choose them where the page asked last. ``NotFound`` when it has not, or has moved on."""

    async def answer_dialog(self, tab: TabHandle, *, accept: bool, text: str | None) -> None:
        """Answer the dialog that stands in the page. ``NotFound`` when there is none."""

    async def resize(self, tab: TabHandle, width: int, height: int) -> None:
        """Give this tab, and no other, a viewport of that size."""

    async def pdf(self, tab: TabHandle) -> bytes:
        """The page, printed."""

    async def body(self, tab: TabHandle, request: str) -> bytes:
        """A response's body. ``NotFound`` when the browser no longer has it."""


class Driver(Pages, Protocol):
    """One browser. Its life is run by ``roost.broker.browser.browser`` alone."""

    @property
    def capabilities(self) -> Capabilities: ...

    async def start(self, report: Report) -> Started:
        """Start the browser, or take over the one that still runs. Tabs that open meanwhile are
        either in ``Started`` or reported, never both and never neither. ``Unsupported`` or
        ``BrowserLost`` when there is none to be had; then ``start`` may be called again."""

    async def stop(self) -> None:
        """End the browser and everything it started. Safe to call twice, and after a crash."""

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        """A jar's handle; a cloned one is as empty as a fresh one until it is filled. All its
        traffic goes through ``proxy`` (``host:port``), loopback and WebSockets included; its
        downloads go to the folder ``downloads``, or are refused. ``JarUnavailable`` for a policy
        outside the capabilities, and for a proxy of its own where the jar is shared."""

    async def remove_jar(self, jar: str) -> None:
        """Close its tabs and forget its cookies. Removing one that is gone is no error."""

    async def read_cookies(self, jar: str) -> list[Cookie]:
        """All of the jar's cookies. ``JarUnavailable`` if the jar is gone."""

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        """Put these cookies into the jar, beside what is there; those the browser refused."""

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        """Forget the cookies of these names, domains and paths. None that is there is no error."""

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        """What these origins keep in the jar's localStorage. No page is loaded from them, and no
        tab is reported; one that cannot be read is left out."""

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        """The origin's localStorage, read through the document in that tab. No code of the page
        runs. None when the browser says that the document has another origin, or none."""

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        """Put these items into the jar's localStorage. Returns those that are not there now: the
        browser refused them, or no page could visit their origin in time."""

    async def open_tab(self, jar: str, group: Group | None = None) -> TabHandle:
        """A blank tab in that jar, in the background; in that group, where tabs have groups.
        ``JarUnavailable`` if the jar is gone."""

    async def close_tab(self, tab: TabHandle) -> None:
        """Close without asking the page. Closing one that is gone is no error."""
