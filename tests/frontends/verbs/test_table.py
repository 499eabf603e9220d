"""Every operation has its verb, and every verb its place in help and completion."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

import pytest

from roost.api import operations as ops
from roost.api import page_views, views
from roost.api.operations import OPERATIONS, Audience, parse_for_model
from roost.frontends.verbs.arguments import aliases, row_of, rows
from roost.frontends.verbs.bare_values import bare_value
from roost.frontends.verbs.hints import spell
from roost.frontends.verbs.table import DERIVED, GROUPS, VERBS, Verb, derived
from roost.verb.arguments import Call, fill, split
from roost.verb.table import Table

BY_COMMAND = {"session_open", "session_list", "session_dispose", "roost_status"}
"""Tools that commands of their own call. `roost call` reaches all other operations."""


@cache
def every_row() -> dict[str, dict[str, Any]]:
    """Return ``rows()``, made once: they take a tenth of a second."""
    return rows()


def test_a_tool_without_a_row_gets_a_derived_verb() -> None:
    row = row_of(derived(ops.Resize))
    assert [one["name"] for one in row["positional"]] == ["width", "height"]
    assert row["example"] == "roost resize WIDTH HEIGHT"


def test_every_tool_is_a_verb() -> None:
    tools = {op for op, row in OPERATIONS.items() if row.audience in (Audience.CORE, Audience.ALL)}
    assert tools - {verb.operation.op for verb in VERBS} - BY_COMMAND == set()


def test_names_are_unique() -> None:
    names = [verb.words for verb in VERBS] + list(aliases())
    assert len(names) == len(set(names))


def test_every_verb_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    first = {verb.words.split()[0] for verb in VERBS if verb.words != "session id"}
    assert first | {"session id", "call"} == set(grouped)


@pytest.mark.parametrize(
    "verb", [v for v in VERBS if v not in DERIVED], ids=lambda verb: verb.words
)
def test_the_example_of_a_verb_is_a_valid_call(verb: Verb) -> None:
    program, *words = shlex.split(every_row()[verb.words]["example"])
    assert program == "roost"
    call, left = split(words)
    found = Table().verb(left)
    assert found is not None
    name, row, count = found
    assert name == verb.words
    fill(call, name, row, left[count:])
    assert isinstance(call, Call)
    parse_for_model(row["op"], call.arguments)


@pytest.mark.parametrize(
    ("step", "verb"),
    [
        ("Navigate", "`roost open URL`"),
        ("Tabs action=new", "`roost tab new`"),
        ("Tabs action=select", "`roost tab select TAB`"),
        ("Snapshot", "`roost snapshot`"),
        ("HandleDialog", "`roost dialog accept`"),
        ("timeout", "`--timeout SECONDS`"),
        ("SessionList", None),
    ],
)
def test_a_hint_names_verbs(step: str, verb: str | None) -> None:
    assert spell(step) == verb


def test_a_bare_value_has_no_words_of_roost() -> None:
    where: dict[str, Any] = {"tab": "t1", "url": "https://site.test/", "title": "T"}
    assert bare_value(views.ValueView(tab="t1", value="x")) == "x"
    assert bare_value(views.ValueView(tab="t1", value={"a": 1})) == '{"a":1}'
    assert bare_value(page_views.SnapshotView(**where, snapshot="- button")) == "- button"
    assert bare_value(views.DisposedView(disposed="s1", tabs_closed=0)) != ""
