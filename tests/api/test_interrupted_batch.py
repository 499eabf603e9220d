"""A batch that a restart interrupted: its caller learns which steps were done."""

from __future__ import annotations

from typing import Any

import pytest

from roost.api import operations as ops
from roost.api.interrupted_batch import interrupted_batch
from roost.api.views import BatchProgressView
from roost.errors import RoostError, SessionGone

BATCH = ops.Batch(steps=[{"tool": "tabs", "action": "new"}] * 4)


class Broker:
    """A ``BrokerApi`` that answers one thing about one batch."""

    def __init__(self, answer: BatchProgressView | RoostError) -> None:
        self.answer = answer

    async def call(self, operation: Any, *, timeout: float | None = None) -> Any:
        assert operation == ops.BatchProgress(digest=BATCH.digest)
        if isinstance(self.answer, RoostError):
            raise self.answer
        return self.answer

    def watch(self, session: str | None = None) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (0, "No step was done, nobody knows about step 1, and later steps were not begun."),
        (2, "Steps 1 to 2 were done, nobody knows about step 3, and later steps were not begun."),
        (3, "Steps 1 to 3 were done, nobody knows about step 4."),
    ],
)
async def test_the_error_names_the_steps_that_were_done(done: int, said: str) -> None:
    error = await interrupted_batch(Broker(BatchProgressView(done=done, of=4)), BATCH)
    assert error.code == "INTERRUPTED"
    assert error.message.endswith(said)
    assert error.details == {"done": done, "of": 4}


@pytest.mark.parametrize("answer", [BatchProgressView(), SessionGone("You have ended.")])
async def test_the_error_says_so_if_the_progress_is_unknown(
    answer: BatchProgressView | RoostError,
) -> None:
    error = await interrupted_batch(Broker(answer), BATCH)
    assert "nobody knows which steps were done" in error.message


def test_the_digest_tells_batches_apart_and_knows_the_same_one_again() -> None:
    again = ops.Batch.model_validate(BATCH.to_wire())
    assert again.digest == BATCH.digest
    others = [
        ops.Batch(steps=BATCH.steps[:3]),
        ops.Batch(steps=BATCH.steps, snapshot="diff"),
        ops.Batch(steps=BATCH.steps, session="other"),
    ]
    assert len({BATCH.digest, *(other.digest for other in others)}) == 4
