from __future__ import annotations

from typing import Any

import pytest

from roost.wire.correlator import Correlator


def test_each_reply_finds_its_own_request() -> None:
    pending = Correlator[str]()
    first = pending.start("first", label="tab.open")
    second = pending.start("second", label="tab.list")

    assert first != second
    assert pending.resolve(second) == "second"
    assert pending.resolve(first) == "first"
    assert len(pending) == 0


def test_a_late_or_repeated_reply_finds_nobody() -> None:
    pending = Correlator[str]()
    request = pending.start("sink", label="tab.open", owner="a")

    assert pending.resolve(request) == "sink"
    assert pending.resolve(request) is None
    assert pending.resolve(request + 1) is None


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [], {}, -1])
def test_a_value_that_is_no_id_resolves_nothing(value: Any) -> None:
    pending = Correlator[str]()
    assert pending.start("sink", label="tab.open") == 1

    assert pending.resolve(value) is None
    assert pending.label(1) == "tab.open"


def test_ids_continue_where_the_last_broker_stopped() -> None:
    pending = Correlator[str](next_id=41)

    assert pending.start("sink", label="a") == 41
    assert pending.next_id == 42


def test_a_reply_to_a_request_of_the_last_broker_can_be_expected() -> None:
    pending = Correlator[str](next_id=41)
    pending.expect(40, "old", label="a")

    assert pending.start("new", label="b") == 41
    assert pending.resolve(40) == "old"


def test_an_owners_requests_fail_together_and_nobody_elses() -> None:
    pending = Correlator[str]()
    pending.start("a1", label="x", owner="a")
    pending.start("b1", label="y", owner="b")
    answered = pending.start("a2", label="x", owner="a")
    pending.start("a3", label="x", owner="a")
    pending.start("nobody's", label="z")
    pending.resolve(answered)

    assert pending.fail_owner("a") == ["a1", "a3"]
    assert pending.fail_owner("a") == []
    assert pending.fail_owner("stranger") == []
    assert pending.fail_all() == ["b1", "nobody's"]


def test_the_end_of_a_connection_fails_all_oldest_first() -> None:
    pending = Correlator[int]()
    for number in range(3):
        pending.start(number, label=f"call {number}", owner=number % 2)

    assert pending.fail_all() == [0, 1, 2]
    assert len(pending) == 0
    assert pending.fail_owner(0) == []


def test_finished_requests_leave_nothing_behind() -> None:
    pending = Correlator[object]()
    for owner in range(1000):
        pending.resolve(pending.start(object(), label="call", owner=owner))

    assert len(pending) == 0
    assert pending._ids_of == {}
