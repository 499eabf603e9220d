"""Effects: orders from the core to the broker. Their counterpart is ``events.py``.

The broker performs effects in order, after it has written the changed rows to the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roost.errors import RoostError
from roost.vocabulary import AgentId, BrowserId, JarId, NoticeKind, SessionId, TabHandle, TabId


@dataclass(frozen=True, slots=True)
class OpenTab:
    """Open the page in the browser, in that jar. Make the jar first if it does not exist yet.

    The core may order this twice for one tab. The broker then opens the tab once.
    """

    tab: TabId
    browser: BrowserId
    jar: JarId
    restore: str | None = None
    """Address at which to open a lost or parked tab again. None for a new tab, which stays
    blank."""


@dataclass(frozen=True, slots=True)
class CloseTab:
    """Close the page, whose row is already gone or parked.

    Calls still running on it raise ``error``.
    """

    tab: TabId
    browser: BrowserId
    handle: TabHandle | None
    error: RoostError


@dataclass(frozen=True, slots=True)
class ForgetTab:
    """End the calls still running on a page that closed by itself; they raise ``error``."""

    tab: TabId
    error: RoostError


@dataclass(frozen=True, slots=True)
class RemoveJar:
    """Remove a jar from the browser.

    jar: None for a jar that the browser has and no row knows.
    handle: None for a jar that is not made yet. If it is being made, cancel that and remove the
        rest.
    """

    jar: JarId | None
    browser: BrowserId
    handle: str | None


@dataclass(frozen=True, slots=True)
class CloseStray:
    """Close a page that the browser has and no row knows."""

    browser: BrowserId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class ForgetGroup:
    """Forget the tab group of a session that has ended."""

    browser: BrowserId
    group: str


@dataclass(frozen=True, slots=True)
class StartCapture:
    """Start this capture: it has its turn now."""

    capture: int


@dataclass(frozen=True, slots=True)
class RefuseCapture:
    capture: int
    error: RoostError


@dataclass(frozen=True, slots=True)
class EndAgent:
    """Close the connection of an agent that has ended, and cancel its calls."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class RemoveFiles:
    """Remove the folder of a session that has ended."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Tell:
    """Send a notice to the agents of one session, and to nobody else."""

    session: SessionId
    kind: NoticeKind
    data: Mapping[str, Any]
    to: tuple[AgentId, ...] = ()
    """The agents of a session that has just ended. They get the notice although they left it."""


@dataclass(frozen=True, slots=True)
class WriteAudit:
    """Write a line to the audit trail about something that no single call asked for."""

    kind: str
    data: Mapping[str, Any]


Effect = (
    OpenTab | CloseTab | ForgetTab | RemoveJar | CloseStray | ForgetGroup
    | StartCapture | RefuseCapture | EndAgent | RemoveFiles | Tell | WriteAudit
)  # fmt: skip
