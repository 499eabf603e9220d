"""How far batches have come is recorded for their agent, across restarts, until the agent ends."""

from __future__ import annotations

from roost import core
from roost.core import events as ev
from roost.vocabulary import OPERATOR
from tests.core.play import Ask, Play


def recorded(play: Play) -> list[tuple[str, int]]:
    return [(row.digest, row.done) for row in play.state.batches.values()]


def test_a_batchs_progress_survives_a_restart_and_ends_with_the_batch() -> None:
    play = Play()
    ada = play.agent("ada")
    for done in range(3):
        play.do(Ask(core.record_batch, ada, "x", done, 5))
    play.do(Ask(core.record_batch, ada, "y", 1, 2))
    play.restart()
    row = play.do(Ask(core.batch_of, ada, "x")).answer
    assert row is not None
    assert (row.done, row.of) == (2, 5)
    play.do(Ask(core.end_batch, ada, "x"))
    play.do(Ask(core.end_batch, ada, "x"))
    assert recorded(play) == [("y", 1)]


def test_an_agent_learns_nothing_of_another_agents_batch() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    play.do(Ask(core.record_batch, ada, "x", 1, 2))
    assert play.do(Ask(core.batch_of, bob, "x")).answer is None
    play.do(Ask(core.end_batch, bob, "x"))
    assert recorded(play) == [("x", 1)]


def test_an_agent_that_ends_leaves_no_batch() -> None:
    play = Play()
    ada, bob = play.agent("ada"), play.agent("bob")
    for agent in (ada, bob):
        play.do(Ask(core.record_batch, agent, "x", 1, 2))
    play.do(ev.AgentLeft(ada))
    assert [row.agent for row in play.state.batches.values()] == [bob]


def test_the_operator_has_no_rows() -> None:
    play = Play()
    play.do(Ask(core.record_batch, OPERATOR, "x", 1, 2))
    assert recorded(play) == []
