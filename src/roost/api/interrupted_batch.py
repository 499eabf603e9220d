"""The error of a batch that a restart of the broker interrupted: it says which steps were done."""

from __future__ import annotations

from roost.api.broker import BrokerApi
from roost.api.operations import Batch, BatchProgress, Operation
from roost.errors import Interrupted, RoostError


async def interrupted_batch(api: BrokerApi, batch: Operation) -> Interrupted:
    """Ask the broker how far the batch had come, and return the error for the batch's caller."""
    assert isinstance(batch, Batch)
    try:
        known = await api.call(BatchProgress(digest=batch.digest))
    except RoostError:
        known = None
    if known is None or known.done is None:
        return Interrupted(
            "The broker went away during the batch; nobody knows which steps were done."
        )
    under_way = known.done + 1
    done = "No step was done" if known.done == 0 else f"Steps 1 to {known.done} were done"
    rest = ", and later steps were not begun" if under_way < batch.count else ""
    return Interrupted(
        f"The broker went away during the batch. {done}, nobody knows about step {under_way}"
        f"{rest}.",
        done=known.done,
        of=batch.count,
    )
