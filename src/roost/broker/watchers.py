"""Events to their owner, and to nobody else."""

from __future__ import annotations

from collections.abc import Callable, Collection

from roost.api.broker import Notice, Notices
from roost.vocabulary import AgentId, SessionId

Sees = Callable[[Notice, Collection[AgentId]], bool]
Shows = Callable[[Notice], Notice]


class Watchers:
    """Who listens to what, and lines that wait for a session's next reply."""

    def __init__(self) -> None:
        self._listening: dict[Notices, tuple[Sees, Shows]] = {}
        self._notes: dict[SessionId, list[str]] = {}

    def listen(self, sees: Sees, shows: Shows = lambda notice: notice) -> Notices:
        """``sees`` is asked at delivery: whoever left a session a moment ago hears nothing more.
        ``shows`` makes of a notice what this listener may be shown of it."""
        notices = Notices(on_close=lambda closed: self._listening.pop(closed, None))
        self._listening[notices] = (sees, shows)
        return notices

    def tell(self, notice: Notice, to: Collection[AgentId] = ()) -> None:
        """``to``: who is told besides the session's members, because they were until just now."""
        for notices, (sees, shows) in list(self._listening.items()):
            if sees(notice, to):
                notices.put(shows(notice))

    def note(self, session: SessionId, line: str) -> None:
        """A line for the session's next reply, whatever that answers. An agent reads it as Roost's
        word, so it must not contain what a page or another agent chose."""
        lines = self._notes.setdefault(session, [])
        if line not in lines:
            lines.append(line)

    def take_notes(self, session: SessionId) -> list[str]:
        return self._notes.pop(session, [])

    def forget(self, session: SessionId) -> None:
        self._notes.pop(session, None)
