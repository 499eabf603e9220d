"""What the person has shown agents: drawings on the picture of a page, each with a line of text.

The broker keeps the newest drawings of each session in memory. They end with the session, and with
the broker, like the other lines that wait for an agent's next reply.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from roost.vocabulary import SessionId, TabId

DRAWINGS_KEPT = 8


@dataclass(frozen=True, slots=True)
class DrawnElement:
    """An element that the person drew around or pointed at. Role and name are page text."""

    ref: str
    role: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One thing that the person has shown.

    text: the person's words.
    kinds: ``box`` or ``arrow`` for each shape.
    region: x, y, width and height of the drawn part, in CSS pixels of the viewport.
    picture: the drawn part with the drawing on it, in JPEG.
    """

    tab: TabId
    drawn_at: float
    text: str
    kinds: tuple[str, ...]
    region: tuple[float, float, float, float]
    elements: tuple[DrawnElement, ...]
    picture: bytes = field(repr=False)


@dataclass(slots=True)
class _OfSession:
    kept: deque[Drawing] = field(default_factory=lambda: deque(maxlen=DRAWINGS_KEPT))
    untold: deque[Drawing] = field(default_factory=lambda: deque(maxlen=DRAWINGS_KEPT))


class Drawings:
    """The newest drawings of each session."""

    def __init__(self) -> None:
        self._sessions: dict[SessionId, _OfSession] = {}

    def add(self, session: SessionId, drawing: Drawing) -> None:
        mine = self._sessions.setdefault(session, _OfSession())
        mine.kept.append(drawing)
        mine.untold.append(drawing)

    def newest(self, session: SessionId) -> list[Drawing]:
        """Return the session's drawings, the newest first."""
        mine = self._sessions.get(session)
        return [] if mine is None else list(reversed(mine.kept))

    def take_untold(self, session: SessionId) -> list[Drawing]:
        """Return the drawings that no reply has shown yet. They count as shown afterwards."""
        mine = self._sessions.get(session)
        if mine is None:
            return []
        untold = list(mine.untold)
        mine.untold.clear()
        return untold

    def forget(self, session: SessionId) -> None:
        self._sessions.pop(session, None)
