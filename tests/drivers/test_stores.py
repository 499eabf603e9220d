"""Which of a browser's store processes have died (roost.drivers.stores)."""

from __future__ import annotations

import pytest

from roost.drivers.stores import Stores


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        (Stores(1, 2), Stores(1, 2), Stores()),
        (Stores(1, 2), Stores(3, 2), Stores(1, 0)),
        (Stores(1, 2), Stores(1, 0), Stores(0, 2)),
        (Stores(), Stores(3, 4), Stores()),
        (Stores(1, 2), Stores(), Stores()),
    ],
    ids=["all live", "one has a successor", "one has none yet", "none ran before", "not told"],
)
def test_a_store_is_lost_when_its_process_ended_or_was_replaced(
    before: Stores, now: Stores, lost: Stores
) -> None:
    assert before.lost_by(now) == lost
    assert bool(before.lost_by(now)) == (lost != Stores())
