"""What the person decides about agents in a browser of their own: who may use it, and for how long.

They say it where they see it, in the browser; ``rules.check_welcome`` holds agents to it.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core import sessions
from roost.core.effects import Effect, Note, Tell
from roost.core.events import PersonAnswered, PersonSaid
from roost.core.model import Consent
from roost.core.state import State


def answered(state: State, event: PersonAnswered, now: float, out: list[Effect]) -> None:
    """Remembered for every agent of that name, until they say otherwise."""
    known = state.consent(event.browser, event.name)
    consent = known or Consent(browser=event.browser, name=event.name)
    state.put(replace(consent, allow=event.allow))
    answer = {"browser": event.browser, "name": event.name, "allow": event.allow}
    out.append(Note("person answered", answer))
    for session in state.sessions.values():
        names = {state.agents[agent].name for agent in state.agents_in(session.id)}
        if session.browser == event.browser and event.name in names:
            out.append(Tell(session.id, "person_answered", answer))


def said(state: State, event: PersonSaid, now: float, out: list[Effect]) -> None:
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


def nobody_asks(state: State, name: str) -> None:
    """An agent of that name has ended: if it was the last, a question about it is none any more."""
    if any(agent.name == name for agent in state.agents.values()):
        return
    for browser in state.rules.personal:
        consent = state.consent(browser, name)
        if consent is not None and consent.allow is None:
            state.drop(consent)
