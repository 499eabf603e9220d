from __future__ import annotations

import pytest

from roost import core
from roost.core import events as ev
from roost.core.effects import Tell
from roost.core.loops import says_phrase
from roost.core.rows import Session
from roost.errors import BadRequest, LoopActive, SessionGone
from roost.vocabulary import (
    LOOP_ITERATIONS,
    LOOP_ITERATIONS_MAX,
    LOOP_PHRASE_CHARS,
    LOOP_SECONDS,
    AgentId,
)
from tests.core.play import Ask, Play, of


def started(
    play: Play,
    agent: AgentId,
    most: int = LOOP_ITERATIONS,
    phrase: str | None = None,
    prompt: str = "go on",
) -> Ask[Session]:
    return Ask(
        core.start_loop,
        agent=agent,
        session=None,
        prompt=prompt,
        max_iterations=most,
        phrase=phrase,
    )


def ended(play: Play, event: ev.Event | Ask[Session], after: float = 0.0) -> list[object]:
    return [told.data["why"] for told in of(play.do(event, after), Tell)]


def test_a_session_has_one_loop() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(started(play, ada))
    refusal = play.refused(started(play, ada), LoopActive)
    assert refusal.details["session"] == play.state.agents[ada].own_session
    play.do(started(play, play.agent("bob")))


@pytest.mark.parametrize(
    ("field", "most", "phrase", "prompt"),
    [
        ("prompt", 1, None, "  "),
        ("maxIterations", -1, None, "go"),
        ("maxIterations", LOOP_ITERATIONS_MAX + 1, None, "go"),
        ("completionPhrase", 1, "  ", "go"),
        ("completionPhrase", 1, "x" * (LOOP_PHRASE_CHARS + 1), "go"),
    ],
)
def test_a_loop_outside_its_bounds_is_refused_by_field(
    field: str, most: int, phrase: str | None, prompt: str
) -> None:
    play = Play()
    ada = play.agent("ada")
    refusal = play.refused(started(play, ada, most, phrase, prompt), BadRequest)
    assert refusal.details["field"] == field
    assert not play.state.loops


def test_a_loop_ends_after_its_iterations() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(started(play, ada, most=2))
    turn = Ask(core.end_turn, ada, None, "not yet")
    assert not ended(play, turn)
    assert not ended(play, turn)
    assert ended(play, turn) == ["iteration limit"]
    assert not play.state.loops
    assert not play.do(turn).changes, "no loop, nothing to do"


def test_a_loop_without_a_limit_ends_by_the_clock_alone() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(started(play, ada, most=0))
    for _ in range(LOOP_ITERATIONS + 5):
        assert not ended(play, Ask(core.end_turn, ada, None, ""))
    assert play.machine.next_deadline() == play.now + LOOP_SECONDS
    assert ended(play, ev.TimePassed(), after=LOOP_SECONDS) == ["time limit"]


def test_the_completion_phrase_ends_a_loop() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(started(play, ada, phrase="ALL TESTS PASS"))
    assert not ended(play, Ask(core.end_turn, ada, None, "all tests fail"))
    said = "So: <promise>all  tests\npass</promise>."
    assert ended(play, Ask(core.end_turn, ada, None, said)) == ["completed"]


def test_stopping_ends_a_loop_and_a_second_stop_changes_nothing() -> None:
    play = Play()
    ada = play.agent("ada")
    play.do(started(play, ada))
    assert ended(play, Ask(core.stop_loop, ada, None)) == ["stopped"]
    assert not ended(play, Ask(core.stop_loop, ada, None))


def test_another_agents_loop_cannot_be_reached() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.do(started(play, ada))
    home = play.state.agents[ada].own_session
    play.refused(Ask(core.stop_loop, bob, home), SessionGone)
    play.refused(Ask(core.end_turn, bob, home, ""), SessionGone)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("done", True),
        ("I am DONE.", True),
        ("<promise>done</promise>", True),
        ("完了done。", True),
        ("d one", False),
        ("Not abandoned yet", False),
        ("", False),
    ],
)
def test_a_phrase_is_looked_for_without_case_and_white_space(said: str, found: bool) -> None:
    assert says_phrase(said, " Done ") is found


def test_a_phrase_is_looked_for_in_a_time_that_does_not_grow_with_its_length() -> None:
    # Compared from every character, a thousand at a time, this takes minutes.
    said = ("-" * 999 + "x") * 100
    for _ in range(200):
        assert not says_phrase(said, "-" * 1000)
    assert says_phrase("x" * 10_000_000 + " done", "done")
    assert not says_phrase("done" + "x" * 10_000_000, "done")
