"""One entry of a JSON text changes; every other character stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.frontends.cli.install.config_error import Malformed
from roost.frontends.cli.install.json_text import change, read

PATH = ("mcpServers", "roost")
ENTRY = {"command": "r", "args": ["mcp"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", '{"a": {"b": 1}}'),
        ("{ }\n", '{"a": {"b": 1}}\n'),
        ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
        ('{"a": {}}', '{"a": {"b": 1}}'),
        ('{\n  "a": {},\n}\n', '{\n  "a": {\n    "b": 1\n  },\n}\n'),
        ('{\n\t"x": 1\n}\n', '{\n\t"x": 1,\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'),
        ('{\n  "a": {"x": 2}\n}', '{\n  "a": {"x": 2, "b": 1}\n}'),
        (
            '{\n  "x": 1 // mine\n  // below\n}\n',
            '{\n  "x": 1, // mine\n  // below\n  "a": {\n    "b": 1\n  }\n}\n',
        ),
        (
            '{\n  "x": 1, // mine\n}\n',
            '{\n  "x": 1, // mine\n  "a": {\n    "b": 1\n  },\n}\n',
        ),
        ('{\n  // empty\n}\n', '{\n  // empty\n  "a": {\n    "b": 1\n  }\n}\n'),
        ('{"a": {"b": 0 /* old */}}', '{"a": {"b": 1 /* old */}}'),
        ('\ufeff{\r\n  "x": 1\r\n}', '\ufeff{\r\n  "x": 1,\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}'),
        ('{"a": {"b": 1}} // last', '{"a": {"b": 1}} // last'),
    ],
)  # fmt: skip
def test_an_entry_is_put_in_and_the_rest_stays(before: str, after: str) -> None:
    assert change(before, ("a", "b"), 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": {"b": 1}}', '{"a": {}}'),
        ('{"a": {"x": 0, "b": 1}}', '{"a": {"x": 0}}'),
        ('{"a": {"b": 1, "x": 0}}', '{"a": {"x": 0}}'),
        ('{\n  "a": {\n    "b": 1,\n    "x": 0\n  }\n}', '{\n  "a": {\n    "x": 0\n  }\n}'),
        ('{"a": {\n  "x": 0, // x\n  "b": 1\n}}', '{"a": {\n  "x": 0 // x\n}}'),
        ('{"a": {"x": 0, // x\n"b": 1, "y": 2}}', '{"a": {"x": 0, // x\n"y": 2}}'),
        ('{"a": {"b": 1,}}', '{"a": {}}'),
        ('{"a": {}}', '{"a": {}}'),
        ("{}", "{}"),
        ("", ""),
    ],
)  # fmt: skip
def test_an_entry_is_taken_out_and_the_rest_stays(before: str, after: str) -> None:
    assert change(before, ("a", "b"), None) == after


def test_comments_inside_our_own_entry_stay() -> None:
    old = '{\n  "command": "old", // why\n  "gone": 1,\n  "args": ["mcp"]\n}'
    before = f'{{"mcpServers": {{"roost": {old}}}}}'
    after = change(before, PATH, ENTRY)
    assert "// why" in after
    assert read(after)["mcpServers"]["roost"] == ENTRY


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["a", "mcpServers", "roost", "x // y", 'q"', "é"])
CONFIGS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(
    CONFIGS, st.dictionaries(KEYS, VALUES, max_size=3), st.sampled_from([None, 1, "\t"]), st.data()
)
def test_whatever_the_file_holds_only_the_entry_changes(
    config: dict[str, Any], servers: dict[str, Any], indent: Any, data: st.DataObject
) -> None:
    config["mcpServers"] = servers
    text = json.dumps(config, indent=indent)
    if data.draw(st.booleans()):  # comments and trailing commas wherever a line ends
        mark = data.draw(st.sampled_from([" // c", ' /* {" */', ""]))
        text = text.replace("\n", f"{mark}\n")
    there = change(text, PATH, ENTRY)
    assert read(there) == {**config, "mcpServers": {**servers, "roost": ENTRY}}
    assert change(there, PATH, ENTRY) == there
    gone = read(change(there, PATH, None))
    assert gone == {**config, "mcpServers": {k: v for k, v in servers.items() if k != "roost"}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a": 1,,\n}', 2),
        ("[]", 1),
        ("{'a': 1}", 1),
        ('{"a": "\n"}', 1),
        ("[" * 100_000, 1),
    ],
)
def test_a_broken_text_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Malformed) as refusal:
        change(text, PATH, ENTRY)
    assert refusal.value.line == line


def test_a_key_that_holds_no_object_is_refused_with_its_line() -> None:
    with pytest.raises(Malformed) as refusal:
        change('{\n"x": 1,\n"mcpServers": []\n}', PATH, ENTRY)
    assert refusal.value.line == 3
