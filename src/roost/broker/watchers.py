"""Delivery of notices to the callers that may see them, and lines for the next reply."""

from __future__ import annotations

from collections.abc import Callable, Collection

from roost.api.broker import Notice, Notices
from roost.hints import Hint
from roost.vault.redaction import Redactor
from roost.vocabulary import AgentId, NoticeKind, SessionId

Sees = Callable[[Notice, Collection[AgentId]], bool]
Shows = Callable[[Notice], Notice]


class Watchers:
    """The open ``watch`` calls, and the lines that wait for each session's next reply."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._listening: dict[Notices, tuple[Sees, Shows]] = {}
        self._notes: dict[SessionId, list[str]] = {}

    def listen(self, sees: Sees, shows: Shows = lambda notice: notice) -> Notices:
        """Return a queue that receives notices until it is closed.

        sees: True if this listener may get the notice. It is asked at each delivery, so an agent
            that left a session gets no more notices of it.
        shows: returns the notice with only what this listener may see.
        """
        notices = Notices(on_close=lambda closed: self._listening.pop(closed, None))
        self._listening[notices] = (sees, shows)
        return notices

    def tell(self, notice: Notice, to: Collection[AgentId] = ()) -> None:
        """Deliver the notice to everybody who may see it, and add its note to the next reply.

        to: agents that also get it because they were members of the session until just now.
        """
        line = _note_of(notice)
        if line is not None:
            self.note(SessionId(notice.session), line)
        if not self._redactor.is_idle:
            notice = notice.redacted(self._redactor.data)
        for notices, (sees, shows) in list(self._listening.items()):
            if sees(notice, to):
                notices.put(shows(notice))

    def note(self, session: SessionId, line: str) -> None:
        """Add a line to the session's next reply, whatever operation that answers. Agents trust it
        as Roost's own text, so it must not contain text that a page or another agent chose."""
        lines = self._notes.setdefault(session, [])
        if line not in lines:
            lines.append(line)

    def take_notes(self, session: SessionId) -> list[str]:
        return self._notes.pop(session, [])

    def forget(self, session: SessionId) -> None:
        self._notes.pop(session, None)


def _note_of(notice: Notice) -> str | None:
    """Return the note for the next reply of agents that read no notices, or None."""
    if notice.kind == NoticeKind.TAB_SPACE_WANTED:
        line: str = Hint("Another agent waits for a tab slot: give one[ with {TabSpaceGrant}].")
        if notice.data["yourTabs"] > notice.data["fairShare"]:
            line += " Else, after 10 s, the tab you used least recently is parked."
        return line
    if notice.kind == NoticeKind.TAB_PARKED:
        return (
            f"Tab {notice.data['tab']} was parked {notice.data['why']}. It is opened again at its"
            " address when you use it; what was typed there is lost."
        )
    return None
