"""Views of page operations."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from roost.api.views import View


class DialogView(View):
    """An open dialog of the page. The agent must answer it before it can go on."""

    kind: str
    message: str
    default: str | None = None


class ChooserView(View):
    """A file chooser that the page opened. ``multiple``: it takes several files."""

    multiple: bool


class ActionView(View):
    """The result of an action, and how the page changed.

    did: the action, in words.
    snapshot: the whole page, if the caller asked for it.
    changes: the difference to the last snapshot, of limited length.
    """

    tab: str
    did: str
    url: str
    title: str
    snapshot: str | None = None
    changes: str | None = None
    opened: list[str] | None = None
    """Tabs that the action opened."""
    dialog: DialogView | None = None
    downloads: list[str] | None = None
    """Files that the action downloaded: their paths, or the progress."""
    chooser: ChooserView | None = None
    """A file chooser that is open. The agent gives it files with ``FileUpload``."""
    ref: str | None = None
    """The element that the action was done to."""
    under_way: list[str] | None = None
    """Requests that the action began and that have not ended, such as ``POST https://host/save``."""
    stayed: bool = Field(default=False, exclude=True)
    """Address and title are those from before the action. A reply to a model leaves them out then,
    if it tells what changed. Not on the wire."""


class ClipboardView(View):
    """The session's own clipboard. ``types``: MIME types of what it holds."""

    action: str
    types: list[str]
    text: str | None = None
    html: str | None = None


class SnapshotView(View):
    """The page as roles, names and refs."""

    tab: str
    url: str
    title: str
    snapshot: str
    truncated: bool = False
    ref: str | None = None
    """The first ref in the snapshot."""
    dialog: DialogView | None = None


class FoundView(View):
    """Lines of the page that match a search, with refs."""

    tab: str
    matches: str
    total: int
    truncated: bool = False
    ref: str | None = None
    """The first match."""


class ElementValueView(View):
    """One value of an element or page. ``value`` is None for an attribute that is missing."""

    tab: str
    what: str
    value: str | int | dict[str, str | float] | None = None
    ref: str | None = None
    truncated: bool = False


class ElementStateView(View):
    """Whether an element is in a state. For ``highlighted``: whether a frame is around it."""

    tab: str
    state: str
    value: bool
    ref: str | None = None


class ContentView(View):
    """The page's text, markdown or HTML.

    ``length`` is that of the whole text, even if truncated.
    """

    tab: str
    url: str
    title: str
    format: str
    text: str
    length: int
    truncated: bool = False


class PageToolView(View):
    """One tool of a page. All of it are the page's words."""

    name: str
    description: str
    input_schema: str
    """A JSON Schema, as text."""


class PageToolsView(View):
    """The tools that a page offers to agents."""

    tab: str
    tools: list[PageToolView]


class WebTextView(View):
    """An address as text. ``status`` is None for the page that is open."""

    url: str
    title: str
    status: int | None = None
    format: str
    text: str
    length: int
    truncated: bool = False


class WaitView(View):
    """The duration of a wait, and the page's address after it."""

    tab: str
    waited_ms: int
    url: str
    snapshot: str | None = None
    """The page, or what changed on it, if the caller asked for that."""
    changes: str | None = None
    """How many lines of the page changed, if ``snapshot`` is a diff."""


class ConsoleMessageView(View):
    """One message of the page's console."""

    level: str
    text: str
    url: str | None = None
    line: int | None = None


class ConsoleView(View):
    """Messages of the page's console. ``total`` counts those that were left out as well."""

    tab: str
    messages: list[ConsoleMessageView]
    total: int


class RequestLogView(View):
    """One request of the page. ``index`` is its number for ``NetworkRequest``."""

    index: int
    method: str
    url: str
    kind: str
    status: int | None = None
    mime_type: str | None = None
    error: str | None = None
    duration_ms: int | None = None


class MessageView(View):
    """One message. ``sent``: the page sent it. ``binary``: the text is base64."""

    kind: str
    url: str
    text: str
    sent: bool = False
    binary: bool = False
    name: str | None = None


class MessagesView(View):
    """Messages of a tab's WebSockets and event sources, newest last.

    total: number of messages that match, of which ``messages`` may have only the newest.
    """

    tab: str
    messages: list[MessageView]
    total: int


class HarView(View):
    """A recording of requests. ``path``: the file that it was saved to."""

    session: str
    recording: bool
    requests: int = 0
    path: str | None = None
    bytes: int | None = None


class NetworkView(View):
    """Requests of the page. ``total`` counts those that were left out as well."""

    tab: str
    requests: list[RequestLogView]
    total: int


class BodyView(View):
    """One request with its response body."""

    tab: str
    request: RequestLogView
    body: str | None = None
    base64: bool = False
    truncated: bool = False


class StateView(View):
    """The page as structured data; see docs/reference/operations.md."""

    tab: str
    state: dict[str, Any]


class DownloadView(View):
    """One download of the session."""

    name: str
    state: str
    """``running``, ``done``, ``failed``, or ``refused`` by the session's policy."""
    path: str | None = None
    bytes: int | None = None
    url: str | None = None


class DownloadsView(View):
    """The session's downloads."""

    session: str
    downloads: list[DownloadView]


class FileView(View):
    """A file that an operation wrote."""

    tab: str
    path: str
    bytes: int


class ReadinessEvent(View):
    """One phase of a page's loading, ``t`` milliseconds after the wait began."""

    t: int
    event: str


class ReadinessView(View):
    """The time a page took to come to rest, phase by phase. ``timed_out``: it did not."""

    wait_ms: int
    timed_out: bool
    timeline: list[ReadinessEvent]


class LabelView(View):
    """A labelled element in a screenshot."""

    ref: str
    role: str
    name: str


class ScreenshotView(View):
    """A screenshot: the picture itself (base64), or the file it was written to."""

    raw = frozenset({"data"})
    tab: str
    mime_type: str
    width: int
    height: int
    scale: float = 1.0
    """Pixels of the picture for each CSS pixel of the page."""
    left: float | None = None
    top: float | None = None
    """Where the picture begins in the viewport, in CSS pixels. None for a picture of the whole
    document."""
    data: str | None = None
    path: str | None = None
    unchanged: bool | None = None
    """The picture is the same as your last one of this kind, so it is left out."""
    readiness: ReadinessView | None = None
    labels: list[LabelView] | None = None


class ScrollView(View):
    """Position and size of what was scrolled: the page, or an inner scroller.

    moved: the call changed the position.
    """

    tab: str
    moved: bool
    x: float
    y: float
    page_width: float
    page_height: float


class SizeView(View):
    """The size of the tab's viewport."""

    tab: str
    width: int
    height: int


class ConsentView(View):
    """The answer to a cookie banner. ``found``: there was one."""

    tab: str
    found: bool
    action: str | None = None
    text: str | None = None
