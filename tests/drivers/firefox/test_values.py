"""Values that Firefox describes, as plain JSON."""

from __future__ import annotations

from typing import Any

import pytest

from roost.drivers.firefox.values import MAX_DEPTH, plain
from roost.errors import BadRequest, TooLarge
from roost.wire.weight import ANSWER_BYTES, ANSWER_VALUES


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


def test_a_value_that_occurs_twice_is_returned_twice() -> None:
    shared = {"type": "array", "internalId": "x", "value": [number(7)]}
    again = {"type": "array", "internalId": "x"}
    described = {"type": "object", "value": [["a", shared], ["b", again]]}
    assert plain(described) == {"a": [7], "b": [7]}


def test_a_value_that_contains_itself_is_refused() -> None:
    inner = {"type": "object", "internalId": "x"}
    with pytest.raises(BadRequest):
        plain({"type": "object", "internalId": "x", "value": [["self", inner]]})


def nested(levels: int) -> dict[str, Any]:
    """Return what Firefox sends for nested lists: it stops describing them at the given depth."""
    value: dict[str, Any] = {"type": "array"}
    for _ in range(levels):
        value = {"type": "array", "value": [value]}
    return value


def test_a_value_that_firefox_stopped_describing_is_refused_and_not_cut_in_silence() -> None:
    with pytest.raises(BadRequest, match="nested more than 100 levels"):
        plain(nested(MAX_DEPTH + 1))


def reference(number: int) -> dict[str, Any]:
    return {"type": "array", "internalId": str(number)}


def doubled(inner: dict[str, Any], times: int) -> dict[str, Any]:
    """Return what Firefox sends for ``for (…) a = [a, a]``: the second of each pair is a
    reference."""
    value = {**inner, "internalId": "0"}
    for number in range(times):
        pair = [value, {"type": value["type"], "internalId": value["internalId"]}]
        value = {"type": "array", "internalId": str(number + 1), "value": pair}
    return value


def written(value: Any) -> int:
    """Return how many values an encoder writes."""
    if isinstance(value, dict):
        return 1 + sum(map(written, value.values()))
    return 1 + sum(map(written, value)) if isinstance(value, list) else 1


def test_references_count_as_much_as_what_they_refer_to() -> None:
    leaf = {"type": "array", "value": [number(1)]}
    fits = 15  # 2^15 leaves of two values each, and the lists around them
    assert written(plain(doubled(leaf, fits))) == 3 * 2**fits - 1 <= ANSWER_VALUES
    for times in (fits + 1, 24, 90):
        with pytest.raises(TooLarge, match=f"more than {ANSWER_VALUES} values"):
            plain(doubled(leaf, times))


@pytest.mark.parametrize("letter", ["a", "☃", "\ud800"])
def test_strings_count_again_in_each_reference(letter: str) -> None:
    letters = ANSWER_BYTES // 4 // len(letter.encode(errors="surrogatepass"))
    for leaf in (
        {"type": "array", "value": [{"type": "string", "value": letter * letters}]},
        {"type": "object", "value": [[letter * letters, number(1)]]},
    ):
        assert written(plain(doubled(leaf, 2)))
        with pytest.raises(TooLarge, match=f"more than {ANSWER_BYTES} bytes"):
            plain(doubled(leaf, 3))


def test_levels_behind_references_count_as_levels() -> None:
    """Lists that each hold the previous one, side by side: no description is deep."""
    side_by_side: list[dict[str, Any]] = [{"type": "array", "internalId": "0", "value": []}]
    for n in range(1, MAX_DEPTH):
        side_by_side.append({"type": "array", "internalId": str(n), "value": [reference(n - 1)]})
    assert plain({"type": "array", "value": side_by_side})[1] == [[]]
    side_by_side.append(
        {"type": "array", "internalId": "deeper", "value": [reference(MAX_DEPTH - 1)]}
    )
    with pytest.raises(BadRequest, match="nested more than 100 levels"):
        plain({"type": "array", "value": side_by_side})


def test_a_deep_value_that_occurs_again_is_refused_and_not_cut_in_silence() -> None:
    deep: dict[str, Any] = {"type": "array", "internalId": "x"}
    for _ in range(MAX_DEPTH + 1):
        deep = {"type": "array", "value": [deep]}
    with pytest.raises(BadRequest, match="nested more than 100 levels"):
        plain(deep)
