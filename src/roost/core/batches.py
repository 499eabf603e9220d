"""How far batches have come, for the agent that asks after a restart of the broker."""

from __future__ import annotations

from roost.core.rows import Batch
from roost.core.state import State
from roost.vocabulary import AgentId


def record_batch(state: State, agent: AgentId, digest: str, done: int, of: int) -> None:
    """Record how many steps of the agent's batch are done. Does nothing for the operator."""
    if agent in state.agents:
        state.put(Batch(agent=agent, digest=digest, done=done, of=of))


def end_batch(state: State, agent: AgentId, digest: str) -> None:
    """Forget a batch that is answered."""
    row = batch_of(state, agent, digest)
    if row is not None:
        state.drop(row)


def batch_of(state: State, agent: AgentId, digest: str) -> Batch | None:
    """Return how far that batch has come. None: nothing is known about it."""
    return state.batches.get(f"{agent}/{digest}")


def withdraw(state: State, agent: AgentId) -> None:
    """Forget all batches of an agent that ends."""
    for row in [row for row in state.batches.values() if row.agent == agent]:
        state.drop(row)
