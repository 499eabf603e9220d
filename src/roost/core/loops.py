"""Focus loops: one per session, bounded by iterations, wall clock, phrase and the agent's stop."""

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
"""How much of the end of an agent's last message is searched for the phrase."""
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
    """One more iteration, or the end of the loop. Afterwards a loop that is there goes on."""
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
    """Whether the phrase stands in the text, plain or as ``<promise>…</promise>``, white space and
    letter case aside. Not inside a longer word: "done" does not stand in "abandoned"."""
    text, wanted = _folded(said[-SAID_CHARS:]), _folded(phrase)
    at = text.find(wanted)
    while at >= 0:
        # Latin letters and digits only: other scripts write words without anything between them.
        end = at + len(wanted)
        around = text[max(0, at - 1) : at] + text[end : end + 1]
        if not _LETTER.search(around):
            return True
        at = text.find(wanted, at + 1)
    return False


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
