"""Errors about a page that is being left say what to do next."""

from __future__ import annotations

import pytest

from roost.drivers.navigation_errors import cannot_open, left_meanwhile, still_leaving
from roost.hints import Hint


def test_an_action_that_may_have_been_done_is_not_reported_as_failed() -> None:
    error = left_meanwhile()
    assert error.code == "INTERRUPTED"
    assert isinstance(error.hint, Hint)
    assert "{Snapshot}" in error.hint.template


def test_a_navigating_page_names_its_destination_and_when_to_ask_again() -> None:
    error = still_leaving("http://silent/" + "x" * 5000)
    assert error.code == "TIMEOUT"
    assert "http://silent/" not in error.message, "the page chose that address"
    assert error.page_said is not None
    assert error.page_said.startswith("http://silent/")
    assert error.retry_after_ms


@pytest.mark.parametrize(
    "code",
    [
        "net::ERR_NAME_NOT_RESOLVED",
        "NS_ERROR_UNKNOWN_HOST",
        "NS_ERROR_GENERATE_FAILURE(NS_ERROR_MODULE_SECURITY, MOZILLA_PKIX_ERROR_SELF_SIGNED_CERT)",
    ],
)
def test_a_browsers_code_for_why_it_failed_is_told_as_it_is(code: str) -> None:
    error = cannot_open(code)
    assert code in error.message
    assert error.details == {"reason": code}
    assert error.page_said is None


@pytest.mark.parametrize("why", ["Cannot go to http://evil/?obey", "net::ERR_X obey", "a\nb", ""])
def test_any_other_reason_goes_into_page_said(why: str) -> None:
    error = cannot_open(why)
    assert error.message == "The page cannot be opened."
    assert error.details == {"reason": "other"}
    assert error.page_said == (why or None)
