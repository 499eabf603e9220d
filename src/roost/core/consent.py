"""The person decides which agents may use their own browser, and pauses or ends sessions there.

The person answers in the browser itself. ``rules.check_welcome`` enforces the answers.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import sessions
from roost.core.effects import Effect, Note, Tell
from roost.core.events import PersonAnswered, PersonSaid
from roost.core.rows import Consent
from roost.core.state import State


def answered(state: State, event: PersonAnswered, now: float, out: list[Effect]) -> None:
    """Record the person's answer for every agent of that client program.

    The event names the question by its label. The row may be gone if its agents ended before the
    answer.
    """
    asked = (row for row in state.consents(event.browser) if row.label == event.name)
    consent = next(asked, None) or Consent.labelled(event.browser, event.name)
    consent = replace(consent, allow=event.allow)
    state.put(consent)
    answer = {"browser": event.browser, "name": consent.label, "allow": event.allow}
    out.append(Note("person answered", answer))
    for session in state.sessions.values():
        known = {state.agents[agent].known_as for agent in state.agents_in(session.id)}
        if session.browser == event.browser and consent.name in known:
            out.append(Tell(session.id, "person_answered", answer))


def said(state: State, event: PersonSaid, now: float, out: list[Effect]) -> None:
    """Pause, resume or end the session of that group, or all sessions of that browser."""
    if event.group is None:
        meant = [one for one in state.sessions.values() if one.browser == event.browser]
    else:
        one = state.session_shown_as(event.browser, event.group)
        meant = [] if one is None else [one]
    for session in meant:
        if event.what == "end":
            sessions.end_session(state, session, out, why="ended by the person")
        else:
            sessions.set_paused(state, session, out, paused=event.what == "pause")


def nobody_asks(state: State, known_as: str) -> None:
    """Drop the open question once the last agent of that client program has ended."""
    if any(agent.known_as == known_as for agent in state.agents.values()):
        return
    for browser in state.rules.personal:
        consent = state.consent(browser, known_as)
        if consent is not None and consent.allow is None:
            state.drop(consent)
