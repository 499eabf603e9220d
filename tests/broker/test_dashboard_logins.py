"""Codes and tokens of the dashboard (``roost.broker.dashboard_logins``)."""

from __future__ import annotations

import pytest

from roost.broker.dashboard_logins import CODES_OPEN, DashboardLogins
from roost.broker.tokens import Tokens
from roost.errors import Unauthorized


class Time:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_code_is_used_once() -> None:
    logins = DashboardLogins(Tokens("operator"), Time())
    code = logins.code()
    logins.use(code)
    with pytest.raises(Unauthorized):
        logins.use(code)


def test_a_code_is_good_for_a_minute() -> None:
    time = Time()
    logins = DashboardLogins(Tokens("operator"), time)
    early, late = logins.code(), logins.code()
    time.now += 59
    logins.use(early)
    time.now += 2
    with pytest.raises(Unauthorized):
        logins.use(late)


def test_only_the_newest_codes_are_kept() -> None:
    logins = DashboardLogins(Tokens("operator"), Time())
    codes = [logins.code() for _ in range(CODES_OPEN + 1)]
    with pytest.raises(Unauthorized):
        logins.use(codes[0])
    for code in codes[1:]:
        logins.use(code)


def test_the_next_broker_knows_the_token_too() -> None:
    token = DashboardLogins(Tokens("operator"), Time()).token()
    DashboardLogins(Tokens("operator"), Time()).check(token)


def test_a_replaced_operator_token_ends_all_logins() -> None:
    token = DashboardLogins(Tokens("operator"), Time()).token()
    with pytest.raises(Unauthorized):
        DashboardLogins(Tokens("another"), Time()).check(token)


def test_a_token_is_good_for_twelve_hours() -> None:
    time = Time()
    logins = DashboardLogins(Tokens("operator"), time)
    token = logins.token()
    time.now += 12 * 3600
    logins.check(token)
    time.now += 1
    with pytest.raises(Unauthorized):
        logins.check(token)


@pytest.mark.parametrize("change", [0, 3, -1])
def test_a_changed_token_is_refused(change: int) -> None:
    logins = DashboardLogins(Tokens("operator"), Time())
    letters = list(logins.token())
    letters[change] = "0" if letters[change] != "0" else "1"
    with pytest.raises(Unauthorized):
        logins.check("".join(letters))


@pytest.mark.parametrize("token", ["", ".", "..", "x.y.z", "9" * 5000, "é.é.é"])
def test_text_that_is_not_a_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized):
        DashboardLogins(Tokens("operator"), Time()).check(token)
