"""Panels: what the extension's popup page shows of sessions, tabs, queue and consent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from roost.broker.broker import Broker
from roost.broker.work.views import opened_order
from roost.core.redaction import redacted_url
from roost.core.rows import Consent, Loop, Question, Session, SlotRequest, Tab
from roost.core.state import Change
from roost.drivers.panel import (
    Panel,
    PanelAnswer,
    PanelDriver,
    PanelGroup,
    PanelLoop,
    PanelPool,
    PanelTab,
)
from roost.vocabulary import BrowserId

SHOWN = frozenset(table.table for table in (Session, Tab, SlotRequest, Loop, Consent, Question))


class Panels:
    """Send each driver that can show a panel a new one when its rows change, at most once per turn
    of the loop."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._drivers: dict[BrowserId, PanelDriver] = {}
        self._shown: dict[BrowserId, Panel] = {}
        self._is_due = False
        asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        for browser in self._broker.browsers.values():
            if isinstance(browser.driver, PanelDriver):
                self._drivers[browser.id] = browser.driver
        if self._drivers:
            self._broker.when_rows_change(self._rows_changed)
            self._show()

    def _rows_changed(self, changes: Sequence[Change]) -> None:
        if not self._is_due and any(self._matters(change) for change in changes):
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._show)

    def _matters(self, change: Change) -> bool:
        """Return True if a panel may show the change. Work in other browsers must cost nothing."""
        browser = getattr(change.row, "browser", None)
        return change.table in SHOWN and (browser is None or browser in self._drivers)

    def _show(self) -> None:
        self._is_due = False
        for browser, driver in self._drivers.items():
            panel = composed(self._broker, browser)
            if panel != self._shown.get(browser):
                self._shown[browser] = panel
                driver.show(panel)


def composed(broker: Broker, browser: BrowserId) -> Panel:
    """Compose the panel of that browser. Addresses are redacted, as for everybody but the owner. No
    text has a secret of the person."""
    state = broker.state
    pool, consents = state.pool(browser), state.consents(browser)
    answered = [PanelAnswer(row.label, row.allow) for row in consents if row.allow is not None]
    return Panel(
        groups=tuple(
            _group(broker, session)
            for session in state.sessions.values()
            if session.browser == browser
        ),
        pool=PanelPool(pool.held + pool.reserved, pool.limit),
        questions=tuple(row.label for row in consents if row.allow is None),
        answers=tuple(sorted(answered, key=lambda answer: answer.name)),
    )


def _group(broker: Broker, session: Session) -> PanelGroup:
    state, redact = broker.state, broker.redactor.text
    rows = sorted(state.tabs_in(session.id), key=opened_order)
    loop = state.loops.get(session.id)
    asked = state.questions.get(session.id)
    return PanelGroup(
        key=session.group,
        name=session.name,
        color=session.color,
        paused=session.paused,
        waits=session.id in state.requests,
        tabs=tuple(PanelTab(redact(row.title), redact(redacted_url(row.url))) for row in rows),
        loop=None if loop is None else PanelLoop(loop.iteration, loop.max_iterations),
        question=None if asked is None or asked.answer is not None else redact(asked.reason),
    )
