"""Focus loops, at most one per session, with an iteration limit, a time limit and a phrase."""

from __future__ import annotations

import re
from dataclasses import replace

from roost.core import rules
from roost.core.effects import Tell
from roost.core.rows import Loop, Session
from roost.core.state import State
from roost.errors import BadRequest, LoopActive
from roost.vocabulary import (
    LOOP_ITERATIONS,
    LOOP_ITERATIONS_MAX,
    LOOP_PHRASE_CHARS,
    AgentId,
    NoticeKind,
)

SAID_CHARS = 100_000
"""Only this many characters at the end of an agent's last message are searched for the phrase."""
_LETTER = re.compile(r"[a-z0-9]")


def start_loop(
    state: State,
    *,
    agent: AgentId,
    session: str | None,
    prompt: str,
    max_iterations: int = LOOP_ITERATIONS,
    phrase: str | None = None,
) -> Session:
    row = rules.session_for(state, agent, session)
    if row.id in state.loops:
        raise LoopActive(f"Session {row.id} already has a loop.", session=row.id)
    if not prompt.strip():
        raise BadRequest("prompt: expected some text.", field="prompt")
    if not 0 <= max_iterations <= LOOP_ITERATIONS_MAX:
        raise BadRequest(
            f"maxIterations: expected 0 (no limit) to {LOOP_ITERATIONS_MAX}.",
            field="maxIterations",
        )
    if phrase is not None and not 0 < len(phrase.strip()) <= LOOP_PHRASE_CHARS:
        raise BadRequest(
            f"completionPhrase: expected 1 to {LOOP_PHRASE_CHARS} characters.",
            field="completionPhrase",
        )
    state.put(
        Loop(
            session=row.id,
            prompt=prompt,
            max_iterations=max_iterations,
            phrase=phrase,
            started_at=state.now,
        )
    )
    return row


def stop_loop(state: State, agent: AgentId, session: str | None) -> Session:
    row = rules.session_for(state, agent, session)
    loop = state.loops.get(row.id)
    if loop is not None:
        end(state, loop, why="stopped")
    return row


def end_turn(state: State, agent: AgentId, session: str | None, said: str) -> Session:
    """Count one iteration, or end the loop. A loop that still exists afterwards continues.

    said: the agent's last message, in which the core looks for the loop's phrase.
    """
    row = rules.session_for(state, agent, session)
    loop = state.loops.get(row.id)
    if loop is None:
        return row
    if loop.phrase is not None and says_phrase(said, loop.phrase):
        end(state, loop, why="completed")
    elif loop.max_iterations and loop.iteration >= loop.max_iterations:
        end(state, loop, why="iteration limit")
    else:
        state.put(replace(loop, iteration=loop.iteration + 1))
    return row


def end(state: State, loop: Loop, *, why: str) -> None:
    state.drop(loop)
    state.emit(Tell(loop.session, NoticeKind.LOOP_ENDED, {"iteration": loop.iteration, "why": why}))


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
