"""Random orders of events: agents come, disappear, ask, grant and time out; browsers open, crash
and return; policies judge what agents do, and the person answers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.core.conduct import Conduct


@pytest.mark.slow
def test_the_rules_of_sharing_hold_whatever_happens_in_whatever_order() -> None:
    run_state_machine_as_test(
        Conduct,
        settings=settings(
            max_examples=80,
            stateful_step_count=40,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
