"""What work knows about its call (``roost.broker.work.running_call``)."""

from __future__ import annotations

import math

from roost.api import operations as ops
from roost.broker.work.running_call import CALL, RunningCall, running_call


def test_outside_of_a_call_there_is_no_deadline_and_no_operation() -> None:
    assert (running_call().ends_at, running_call().operation) == (math.inf, None)


def test_the_work_of_a_call_finds_the_call() -> None:
    call = RunningCall(5.0, ops.Ping())
    before = CALL.set(call)
    assert running_call() is call
    CALL.reset(before)
    assert running_call() is not call
