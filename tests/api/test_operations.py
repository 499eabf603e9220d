"""The operation table is complete. Every front end is derived from it."""

from __future__ import annotations

import inspect
import json
import re

import pytest

from roost.api import operations as ops
from roost.api.operations import OPERATIONS, Operation, parse
from roost.api.views import View
from roost.errors import BadRequest
from roost.testing.samples import sample

ROWS = list(OPERATIONS.values())
WIRE_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
CAMEL = re.compile(r"[a-z]+[a-zA-Z]*")
MAY_HOLD_SECRETS = {
    "text", "function", "value", "values", "fields", "prompt", "said", "prompt_text",
    "completion_phrase", "completion_promise", "key", "regex",
}  # fmt: skip


def by_op(row: type[Operation]) -> str:
    return row.op


@pytest.mark.parametrize("row", ROWS, ids=by_op)
def test_every_operation_says_what_it_is(row: type[Operation]) -> None:
    assert WIRE_NAME.fullmatch(row.op)
    assert row.title
    assert row.title == row.title.strip()
    assert inspect.getdoc(row)
    assert row.__doc__ != Operation.__doc__
    assert issubclass(row.reply, View)


@pytest.mark.parametrize("row", ROWS, ids=by_op)
def test_the_reply_of_a_row_is_the_view_in_its_type(row: type[Operation]) -> None:
    """Type checkers read ``Answers[…]``, the client builds ``reply``."""
    (promised,) = [
        base.__args__[0]
        for base in row.__orig_bases__  # type: ignore[attr-defined]
        if getattr(base, "__origin__", None) is ops.Answers
    ]
    assert row.__dict__["reply"] is promised


@pytest.mark.parametrize("row", ROWS, ids=by_op)
def test_arguments_are_camel_case_and_unknown_ones_are_refused(
    row: type[Operation],
) -> None:
    schema = row.model_json_schema(by_alias=True)
    assert schema["additionalProperties"] is False
    for name in schema.get("properties", {}):
        assert CAMEL.fullmatch(name), name


@pytest.mark.parametrize("row", ROWS, ids=by_op)
def test_the_audit_contains_only_listed_arguments(row: type[Operation]) -> None:
    assert set(row.audited) <= set(row.model_fields)
    assert set(row.audited) & MAY_HOLD_SECRETS == set()


@pytest.mark.parametrize("row", ROWS, ids=by_op)
def test_an_operation_survives_the_wire(row: type[Operation]) -> None:
    operation = sample(row.op)
    wire = json.loads(json.dumps(operation.to_wire()))
    assert parse(row.op, wire) == operation


def test_no_operation_only_reads_and_destroys() -> None:
    assert [row.op for row in ROWS if row.read_only and row.destructive] == []


def test_the_caller_is_never_an_argument() -> None:
    for row in ROWS:
        assert not {"agent", "agent_id", "owner", "identity", "token"} & set(row.model_fields)


@pytest.mark.parametrize(
    ("op", "arguments", "field"),
    [
        ("no_such_op", {}, "op"),
        (None, {}, "op"),
        (["ping"], {}, "op"),
        ("browser_navigate", {}, "url"),
        ("browser_navigate", {"url": 7}, "url"),
        ("browser_navigate", {"url": "x", "agent": "me"}, "agent"),
        ("browser_tabs", {"action": "steal"}, "action"),
        ("tab_space_status", {"waitSeconds": 61}, "waitSeconds"),
        ("loop_start", {"prompt": "x", "maxIterations": 10_001}, "maxIterations"),
        ("loop_start", {"prompt": "x", "completionPhrase": "y" * 1001}, "completionPhrase"),
        ("browser_close", {"tab": "t" * 33}, "tab"),
        ("ping", [1], "arguments"),
        ("ping", None, "arguments"),
        ("ping", "x", "arguments"),
    ],
)
def test_a_bad_argument_error_names_the_field_and_what_was_expected(
    op: object, arguments: object, field: str
) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse(op, arguments)
    assert refusal.value.details["field"] == field
    assert refusal.value.message.startswith(f"{field}:")
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("op", "arguments", "meant"),
    [
        ("browser_clik", {}, "browser_click"),
        ("session_opne", {}, "session_open"),
        ("browser_click", {"targt": "e1"}, "target"),
        ("browser_navigate", {"ulr": "x"}, "url"),
        ("browser_snapshot", {"max_char": 5}, "maxChars"),
    ],
)
def test_a_misspelt_operation_gets_a_suggestion(
    op: str, arguments: dict[str, object], meant: str
) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse(op, arguments)
    assert refusal.value.hint.startswith(f"Did you mean {meant}? ")


def test_a_name_that_resembles_no_operation_gets_no_suggestion() -> None:
    with pytest.raises(BadRequest) as refusal:
        parse("browser_click", {"target": "e1", "zzzzzz": 1})
    assert "Did you mean" not in refusal.value.hint


def test_a_refusal_of_arguments_does_not_quote_them() -> None:
    with pytest.raises(BadRequest) as refusal:
        parse("browser_type", {"target": "e1", "text": ["hunter2"]})
    assert "hunter2" not in str(refusal.value.to_wire())


def test_only_listing_tabs_counts_as_reading() -> None:
    assert ops.Tabs(action="list").only_reads()
    for action in ("new", "close", "select"):
        assert not ops.Tabs.model_validate({"action": action}).only_reads()


def test_the_requested_wait_is_added_to_the_deadline() -> None:
    assert ops.TabSpaceStatus(wait_seconds=40).waits() == 40
    assert ops.Ping().waits() == 0
