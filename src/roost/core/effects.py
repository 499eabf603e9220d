"""What must be done: the only way the core reaches the outside. Its counterpart is ``events.py``.

The broker performs effects in order, after the rows that led to them are in the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roost.errors import RoostError
from roost.vocabulary import AgentId, BrowserId, JarId, SessionId, TabHandle, TabId


@dataclass(frozen=True, slots=True)
class OpenTab:
    """Make the page in the browser, in that jar (made first if it is not there yet). May be said
    twice of one tab; a tab whose opening is under way is opened once."""

    tab: TabId
    browser: BrowserId
    jar: JarId
    restore: str | None = None
    """The address to bring a lost or parked tab back to; a new tab stays blank until it is used."""


@dataclass(frozen=True, slots=True)
class CloseTab:
    """Close the page. Its row is gone already; calls still running on it answer ``error``."""

    tab: TabId
    browser: BrowserId
    handle: TabHandle | None
    error: RoostError


@dataclass(frozen=True, slots=True)
class ForgetTab:
    """The page is gone by itself: answer the calls still running on it with ``error``."""

    tab: TabId
    error: RoostError


@dataclass(frozen=True, slots=True)
class RemoveJar:
    """``jar`` is None for one the browser has and no row knows; ``handle`` for one that is not
    made yet: if it is being made, that ends, and nothing of it stays."""

    jar: JarId | None
    browser: BrowserId
    handle: str | None


@dataclass(frozen=True, slots=True)
class CloseStray:
    """A page the browser has and no row knows: close it, it belongs to nobody."""

    browser: BrowserId
    handle: TabHandle


@dataclass(frozen=True, slots=True)
class ForgetGroup:
    """The session that this group showed is over."""

    browser: BrowserId
    group: str


@dataclass(frozen=True, slots=True)
class StartCapture:
    """It is this capture's turn."""

    capture: int


@dataclass(frozen=True, slots=True)
class RefuseCapture:
    capture: int
    error: RoostError


@dataclass(frozen=True, slots=True)
class EndAgent:
    """The agent is over: close its connection, cancel its calls."""

    agent: AgentId


@dataclass(frozen=True, slots=True)
class RemoveFiles:
    """The session is over: its folder goes with it."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Tell:
    """An event for the agents of one session, and for nobody else."""

    session: SessionId
    kind: str
    data: Mapping[str, Any]
    to: tuple[AgentId, ...] = ()
    """Who was in the session when it ended: they are told although they are in it no more."""


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the audit trail about something no single call asked for."""

    kind: str
    data: Mapping[str, Any]


Effect = (
    OpenTab | CloseTab | ForgetTab | RemoveJar | CloseStray | ForgetGroup
    | StartCapture | RefuseCapture | EndAgent | RemoveFiles | Tell | Note
)  # fmt: skip
