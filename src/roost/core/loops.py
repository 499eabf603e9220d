"""Focus loops, at most one per session, with an iteration limit, a time limit and a phrase."""

from __future__ import annotations

import re
from dataclasses import replace

from roost.core import rules
from roost.core.effects import Effect, Tell
from roost.core.events import LoopStartRequested, LoopStopRequested, LoopTurnEnded
from roost.core.rows import Loop, Session
from roost.core.state import State
from roost.errors import BadRequest, LoopActive
from roost.vocabulary import LOOP_ITERATIONS_MAX, LOOP_PHRASE_CHARS

SAID_CHARS = 100_000
"""Only this many characters at the end of an agent's last message are searched for the phrase."""
_LETTER = re.compile(r"[a-z0-9]")


def start(state: State, event: LoopStartRequested, now: float, out: list[Effect]) -> Session:
    session = rules.session_for(state, event.agent, event.session)
    if session.id in state.loops:
        raise LoopActive(f"Session {session.id} already has a loop.", session=session.id)
    if not event.prompt.strip():
        raise BadRequest("prompt: expected some text.", field="prompt")
    if not 0 <= event.max_iterations <= LOOP_ITERATIONS_MAX:
        raise BadRequest(
            f"maxIterations: expected 0 (no limit) to {LOOP_ITERATIONS_MAX}.",
            field="maxIterations",
        )
    if event.phrase is not None and not 0 < len(event.phrase.strip()) <= LOOP_PHRASE_CHARS:
        raise BadRequest(
            f"completionPhrase: expected 1 to {LOOP_PHRASE_CHARS} characters.",
            field="completionPhrase",
        )
    state.put(
        Loop(
            session=session.id,
            prompt=event.prompt,
            max_iterations=event.max_iterations,
            phrase=event.phrase,
            started_at=now,
        )
    )
    return session


def stop(state: State, event: LoopStopRequested, now: float, out: list[Effect]) -> Session:
    session = rules.session_for(state, event.agent, event.session)
    loop = state.loops.get(session.id)
    if loop is not None:
        end(state, loop, out, why="stopped")
    return session


def turn_ended(state: State, event: LoopTurnEnded, now: float, out: list[Effect]) -> Session:
    """Count one iteration, or end the loop. A loop that still exists afterwards continues."""
    session = rules.session_for(state, event.agent, event.session)
    loop = state.loops.get(session.id)
    if loop is None:
        return session
    if loop.phrase is not None and says_phrase(event.said, loop.phrase):
        end(state, loop, out, why="completed")
    elif loop.max_iterations and loop.iteration >= loop.max_iterations:
        end(state, loop, out, why="iteration limit")
    else:
        state.put(replace(loop, iteration=loop.iteration + 1))
    return session


def end(state: State, loop: Loop, out: list[Effect], *, why: str) -> None:
    state.drop(loop)
    out.append(Tell(loop.session, "loop_ended", {"iteration": loop.iteration, "why": why}))


def says_phrase(said: str, phrase: str) -> bool:
    """Return whether the text contains the phrase, plain or as ``<promise>…</promise>``.

    Ignores white space and letter case. A part of a longer word does not count: "abandoned" does
    not contain "done".
    """
    text, wanted = _folded(said[-SAID_CHARS:]), _folded(phrase)
    at = text.find(wanted)
    while at >= 0:
        # Check for Latin letters and digits only: other scripts write words without separators.
        end = at + len(wanted)
        around = text[max(0, at - 1) : at] + text[end : end + 1]
        if not _LETTER.search(around):
            return True
        at = text.find(wanted, at + 1)
    return False


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
