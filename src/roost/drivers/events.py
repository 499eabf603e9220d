"""The events that a driver reports, in the words of ``docs/glossary.md``.

The core decides about tabs by facts of the same names (``core/events.py``), which name the browser
as well. Events inside a page go to the page's record and never reach the core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from roost.vocabulary import TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class TabOpened:
    """A tab opened that no call to this driver opened. This is the first event about the tab.

    ``opener``, ``jar`` and ``group`` show whose tab it is, as far as the browser knows.
    """

    handle: TabHandle
    opener: TabHandle | None
    jar: str | None
    url: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class TabClosed:
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class TabNavigated:
    """The tab committed a document, or the document's title changed."""

    handle: TabHandle
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class TabCrashed:
    """The page's process crashed; the tab still exists."""

    handle: TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogOpened:
    """The page opened a dialog (alert, confirm, prompt, beforeunload) and waits for its answer."""

    handle: TabHandle
    kind: str
    message: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class DialogClosed:
    handle: TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSaid:
    """The page wrote to its console, or threw an exception that nothing caught."""

    handle: TabHandle
    level: str
    text: str
    url: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSent:
    """The page sent a request. ``kind`` is the resource type: document, script, image, xhr, …"""

    handle: TabHandle
    request: str
    url: str
    method: str
    kind: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSeen:
    """A message of a WebSocket, or an event of an event source.

    ``kind`` is ``websocket`` or ``eventsource``. ``sent``: the page sent the message. ``text`` is
    base64 if ``binary``.
    """

    handle: TabHandle
    request: str
    url: str
    kind: str
    text: str
    sent: bool = False
    binary: bool = False
    name: str = ""
    """The name of an event of an event source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEnded:
    """The response's headers arrived (``finished`` is False), or the request ended or failed."""

    handle: TabHandle
    request: str
    status: int | None = None
    mime_type: str | None = None
    error: str | None = None
    finished: bool = True
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooserOpened:
    """The page asks for files. ``choose_files`` answers; the browser shows no file picker."""

    handle: TabHandle
    multiple: bool


@dataclass(frozen=True, slots=True)
class ChooserClosed:
    """The page no longer asks for files: somebody chose them, or the tab left the page."""

    handle: TabHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadBegan:
    """The page of tab ``handle`` started a download.

    name: file name the server suggests.
    cancel: ends the download, so that no more of the file is loaded. None: the browser cannot.
    """

    handle: TabHandle
    download: str
    url: str
    name: str
    cancel: Callable[[], None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadEnded:
    """A download ended. ``path``: the saved file; None if the download failed or was cancelled."""

    handle: TabHandle
    download: str
    path: str | None


@dataclass(frozen=True, slots=True)
class TabMoved:
    """The person moved the tab into another group. ``group`` is None if the tab left all groups:
    the page stays open, but calls to the tab now raise ``TabGone``."""

    handle: TabHandle
    group: str | None


@dataclass(frozen=True, slots=True)
class GroupClosed:
    """The person closed a group with all its tabs. Their ``TabClosed`` events follow."""

    key: str


@dataclass(frozen=True, slots=True)
class PersonSaid:
    """The person wants to pause, resume or end one group's session, or all (``key`` is None)."""

    what: Literal["pause", "resume", "end"]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PersonAnswered:
    """The person answered a consent question: may agents of that name use this browser?"""

    name: str
    allow: bool


@dataclass(frozen=True, slots=True)
class BrowserEnded:
    """The browser ended, with all its tabs and jars. This is the last event."""

    reason: str


PageEvent = (
    DialogOpened | DialogClosed | ConsoleSaid | RequestSent | RequestEnded | MessageSeen
    | ChooserOpened | ChooserClosed | DownloadBegan | DownloadEnded
)  # fmt: skip
"""Events inside a page. The broker keeps them for the tab's owner; the core never sees them."""
PersonEvent = TabMoved | GroupClosed | PersonSaid | PersonAnswered
"""Events that a person causes in their own browser."""
DriverEvent = (
    TabOpened | TabClosed | TabNavigated | TabCrashed | BrowserEnded | PageEvent | PersonEvent
)  # fmt: skip
