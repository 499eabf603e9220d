"""The person decides which agents may use their own browser, and pauses or ends sessions there.

The person answers in the browser itself. ``rules.check_welcome`` enforces the answers.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import sessions
from roost.core.effects import Tell, WriteAudit
from roost.core.events import PersonAnswered, PersonSaid
from roost.core.rows import Consent
from roost.core.state import State
from roost.vocabulary import AgentId, BrowserId, NoticeKind


def ask_person(state: State, agent: AgentId, browser: BrowserId) -> None:
    """Record the question whether this agent may use that browser, unless there is one already."""
    row = state.agents.get(agent)
    if row is not None and state.consent(browser, row.known_as) is None:
        state.put(Consent(browser=browser, name=row.known_as, called=row.name))


def answered(state: State, event: PersonAnswered) -> None:
    """Record the person's answer for every agent of that client program.

    The event names the question by its label. The row may be gone if its agents ended before the
    answer.
    """
    asked = (row for row in state.consents(event.browser) if row.label == event.name)
    consent = next(asked, None) or Consent.labelled(event.browser, event.name)
    consent = replace(consent, allow=event.allow)
    state.put(consent)
    answer = {"browser": event.browser, "name": consent.label, "allow": event.allow}
    state.emit(WriteAudit("person answered", answer))
    for session in state.sessions.values():
        known = {state.agents[agent].known_as for agent in state.agents_in(session.id)}
        if session.browser == event.browser and consent.name in known:
            state.emit(Tell(session.id, NoticeKind.PERSON_ANSWERED, answer))


def said(state: State, event: PersonSaid) -> None:
    """Pause, resume or end the session of that group, or all sessions of that browser."""
    if event.group is None:
        meant = [one for one in state.sessions.values() if one.browser == event.browser]
    else:
        one = state.session_shown_as(event.browser, event.group)
        meant = [] if one is None else [one]
    for session in meant:
        if event.what == "end":
            sessions.end_session(state, session, why="ended by the person")
        else:
            sessions.set_paused(state, session, paused=event.what == "pause")


def nobody_asks(state: State, known_as: str) -> None:
    """Drop the open question once the last agent of that client program has ended."""
    if any(agent.known_as == known_as for agent in state.agents.values()):
        return
    for browser in state.settings.personal:
        consent = state.consent(browser, known_as)
        if consent is not None and consent.allow is None:
            state.drop(consent)
