"""Values that Firefox describes, as plain JSON."""

from __future__ import annotations

from typing import Any

import pytest

from roost.drivers.firefox.values import MAX_DEPTH, plain
from roost.errors import BadRequest


def number(value: float | str) -> dict[str, Any]:
    return {"type": "number", "value": value}


@pytest.mark.parametrize(
    ("described", "value"),
    [
        ({"type": "undefined"}, None),
        ({"type": "null"}, None),
        ({"type": "symbol"}, None),
        ({"type": "string", "value": "☃"}, "☃"),
        ({"type": "boolean", "value": False}, False),
        (number(1.5), 1.5),
        (number("NaN"), None),
        (number("-Infinity"), None),
        (number("-0"), 0),
        ({"type": "bigint", "value": "12345678901234567890"}, "12345678901234567890"),
        ({"type": "date", "value": "2026-01-01T00:00:00.000Z"}, "2026-01-01T00:00:00.000Z"),
        ({"type": "array", "value": [number(1), {"type": "undefined"}]}, [1, None]),
        ({"type": "object", "value": [["a", number(1)], ["b", {"type": "null"}]]},
         {"a": 1, "b": None}),
        ({"type": "map", "value": [[number(1), number(2)]]}, {}),
        ({"type": "node", "sharedId": "n", "value": {}}, {}),
        ({"type": "function"}, {}),
    ],
)  # fmt: skip
def test_values_are_what_json_makes_of_them(described: dict[str, Any], value: object) -> None:
    assert plain(described) == value


def test_what_occurs_twice_is_there_twice() -> None:
    shared = {"type": "array", "internalId": "x", "value": [number(7)]}
    again = {"type": "array", "internalId": "x"}
    described = {"type": "object", "value": [["a", shared], ["b", again]]}
    assert plain(described) == {"a": [7], "b": [7]}


def test_what_contains_itself_is_refused() -> None:
    inner = {"type": "object", "internalId": "x"}
    with pytest.raises(BadRequest):
        plain({"type": "object", "internalId": "x", "value": [["self", inner]]})


def nested(levels: int) -> dict[str, Any]:
    """What Firefox makes of lists in lists: it stops describing them at the depth it was told."""
    value: dict[str, Any] = {"type": "array"}
    for _ in range(levels):
        value = {"type": "array", "value": [value]}
    return value


def test_a_value_that_firefox_stopped_describing_is_refused_and_not_cut_in_silence() -> None:
    with pytest.raises(BadRequest, match="nested more than 100 levels"):
        plain(nested(MAX_DEPTH + 1))
