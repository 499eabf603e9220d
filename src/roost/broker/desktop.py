"""Tell the person on their desktop that an agent asks for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from roost.broker.broker import Broker
from roost.core.rows import Question
from roost.core.state import Change
from roost.local.notifications import notify, session_bus
from roost.vocabulary import SessionId

REASON_CHARS = 200
logger = logging.getLogger(__name__)


class Desktop:
    """Shows a notification for each new question. ``find_bus`` returns the address of the session
    bus, or None; it is asked each time, because the person may log in later."""

    def __init__(self, broker: Broker, find_bus: Callable[[], str | None] = session_bus) -> None:
        self._broker = broker
        self._find_bus = find_bus
        self._open = {question.session for question in broker.state.questions.values()}
        """Sessions whose question was open at the last change. Each question is shown once."""
        broker.when_rows_change(self._rows_changed)

    def _rows_changed(self, changes: Sequence[Change]) -> None:
        if not any(change.table == Question.table for change in changes):
            return
        questions = self._broker.state.questions
        now = {session for session, row in questions.items() if row.answer is None}
        for session in now - self._open:
            self._tell(session, questions[session])
        self._open = now

    def _tell(self, session: SessionId, question: Question) -> None:
        bus = self._find_bus()
        if bus is None:
            return
        name = self._broker.state.sessions[session].name
        reason = self._broker.redactor.text(question.reason)[:REASON_CHARS]
        body = f"“{reason}”\nAnswer on the dashboard: roost dashboard"
        work = self._show(bus, f"{name} asks for you", body)
        self._broker.tasks.spawn(work, name=f"notify about {session}")

    async def _show(self, bus: str, title: str, body: str) -> None:
        try:
            await asyncio.to_thread(notify, bus, title, body)
        except (OSError, TimeoutError) as error:  # the question stands in the inbox, too
            logger.debug("no desktop notification: %s", error)
