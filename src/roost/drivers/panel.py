"""The panel: what the extension's popup page shows the person about the sessions in their browser.

This module holds only data. The broker composes a panel, a driver carries it, and the popup page
draws it. The field names are the names on the link.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class PanelTab:
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class PanelLoop:
    """A focus loop of the session. ``limit`` is 0 if the loop has no limit."""

    iteration: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelGroup:
    """One session. A session without tabs has no group in the tab strip at the moment."""

    key: str
    name: str
    color: str
    paused: bool = False
    waits: bool = False
    """The session waits in the queue for a slot."""
    tabs: tuple[PanelTab, ...] = ()
    loop: PanelLoop | None = None
    question: str | None = None
    """What the session's agent asks the person to do, or wants to be allowed."""


@dataclass(frozen=True, slots=True)
class PanelPool:
    """The browser's pool of tabs. ``capacity`` is 0 if the pool has no limit."""

    used: int
    capacity: int


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """The person's consent answer for agents of that name. The person may change it."""

    name: str
    allow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    groups: tuple[PanelGroup, ...] = ()
    pool: PanelPool = PanelPool(0, 0)
    questions: tuple[str, ...] = ()
    """The names of agents that wait for the person's consent to use this browser."""
    answers: tuple[PanelAnswer, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)


@runtime_checkable
class PanelDriver(Protocol):
    """A driver whose browser can show a panel. Neither method waits or fails. While the browser
    is disconnected, the driver keeps the last panel and shows it after the next connection."""

    def show(self, panel: Panel) -> None: ...

    def forget_group(self, key: str) -> None:
        """Give the group of a session that ended to the person, with its remaining tabs."""
