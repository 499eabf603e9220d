"""What a browser can show its person about the work that goes on in it.

Only data: the broker composes it, the extension's popup page draws it, and a driver in between
carries it. Fields are spelled as they go over the link.
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
    """``limit`` is 0 for one without."""

    iteration: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelGroup:
    """One workspace. It may have no tab, and so no group in the tab strip, at this moment."""

    key: str
    name: str
    color: str
    paused: bool = False
    waits: bool = False
    """It stands in the queue for a tab."""
    tabs: tuple[PanelTab, ...] = ()
    loop: PanelLoop | None = None


@dataclass(frozen=True, slots=True)
class PanelPool:
    """``capacity`` is 0 where there is no limit."""

    used: int
    capacity: int


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """What the person has decided about whoever goes by that name. They may change it."""

    name: str
    allow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    groups: tuple[PanelGroup, ...] = ()
    pool: PanelPool = PanelPool(0, 0)
    questions: tuple[str, ...] = ()
    """The names of those who wait for the person's leave to use this browser."""
    answers: tuple[PanelAnswer, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)


@runtime_checkable
class Paneled(Protocol):
    """A driver whose browser has such a place. Neither call waits or fails; what is said while the
    browser is away is shown when it is back."""

    def show(self, panel: Panel) -> None: ...

    def forget_group(self, key: str) -> None:
        """The workspace is over. A group of that key that still has tabs is the person's now."""
