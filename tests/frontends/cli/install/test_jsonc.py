from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.jsonc import read, same_but, with_member, without_member

PATH = ("mcpServers", "roost")
ENTRY = {"command": "/py", "args": ["a"]}

COMMENTED = """\
// for all my projects
{
    /* servers */
    "mcpServers": {
        "other": { "command": "x" }, // the one I like
        // "old": {},
    },
    "theme": "dark", // at night
}
"""


def test_a_member_is_added_and_every_comment_stays_where_it_was() -> None:
    after = with_member(COMMENTED, PATH, ENTRY)
    assert after == COMMENTED.replace(
        "// the one I like\n",
        """// the one I like
        "roost": {
            "command": "/py",
            "args": [
                "a"
            ]
        }
""",
    )
    assert without_member(after, PATH) == COMMENTED.replace("}, // the", "} // the")


def test_a_comment_on_the_last_line_stays_with_its_member() -> None:
    text = '{\n  "a": 1 // one\n}\n'
    after = with_member(text, ("b",), 2)
    assert after == '{\n  "a": 1, // one\n  "b": 2\n}\n'
    assert without_member(after, ("b",)) == text


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "{}", "{ }\n", "{\n}\n", "// none yet\n{}"])
def test_an_empty_file_gets_all_of_it(text: str) -> None:
    assert read(with_member(text, PATH, ENTRY)) == {"mcpServers": {"roost": ENTRY}}


def test_comments_in_an_empty_object_stay() -> None:
    after = with_member('{\n  "mcpServers": {\n    // none yet\n  }\n}', PATH, 1)
    assert after == '{\n  "mcpServers": {\n    // none yet\n    "roost": 1\n  }\n}'


def test_what_is_there_is_replaced_in_place() -> None:
    text = '{"mcpServers": {"roost": {"old": 1}, "z": 2}, "y": 3}'
    after = with_member(text, PATH, 7)
    assert after == '{"mcpServers": {"roost": 7, "z": 2}, "y": 3}'


def test_a_text_on_one_line_stays_on_it() -> None:
    assert with_member('{"a": {"b": 1}}', ("a", "c"), [2]) == '{"a": {"b": 1, "c": [2]}}'
    assert with_member('{"a": 1,}', ("c",), 2) == '{"a": 1, "c": 2}'


def test_line_ends_and_tabs_are_kept() -> None:
    after = with_member('{\r\n\t"a": 1\r\n}\r\n', ("b",), {"c": 2})
    assert after == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1}', "{}"),
        ('{"a": 1, "b": 2}', '{"b": 2}'),
        ('{"b": 2, "a": 1}', '{"b": 2}'),
        ('{\n  "b": 2, // b\n  // of a\n  "a": 1\n}', '{\n  "b": 2 // b\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', '{\n  "b": 2\n}'),
        ('{"b": 2}', '{"b": 2}'),
        ("", ""),
    ],
)
def test_a_member_is_removed_with_its_comma(text: str, left: str) -> None:
    assert without_member(text, ("a",)) == left


def test_what_hangs_nowhere_is_not_removed() -> None:
    assert without_member('{"x": 1}', PATH) == '{"x": 1}'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a": 1\n"b": 2}', 3),
        ('{"a" 1}', 1),
        ('{"a": }', 1),
        ('{"a": [1 2]}', 1),
        ('{\n\n"a": "x\n"}', 3),
        ("{} x", 1),
        ("[]", 1),
        ("7", 1),
        ('{"a": nul}', 1),
        ("{,}", 1),
        ("/* open", 1),
        ('{"a":' * 100_000, 1),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Malformed) as refusal:
        with_member(text, PATH, ENTRY)
    assert refusal.value.line == line


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": "x"}'])
def test_what_should_be_an_object_and_is_not_is_left_alone(text: str) -> None:
    with pytest.raises(Malformed, match="mcpServers"):
        with_member(text, PATH, ENTRY)


NAMES = st.text(max_size=5)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(
    before=st.dictionaries(NAMES | st.just("k"), VALUES, max_size=4),
    servers=st.dictionaries(NAMES | st.just("roost"), VALUES, max_size=3),
    indent=st.sampled_from([None, 0, 2, "\t"]),
    value=VALUES,
)
def test_only_the_member_in_question_changes_whatever_the_file_holds(
    before: dict[str, Any], servers: dict[str, Any], indent: Any, value: Any
) -> None:
    before = {**before, "k": servers}
    text = json.dumps(before, indent=indent)
    after = with_member(text, ("k", "roost"), value)
    assert read(after) == {**before, "k": {**servers, "roost": value}}
    assert json.loads(after) == read(after)
    assert with_member(after, ("k", "roost"), value) == after
    servers.pop("roost", None)
    assert read(without_member(after, ("k", "roost"))) == {**before, "k": servers}


def test_a_difference_elsewhere_is_seen() -> None:
    assert same_but({"a": {"b": 1, "c": 2}}, {"a": {"b": 9, "c": 2}}, ("a", "b"))
    assert same_but({}, {"a": {"b": 9}}, ("a", "b"))
    assert not same_but({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, ("a", "b"))
    assert not same_but({"x": 1}, {}, ("a", "b"))
