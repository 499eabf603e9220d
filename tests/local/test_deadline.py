from __future__ import annotations

from roost.local.deadline import Deadline


def test_a_deadline_passes_after_its_time() -> None:
    now = 100.0
    deadline = Deadline(5.0, clock=lambda: now)

    assert deadline.remaining() == 5.0
    now = 104.0
    assert deadline.remaining() == 1.0
    assert not deadline.has_passed()
    now = 105.0
    assert deadline.has_passed()
    now = 200.0
    assert deadline.remaining() == 0.0
