"""What page operations answer."""

from __future__ import annotations

from typing import Any

from roost.api.views import View


class DialogView(View):
    """A dialog that stands in the page and must be answered first."""

    kind: str
    message: str
    default: str | None = None


class ChooserView(View):
    """Whether it takes several files."""

    multiple: bool


class ActionView(View):
    """What happened, and what the page looks like since: a bounded diff, not the page again."""

    tab: str
    did: str
    url: str
    title: str
    snapshot: str | None = None
    changes: str | None = None
    opened: list[str] | None = None
    """Tabs the action opened."""
    dialog: DialogView | None = None
    downloads: list[str] | None = None
    """Files it has downloaded: where they are, or how far."""
    chooser: ChooserView | None = None
    """The page asks for files: give them with browser_file_upload."""


class SnapshotView(View):
    tab: str
    url: str
    title: str
    snapshot: str
    truncated: bool = False
    dialog: DialogView | None = None


class FoundView(View):
    tab: str
    matches: str
    total: int
    truncated: bool = False


class ContentView(View):
    tab: str
    url: str
    title: str
    format: str
    text: str
    length: int
    truncated: bool = False


class WaitView(View):
    tab: str
    waited_ms: int
    url: str


class ConsoleMessageView(View):
    level: str
    text: str
    url: str | None = None
    line: int | None = None


class ConsoleView(View):
    tab: str
    messages: list[ConsoleMessageView]
    total: int


class RequestLogView(View):
    """``index`` names it in browser_network_request."""

    index: int
    method: str
    url: str
    kind: str
    status: int | None = None
    mime_type: str | None = None
    error: str | None = None
    duration_ms: int | None = None


class NetworkView(View):
    tab: str
    requests: list[RequestLogView]
    total: int


class BodyView(View):
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
    name: str
    state: str
    """running, done or failed."""
    path: str | None = None
    bytes: int | None = None
    url: str | None = None


class DownloadsView(View):
    session: str
    downloads: list[DownloadView]


class FileView(View):
    tab: str
    path: str
    bytes: int


class ReadinessEvent(View):
    t: int
    event: str


class ReadinessView(View):
    """How long the page took to come to rest, phase by phase; ``timed_out`` when it did not."""

    wait_ms: int
    timed_out: bool
    timeline: list[ReadinessEvent]


class MarkView(View):
    ref: str
    role: str
    name: str


class ScreenshotView(View):
    """The picture itself (base64), or the file it was written to."""

    tab: str
    mime_type: str
    width: int
    height: int
    data: str | None = None
    path: str | None = None
    readiness: ReadinessView | None = None
    labels: list[MarkView] | None = None


class ScrollView(View):
    tab: str
    moved: bool
    x: float
    y: float
    page_width: float
    page_height: float


class SizeView(View):
    tab: str
    width: int
    height: int


class ConsentView(View):
    tab: str
    found: bool
    action: str | None = None
    text: str | None = None
