"""How links look for a broker. As processes they are tested in tests/keeper and tests/host."""

from __future__ import annotations

import pytest

from roost.link import relay
from roost.link.relay import Backoff
from roost.local.deadline import Deadline


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a clock that moves only when the test moves it."""
    time = [0.0]
    monkeypatch.setattr(relay, "Deadline", lambda seconds: Deadline(seconds, lambda: time[0]))
    return time


def test_the_first_attempt_to_connect_is_made_at_once(now: list[float]) -> None:
    assert Backoff().is_due()


def test_the_delay_grows_while_a_broker_accepts_the_host_and_disconnects_it(
    now: list[float],
) -> None:
    backoff, waits = Backoff(), []
    for _ in range(12):
        backoff.worked()
        backoff.ended()
        waits.append(backoff.remaining())
        now[0] += waits[-1]

    assert waits == [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30]


def test_a_broker_that_stays_away_for_days_is_still_looked_for(now: list[float]) -> None:
    backoff = Backoff()
    for _ in range(5000):
        backoff.failed()

    assert backoff.remaining() == 30


def test_only_a_connection_of_a_minute_resets_the_delay(now: list[float]) -> None:
    backoff = Backoff()
    backoff.failed()
    backoff.worked()
    now[0] += 59
    backoff.ended()
    assert backoff.remaining() == 2
    backoff.worked()
    now[0] += 60
    backoff.ended()
    assert backoff.is_due()
    backoff.failed()
    assert backoff.remaining() == 1


def test_the_announcement_of_a_new_broker_ends_the_wait(now: list[float]) -> None:
    backoff = Backoff()
    backoff.failed()
    backoff.hurry()

    assert backoff.is_due()
