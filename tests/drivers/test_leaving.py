"""What drivers say of a page that is left says what to do next."""

from __future__ import annotations

from roost.drivers.leaving import left_meanwhile, still_leaving


def test_what_may_have_been_done_is_not_called_a_failure() -> None:
    error = left_meanwhile()
    assert error.code == "INTERRUPTED"
    assert "browser_snapshot" in error.hint


def test_a_page_on_its_way_names_where_it_goes_and_when_to_ask_again() -> None:
    error = still_leaving("http://silent/" + "x" * 5000)
    assert error.code == "TIMEOUT"
    assert "http://silent/" in error.message
    assert len(error.message) < 400
    assert error.retry_after_ms
